package timing

import "testing"

func TestCalibrationFromRawReadings(t *testing.T) {
	repeat := func(us float64) []float64 {
		v := make([]float64, 15)
		for i := range v {
			v[i] = us
		}
		return v
	}
	r := RawCalibration{EventUS: []float64{5, 5.5, 6}, ClockUS: []float64{0, 0.03, 0.05, 0.04}, FlushBytes: 100, ReadBytes: 10, HotUS: repeat(1), ColdUS: repeat(3)}
	c := CalibrationFrom(r)
	if *c.EventOverheadUS != 5.5 || *c.EventResolutionUS != 0.5 || c.ClockResolutionUS != 0.03 || c.ClockOverheadUS != 0.035 || !c.FlushProved || c.ReadColdUS != 3 {
		t.Errorf("%+v", c)
	}
	r.ColdUS = repeat(1)
	if CalibrationFrom(r).FlushProved {
		t.Error("a flush that changes nothing is proved")
	}
	r.ColdUS = repeat(3)[:14]
	if c := CalibrationFrom(r); !c.FlushProved || c.ReadColdUS != 3 {
		t.Errorf("a hot reading without its cold one: %+v", c)
	}
	r.HotUS, r.ColdUS = nil, nil
	if CalibrationFrom(r).FlushProved {
		t.Error("a flush without readings is proved")
	}
}
