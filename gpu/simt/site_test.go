package simt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mage/contract"
	"mage/gpu/simt"
)

// TestSitesAddUp: what the instructions cost is, together, what the kernel cost,
// and does not depend on the number of cores.
func TestSitesAddUp(t *testing.T) {
	var last map[string][]simt.Site
	for _, workers := range []int{1, 3} {
		now := map[string][]simt.Site{}
		for _, sites := range []bool{false, true} {
			d, all := laboratory(t, simt.Options{Workers: workers, Sites: sites}, builtin(t))
			for _, i := range all {
				for _, c := range contract.All() {
					g := cases(t, c, "small")[0]
					op, err := i.Open(c, g.dims, g.inputs(t, 1))
					if err != nil {
						t.Fatal(err)
					}
					d.ResetCounters()
					if err := op.Run(); err != nil {
						t.Fatal(err)
					}
					if !sites {
						if n := len(d.Sites()); n > 0 {
							t.Errorf("%d sites that nobody asked for", n)
						}
						continue
					}
					now[i.Name()+c.Name()] = d.Sites()
					addUp(t, d.Counters(), d.Sites())
				}
			}
		}
		if last != nil {
			if diff := cmp.Diff(last, now); diff != "" {
				t.Error(diff)
			}
		}
		last = now
	}
}

func addUp(t *testing.T, c simt.Counters, sites []simt.Site) {
	t.Helper()
	var executed, lanes, divergent, requests, sectors, shared, wavefronts int64
	for _, s := range sites {
		executed += s.Executed
		lanes += s.Lanes
		divergent += s.Divergent
		requests += s.Global.Requests
		sectors += s.Global.Sectors
		shared += s.Shared.Requests
		wavefronts += s.Shared.Wavefronts
	}
	for _, x := range []struct {
		name      string
		sum, want int64
	}{
		{"instructions", executed, c.Instructions.Total()},
		{"lanes", lanes, c.Lanes},
		{"divergent branches", divergent, c.Divergent},
		{"requests", requests, c.GlobalLoads.Requests + c.GlobalStores.Requests + c.AsyncCopies.Requests},
		{"sectors", sectors, c.GlobalLoads.Sectors + c.GlobalStores.Sectors + c.AsyncCopies.Sectors},
		{"shared requests", shared, c.SharedLoads.Requests + c.SharedStores.Requests},
		{"wavefronts", wavefronts, c.SharedLoads.Wavefronts + c.SharedStores.Wavefronts},
	} {
		if x.sum != x.want {
			t.Errorf("%s: %d at all sites, %d counted", x.name, x.sum, x.want)
		}
	}
}
