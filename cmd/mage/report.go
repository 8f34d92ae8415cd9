package main

type reportCommand struct {
	Record  string `arg:"" help:"A record's directory, or a namespace for its newest record."`
	Results string `help:"Where records are kept." default:"results" type:"path" placeholder:"DIR"`
	outputFlags
}

func (c *reportCommand) Run(s *session) error {
	dir, err := findRecord(c.Results, c.Record)
	if err != nil {
		return err
	}
	return c.print(s, dir)
}
