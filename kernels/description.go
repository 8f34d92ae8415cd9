package kernels

// description is kernel.toml as written. Its fields are the whole format: any
// other key is an error. Expressions are strings here and compiled by check.
type description struct {
	Implementation string         `toml:"implementation"`
	Contract       string         `toml:"contract"`
	Precision      []string       `toml:"precision"`
	Source         string         `toml:"source"`
	Hypothesis     string         `toml:"hypothesis"`
	Constraints    []string       `toml:"constraints"`
	Tunable        []tunableEntry `toml:"tunable"`
	Need           []needEntry    `toml:"need"`
	Scratch        []scratchEntry `toml:"scratch"`
	Launch         []launchEntry  `toml:"launch"`
}

// tunableEntry is one [[tunable]].
type tunableEntry struct {
	Name    string `toml:"name"`
	Values  []int  `toml:"values"`
	Default *int   `toml:"default"`
}

// needEntry is one [[need]]: a condition on the shape and what fails without it.
type needEntry struct {
	That    string `toml:"that"`
	Because string `toml:"because"`
}

// scratchEntry is one [[scratch]]: a device buffer that lives between launches.
type scratchEntry struct {
	Name  string `toml:"name"`
	Bytes string `toml:"bytes"`
}

// launchEntry is one [[launch]].
type launchEntry struct {
	Entry  string       `toml:"entry"`
	Zero   []string     `toml:"zero"`
	Params []paramEntry `toml:"params"`
	Grid   []string     `toml:"grid"`
	Block  []string     `toml:"block"`
	Shared string       `toml:"shared"`
}

// paramEntry is a buffer, or a named scalar with a type and a value.
type paramEntry struct {
	Buffer string `toml:"buffer"`
	Name   string `toml:"name"`
	Type   string `toml:"type"`
	Value  string `toml:"value"`
}
