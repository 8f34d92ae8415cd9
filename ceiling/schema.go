package ceiling

import _ "embed"

//go:embed ceilings.schema.json
var schemaText []byte

// SchemaText returns the JSON Schema (draft 2020-12) of a file of ceilings.
func SchemaText() []byte { return schemaText }
