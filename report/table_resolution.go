package report

// resolutionTable says what each mode can tell from nothing, by the A/A controls:
// a row per device, mode and cache state.
func (r *Report) resolutionTable() Table {
	t := Table{ID: ResolutionTable, Title: "Resolution: the smallest difference that the A/A control tells from nothing",
		Columns: []Column{{Key: "device", Head: "device"}, {Key: "mode", Head: "mode"}, {Key: "cache", Head: "cache"},
			{Key: "low", Head: "best case", Align: Right}, {Key: "high", Head: "worst case", Align: Right},
			{Key: "controls", Head: "controls", Align: Right, Drop: 1},
			{Key: "false_positives", Head: "that differ", Align: Right}, {Key: "p", Head: "p of so many", Align: Right, Drop: 2}}}
	device := ""
	for _, x := range r.Header.Resolution {
		d := word(x.Device)
		if x.Device == device {
			d.Text = ""
		}
		t.Rows = append(t.Rows, Row{Rule: device != "" && x.Device != device, Cells: []Value{
			d, word(x.Mode), word(x.Cache), number(percent(x.Low), x.Low), number(percent(x.High), x.High),
			count(&x.Controls, ""), count(&x.FalsePositives, ""), number(pText(x.P), x.P)}})
		device = x.Device
	}
	return t
}
