package capture

import (
	"cmp"
	"slices"
)

// Seen is what a running program has launched so far.
type Seen struct {
	Launches, Kernels int
	TotalUS           float64 // of the launches with a time
	Busiest           []Tally // at most busiestKept, by time, then by launches
}

// Tally is the launches of one kernel so far.
type Tally struct {
	Name     string
	Launches int
	Timed    int // of them; TotalUS is over those
	TotalUS  float64
}

const busiestKept = 20

// tally counts launches by kernel.
type tally struct {
	all      []Tally
	index    map[string]int
	launches int
	us       float64
}

func (t *tally) add(k *Kernel) {
	i, ok := t.index[k.Name]
	if !ok {
		if t.index == nil {
			t.index = map[string]int{}
		}
		i = len(t.all)
		t.index[k.Name] = i
		t.all = append(t.all, Tally{Name: k.Name})
	}
	t.launches++
	t.all[i].Launches++
	if k.DurationUS != nil {
		t.us += *k.DurationUS
		t.all[i].Timed++
		t.all[i].TotalUS += *k.DurationUS
	}
}

func (t *tally) busiest() Seen {
	order := func(a, b Tally) int {
		return cmp.Or(cmp.Compare(b.TotalUS, a.TotalUS), cmp.Compare(b.Launches, a.Launches), cmp.Compare(a.Name, b.Name))
	}
	// A sort of all would be felt where there are a million.
	var top []Tally
	for _, k := range t.all {
		if len(top) == busiestKept && order(top[busiestKept-1], k) <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, k, order)
		top = slices.Insert(top, at, k)
		top = top[:min(len(top), busiestKept)]
	}
	return Seen{Launches: t.launches, Kernels: len(t.all), TotalUS: t.us, Busiest: top}
}
