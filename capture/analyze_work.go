package capture

import (
	"slices"

	"mage/roofline"
)

// Work is what ncu counted of the launches of a group, all together and in the time
// that it read itself, for [roofline.Place]. A counter that one of them lacks is
// unknown.
func Work(launches []*Kernel) roofline.Work {
	return roofline.FromCounters(counted(launches))
}

// Uncounted lists the counters of a roofline that a launch of the group lacks.
func Uncounted(launches []*Kernel) []string {
	return roofline.Lacking(counted(launches))
}

// counted are the counters of all launches, added up, and the names of those that the
// first one has.
func counted(launches []*Kernel) (get roofline.Get, names []string) {
	if len(launches) > 0 {
		for name := range launches[0].Counters {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	get = func(name string) (value float64, unit string, ok bool) {
		for i, k := range launches {
			c, has := k.Counters[name]
			if !has || i > 0 && c.Unit != unit {
				return 0, "", false
			}
			value, unit, ok = value+c.Value, c.Unit, true
		}
		return value, unit, ok
	}
	return get, names
}
