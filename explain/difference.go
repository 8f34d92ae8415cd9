package explain

import (
	"fmt"
	"math"
	"strings"

	"mage/gpu/simt"
	"mage/gpu/verdict"
)

// differs reports whether two counts are further apart than what is called alike.
func differs(a, b int64) bool {
	return math.Abs(float64(b-a)) > alike*math.Max(float64(a), float64(b))
}

// differences are the comparisons of both arms, those of the work first. When no
// rule finds any, one says so.
func (e *Explanation) differences() []Remark {
	var all []Remark
	for _, rule := range []func(e *Explanation, a, b *simt.Counters) (name, text string){
		flops, globalTraffic, bytesTouched, sharedLoads, sharedWavefronts, instructions, barriers, atomics, divergence, launches,
	} {
		if name, text := rule(e, &e.A.Counters, &e.B.Counters); text != "" {
			all = append(all, Remark{Rule: name, Text: text})
		}
	}
	if len(all) == 0 {
		all = append(all, Remark{Rule: "alike", Text: fmt.Sprintf(
			"nothing that is counted differs by more than %s: if their times differ, look at latency, occupancy and the order of instructions", percent(alike))})
	}
	return all
}

func (e *Explanation) a() string { return e.A.Arm.Name }
func (e *Explanation) b() string { return e.B.Arm.Name }

func flops(e *Explanation, a, b *simt.Counters) (string, string) {
	if !differs(a.FLOPs(), b.FLOPs()) {
		return "operations", ""
	}
	return "operations", fmt.Sprintf("%s performs %s floating-point operations (%s, %s)", e.b(),
		times(float64(a.FLOPs()), float64(b.FLOPs()), "fewer", "more"), count(float64(b.FLOPs())), count(float64(a.FLOPs())))
}

// globalTraffic compares requests and the sectors that they move.
func globalTraffic(e *Explanation, a, b *simt.Counters) (string, string) {
	loads, stores := e.traffic(loadsOf(a), loadsOf(b)), e.traffic(a.GlobalStores, b.GlobalStores)
	switch {
	case loads != "" && loads == stores:
		return "global-traffic", e.b() + strings.ReplaceAll(loads, "§", "load and store")
	case loads != "" && stores != "":
		return "global-traffic", e.b() + strings.ReplaceAll(loads, "§", "load") + "; it" + strings.ReplaceAll(stores, "§", "store")
	case loads != "":
		return "global-traffic", e.b() + strings.ReplaceAll(loads, "§", "load")
	case stores != "":
		return "global-traffic", e.b() + strings.ReplaceAll(stores, "§", "store")
	}
	return "global-traffic", ""
}

// traffic says what B does, with "§" for loads or stores.
func (e *Explanation) traffic(a, b simt.Traffic) string {
	requests, sectors := differs(a.Requests, b.Requests), differs(a.Sectors, b.Sectors)
	fewer := times(float64(a.Requests), float64(b.Requests), "fewer", "more")
	switch {
	case !requests && !sectors:
		return ""
	case a.Requests == 0:
		return fmt.Sprintf(" has global § accesses (%s requests), %s none", count(float64(b.Requests)), e.a())
	case b.Requests == 0:
		return fmt.Sprintf(" has no global § accesses, %s %s requests", e.a(), count(float64(a.Requests)))
	case !sectors:
		return fmt.Sprintf(" issues %s global § requests, of %s bytes instead of %s; both move the same sectors", fewer,
			digits(ratio(b.Bytes, b.Requests)), digits(ratio(a.Bytes, a.Requests)))
	}
	text := fmt.Sprintf(" moves %s global § sectors (%s, %s)", times(float64(a.Sectors), float64(b.Sectors), "fewer", "more"),
		count(float64(b.Sectors)), count(float64(a.Sectors)))
	if requests {
		text += fmt.Sprintf(" in %s requests", fewer)
	} else {
		text += " in as many requests"
	}
	if p, q := ratio(a.Ideal, a.Sectors), ratio(b.Ideal, b.Sectors); math.Abs(p-q) > alike {
		text += fmt.Sprintf(", and needs %s of them, %s %s", percent(q), e.a(), percent(p))
	}
	return text
}

func bytesTouched(e *Explanation, a, b *simt.Counters) (string, string) {
	if !differs(a.BytesTouched(), b.BytesTouched()) {
		return "bytes-touched", ""
	}
	return "bytes-touched", fmt.Sprintf("%s touches %s distinct bytes of global memory (%s, %s)", e.b(),
		times(float64(a.BytesTouched()), float64(b.BytesTouched()), "fewer", "more"), size(float64(b.BytesTouched())), size(float64(a.BytesTouched())))
}

