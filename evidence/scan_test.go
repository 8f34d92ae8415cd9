package evidence

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Every finite float64 survives writing and reading bit for bit.
func TestFloatsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SliceOfN(rapid.Uint64(), 1, 20).Draw(t, "bits")
		var want []float64
		for _, b := range bits {
			if f := math.Float64frombits(b); !math.IsNaN(f) && !math.IsInf(f, 0) {
				want = append(want, f)
			}
			want = append(want, float64(float32(b)), float64(b)/1000, float64(b%100000)/100)
		}
		s := &lineScanner{}
		got, end, err := s.floats(appendFloats(nil, want), 0)
		if err != nil || end == 0 || len(got) != len(want) {
			t.Fatal(err)
		}
		for i := range want {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("%v became %v", want[i], got[i])
			}
		}
	})
}

// FuzzNumber holds scanNumber to the grammar of JSON and the values of strconv.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "01", "1.", ".5", "1e5", "1E-5", "1e", "+1", "1e400", "-", "Infinity", "0x1p4", "1_0",
		"123456789012345678901234567890", "0.1234567890123456789", "9007199254740993", "1e22", "1e23", "1e-22", "4.9e-324", "1e-400", "-1e99999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, end, err := scanNumber([]byte(s), 0)
		whole := err == nil && end == len(s)
		valid := json.Valid([]byte(s)) && len(s) > 0 && (s[0] == '-' || s[0]-'0' < 10) && (s[len(s)-1]-'0' < 10)
		want, perr := strconv.ParseFloat(s, 64)
		if whole != (valid && perr == nil) {
			t.Fatalf("%q: valid is %v, got %v (%v, ends at %d)", s, valid, v, err, end)
		}
		if whole && math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf("%q: got %v, want %v", s, v, want)
		}
	})
}

// FuzzLine compares the line scanner with encoding/json: what it accepts,
// encoding/json accepts with the same content. It is the stricter of the two: a
// null is no sample, and the arrays have one spelling.
func FuzzLine(f *testing.F) {
	l := testRound(caseA, 1, 1, 3, "x")[0]
	good, _ := appendLine(nil, &l)
	f.Add(string(good[:len(good)-1]))
	l.ReplayUS = []float64{1, 2}
	good, _ = appendLine(nil, &l)
	f.Add(string(good[:len(good)-1]))
	for _, s := range []string{`{}`, `{"samples":[]}`, `{"samples":[1]}`, `{"samples":[1],"samples":[2]}`, `{"samples":[1,]}`, `{"samples":[1]} {}`,
		`{"samples":[1],}`, `{"samples" : [ 1 , 2 ] , "case":"\\"}`, `{"SAMPLES":[1]}`, `{"samples":{"samples":[1]}}`, `{"a":[{"b":"]"}],"samples":[1]}`, `[1]`, `{"a"}`,
		`{"samples":[1]"case":"x"}`, `{"sam\u0070les":[1]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, want Line
		err := (&lineScanner{words: map[string]string{}}).parse([]byte(s), &got)
		jerr := json.Unmarshal([]byte(s), &want)
		if err == nil && jerr != nil {
			t.Fatalf("%q is accepted, encoding/json says %v", s, jerr)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\n got %+v\nwant %+v", s, got, want)
		}
		if jerr != nil || len(want.Samples) == 0 {
			return
		}
		b, err := appendLine(nil, &want)
		if err != nil {
			t.Fatal(err)
		}
		var again Line
		if err := (&lineScanner{words: map[string]string{}}).parse(b[:len(b)-1], &again); err != nil {
			t.Fatalf("%q is refused: %v", b, err)
		}
	})
}
