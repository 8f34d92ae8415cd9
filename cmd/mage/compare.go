package main

type compareCommand struct {
	A         string  `arg:"" help:"A record (directory or namespace), or with --record an arm."`
	B         string  `arg:"" help:"The other one, which is judged against A."`
	Record    string  `help:"Compare two arms of this record." placeholder:"DIR"`
	Threshold float64 `help:"Relative slow-down that counts as a regression; the record's margin by default." placeholder:"FRACTION"`
	Results   string  `help:"Where records are kept." default:"results" type:"path" placeholder:"DIR"`
	outputFlags
}

func (c *compareCommand) Run(s *session) error { return nil }