// sharedLoads compares by multiply-add, two operations, when both compute any.
func sharedLoads(e *Explanation, a, b *simt.Counters) (string, string) {
	x, y := a.SharedLoads.Requests, b.SharedLoads.Requests
	switch {
	case !differs(x, y):
		return "shared-loads", ""
	case x == 0:
		return "shared-loads", fmt.Sprintf("%s stages data in shared memory (%s loads), %s does not", e.b(), count(float64(y)), e.a())
	case y == 0:
		return "shared-loads", fmt.Sprintf("%s stages data in shared memory (%s loads), %s does not", e.a(), count(float64(x)), e.b())
	case a.FLOPs() == 0 || b.FLOPs() == 0:
		return "shared-loads", fmt.Sprintf("%s issues %s shared loads", e.b(), times(float64(x), float64(y), "fewer", "more"))
	}
	p, q := 64*ratio(x, a.FLOPs()), 64*ratio(y, b.FLOPs()) // a warp's multiply-add is 64 operations
	return "shared-loads", fmt.Sprintf("%s issues %s shared loads per multiply-add (%s, %s)", e.b(), times(p, q, "fewer", "more"), digits(q), digits(p))
}

func sharedWavefronts(e *Explanation, a, b *simt.Counters) (string, string) {
	x := a.SharedLoads.Wavefronts + a.SharedStores.Wavefronts
	y := b.SharedLoads.Wavefronts + b.SharedStores.Wavefronts
	if x == 0 || y == 0 || !differs(x, y) {
		return "shared-wavefronts", ""
	}
	p := a.SharedLoads.Conflicts() + a.SharedStores.Conflicts()
	q := b.SharedLoads.Conflicts() + b.SharedStores.Conflicts()
	return "shared-wavefronts", fmt.Sprintf("%s needs %s wavefronts of shared memory (%s, %s), of which conflicts cause %s, %s of %s's", e.b(),
		times(float64(x), float64(y), "fewer", "more"), count(float64(y)), count(float64(x)), percent(ratio(q, y)), percent(ratio(p, x)), e.a())
}

// instructions names the class that contributes most to the difference.
func instructions(e *Explanation, a, b *simt.Counters) (string, string) {
	x, y := a.Instructions.Total(), b.Instructions.Total()
	if !differs(x, y) {
		return "instructions", ""
	}
	text := fmt.Sprintf("%s executes %s warp instructions (%s, %s)", e.b(), times(float64(x), float64(y), "fewer", "more"), count(float64(y)), count(float64(x)))
	most, which := int64(0), verdict.Class(0)
	for c := range verdict.Classes {
		d := b.Instructions[c] - a.Instructions[c]
		if (d < 0) == (y < x) && max(d, -d) > max(most, -most) {
			most, which = d, verdict.Class(c)
		}
	}
	if share := ratio(most, y-x); share > 0.25 {
		text += fmt.Sprintf("; class %s makes up %s of the difference", which, percent(min(share, 1)))
	}
	return "instructions", text
}

func barriers(e *Explanation, a, b *simt.Counters) (string, string) {
	p, q := ratio(a.Barriers, a.Warps), ratio(b.Barriers, b.Warps)
	if math.Abs(p-q) <= alike*math.Max(p, q) {
		return "barriers", ""
	}
	return "barriers", fmt.Sprintf("a warp of %s passes %s barriers, one of %s %s", e.b(), digits(q), e.a(), digits(p))
}

func atomics(e *Explanation, a, b *simt.Counters) (string, string) {
	x, y := a.GlobalAtomics+a.SharedAtomics, b.GlobalAtomics+b.SharedAtomics
	if !differs(x, y) {
		return "atomics", ""
	}
	return "atomics", fmt.Sprintf("%s issues %s atomics, %s %s", e.b(), count(float64(y)), e.a(), count(float64(x)))
}

func divergence(e *Explanation, a, b *simt.Counters) (string, string) {
	p, q := a.ActiveLanes(), b.ActiveLanes()
	if math.Abs(p-q) <= alike {
		return "active-lanes", ""
	}
	return "active-lanes", fmt.Sprintf("of 32 lanes %s has %s active on average, %s %s", e.b(), digits(32*q), e.a(), digits(32*p))
}

func launches(e *Explanation, a, b *simt.Counters) (string, string) {
	if a.Launches == b.Launches {
		return "launches", ""
	}
	return "launches", fmt.Sprintf("%s launches %d kernels, %s %d", e.b(), b.Launches, e.a(), a.Launches)
}
