// Package experiments embeds the declarations of the laboratory's own
// experiments, so that `mage run mage-001` works from the binary alone.
package experiments

import "embed"

// Specs holds NAMESPACE.toml for every built-in experiment.
//
//go:embed *.toml
var Specs embed.FS
