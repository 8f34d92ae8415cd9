package explain

import (
	"strings"
	"testing"

	"mage/gpu/simt"
	"mage/gpu/verdict"
)

// of makes an explanation of counters alone.
func of(a, b simt.Counters) *Explanation {
	return &Explanation{
		A: &Profile{Arm: Arm{Name: "a"}, Counters: a},
		B: &Profile{Arm: Arm{Name: "b"}, Counters: b},
	}
}

// TestDifferences: each rule speaks of what differs, and of nothing else.
func TestDifferences(t *testing.T) {
	traffic := func(requests, sectors, ideal int64) simt.Traffic {
		return simt.Traffic{Requests: requests, Sectors: sectors, Ideal: ideal, Bytes: 128 * requests}
	}
	integers := func(n int64) (c verdict.ClassCounts) { c[verdict.Integer] = n; return c }
	for _, k := range []struct {
		a, b simt.Counters
		want string // rule: text
	}{
		{simt.Counters{}, simt.Counters{}, "alike: nothing that is counted differs by more than 5 %"},
		{simt.Counters{FLOPs32: 100}, simt.Counters{FLOPs32: 105}, "alike: "},
		{simt.Counters{FLOPs32: 100}, simt.Counters{FLOPs32: 106}, "operations: b performs 6 % more floating-point operations (106, 100)"},
		{simt.Counters{FLOPs32: 300}, simt.Counters{FLOPs16: 100}, "operations: b performs 3× fewer"},
		{simt.Counters{BytesRead: 100}, simt.Counters{BytesWritten: 200}, "bytes-touched: b touches 2× more distinct bytes of global memory (200 B, 100 B)"},
		{simt.Counters{GlobalLoads: traffic(40, 40, 40)}, simt.Counters{GlobalLoads: traffic(10, 40, 40)}, "global-traffic: b issues 4× fewer global load requests, of 128 bytes instead of 128; both move the same sectors"},
		{simt.Counters{GlobalStores: traffic(40, 1280, 160)}, simt.Counters{GlobalStores: traffic(40, 160, 160)},
			"global-traffic: b moves 8× fewer global store sectors (160, 1280) in as many requests, and needs 100 % of them, a 12 %"},
		{simt.Counters{GlobalLoads: traffic(40, 40, 40)}, simt.Counters{AsyncCopies: traffic(40, 40, 40)}, "alike: "},
		{simt.Counters{GlobalLoads: traffic(1, 4, 4)}, simt.Counters{}, "global-traffic: b has no global load accesses, a 1 requests"},
		{simt.Counters{SharedLoads: simt.Banks{Requests: 4, Wavefronts: 4, Ideal: 4}}, simt.Counters{}, "shared-loads: a stages data in shared memory (4 loads), b does not"},
		{simt.Counters{SharedLoads: simt.Banks{Requests: 4, Wavefronts: 8, Ideal: 4}}, simt.Counters{SharedLoads: simt.Banks{Requests: 4, Wavefronts: 4, Ideal: 4}},
			"shared-wavefronts: b needs 2× fewer wavefronts of shared memory (4, 8), of which conflicts cause 0 %, 50 % of a's"},
		{simt.Counters{Warps: 2, Barriers: 8}, simt.Counters{Warps: 4, Barriers: 8}, "barriers: a warp of b passes 2 barriers, one of a 4"},
		{simt.Counters{GlobalAtomics: 3}, simt.Counters{SharedAtomics: 7}, "atomics: b issues 7 atomics, a 3"},
		{simt.Counters{Launches: 1}, simt.Counters{Launches: 2}, "launches: b launches 2 kernels, a 1"},
		{simt.Counters{Instructions: integers(10), Lanes: 320}, simt.Counters{Instructions: integers(10), Lanes: 160}, "active-lanes: of 32 lanes b has 16 active on average, a 32"},
		{simt.Counters{Instructions: integers(10), Lanes: 320}, simt.Counters{Instructions: integers(30), Lanes: 960}, "instructions: b executes 3× more warp instructions (30, 10); class integer makes up 100 % of the difference"},
	} {
		got := of(k.a, k.b).differences()
		if len(got) != 1 || !strings.HasPrefix(got[0].Rule+": "+got[0].Text, k.want) {
			t.Errorf("want %q, got %+v", k.want, got)
		}
	}
}

// TestThresholds: a remark about one arm begins beyond its threshold.
func TestThresholds(t *testing.T) {
	classes := verdict.ClassCounts{}
	classes[verdict.Integer] = 100
	for _, k := range []struct {
		rule    string
		at, far simt.Counters
	}{
		{"wasted-sectors", simt.Counters{GlobalLoads: simt.Traffic{Sectors: 100, Ideal: 75}}, simt.Counters{GlobalLoads: simt.Traffic{Sectors: 100, Ideal: 74}}},
		{"wasted-sectors", simt.Counters{GlobalStores: simt.Traffic{Sectors: 100, Ideal: 75}}, simt.Counters{GlobalStores: simt.Traffic{Sectors: 100, Ideal: 74}}},
		{"bank-conflicts", simt.Counters{SharedLoads: simt.Banks{Wavefronts: 100, Ideal: 90}}, simt.Counters{SharedStores: simt.Banks{Wavefronts: 100, Ideal: 89}}},
		{"idle-lanes", simt.Counters{Instructions: classes, Lanes: 2400}, simt.Counters{Instructions: classes, Lanes: 2399}},
		{"read-again", simt.Counters{BytesRead: 32, GlobalLoads: simt.Traffic{Sectors: 2, Ideal: 2}}, simt.Counters{BytesRead: 31, GlobalLoads: simt.Traffic{Sectors: 2, Ideal: 2}}},
		{"local-memory", simt.Counters{}, simt.Counters{LocalLoads: simt.Traffic{Requests: 1}}},
	} {
		if r := (&Profile{Counters: k.at}).remarks(nil); len(r) > 0 {
			t.Errorf("%s: at the threshold: %+v", k.rule, r)
		}
		if r := (&Profile{Counters: k.far}).remarks(nil); len(r) != 1 || r[0].Rule != k.rule {
			t.Errorf("%s: beyond the threshold: %+v", k.rule, r)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, k := range []struct{ got, want string }{
		{count(0), "0"}, {count(9999), "9999"}, {count(12345), "12.3 k"}, {count(1.5e6), "1.50 M"},
		{digits(4), "4"}, {digits(3.14159), "3.14"}, {digits(31.4159), "31.4"}, {digits(0.0625), "0.062"},
		{percent(0), "0 %"}, {percent(0.004), "< 1 %"}, {percent(0.999), "> 99 %"}, {percent(1), "100 %"}, {percent(0.5), "50 %"},
		{times(4, 1, "fewer", "more"), "4× fewer"}, {times(100, 103, "fewer", "more"), "3 % more"}, {times(100, 80, "fewer", "more"), "20 % fewer"},
		{times(10, 39, "fewer", "more"), "3.9× more"}, {times(1, 33, "fewer", "more"), "33× more"},
	} {
		if k.got != k.want {
			t.Errorf("%q, want %q", k.got, k.want)
		}
	}
}
