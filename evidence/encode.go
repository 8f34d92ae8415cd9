package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// appendLine appends l as one line of JSON. The few fields around the samples
// go through encoding/json; the samples, which are nearly all of the bytes, are
// appended in place with the shortest digits that read back as the same float64.
func appendLine(b []byte, l *Line) ([]byte, error) {
	if err := finite("samples", l.Samples); err != nil {
		return b, err
	}
	if err := finite("replay_us", l.ReplayUS); err != nil {
		return b, err
	}
	head := *l
	head.Samples, head.ReplayUS = nil, nil
	text, err := json.Marshal(&head)
	if err != nil {
		return b, &ValueError{Field: "device state", Problem: "cannot be written: " + err.Error()}
	}
	text, ok := bytes.CutSuffix(text, []byte(`"samples":null}`))
	if !ok {
		return b, fmt.Errorf("encode a line: samples is not its last field")
	}
	b = append(b, text...)
	if len(l.ReplayUS) > 0 {
		b = append(b, `"replay_us":`...)
		b = append(appendFloats(b, l.ReplayUS), ',')
	}
	b = append(b, `"samples":`...)
	b = appendFloats(b, l.Samples)
	return append(b, '}', '\n'), nil
}

func appendFloats(b []byte, values []float64) []byte {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, v, 'g', -1, 64)
	}
	return append(b, ']')
}

func finite(field string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return &ValueError{Field: fmt.Sprintf("%s[%d]", field, i), Problem: fmt.Sprintf("is %v: a sample is a finite number", v)}
		}
	}
	return nil
}
