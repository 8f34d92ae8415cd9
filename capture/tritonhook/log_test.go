package tritonhook

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	start, launch, end := `{"type":"start","format":1,"pid":7}`+"\n", `{"type":"launch","name":"k","grid":[1,2,3],"us":1.5}`+"\n", `{"type":"end","launches":1,"opened":true}`+"\n"
	l, err := read(strings.NewReader(start + launch + end))
	if err != nil || !l.ended || !l.opened || l.process != 7 || len(l.launches) != 1 || *l.launches[0].US != 1.5 {
		t.Errorf("%+v, %v", l, err)
	}
	for n := len(start); n < len(start+launch+end); n++ {
		if l, err := read(strings.NewReader((start + launch + end)[:n])); err != nil || l.ended || judge([]*log{l}, "") == nil {
			t.Errorf("cut at %d: %+v, %v", n, l, err)
		}
	}
	for text, want := range map[string]string{
		"":                                   "no whole line",
		"nothing\n":                          "line 1: invalid character",
		launch:                               "the first line",
		start + start:                        "the first line",
		start + end:                          "there are 0 launches, and the end counts 1",
		start + launch + end + launch:        "follows the end",
		start + `{"type":"else"}` + "\n":     `type "else"`,
		`{"type":"start","format":2}` + "\n": "another version",
		start + `{"type":"launch","us":"x"}` + "\n": "cannot unmarshal",
	} {
		if _, err := read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}
