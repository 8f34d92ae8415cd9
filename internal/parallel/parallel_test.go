package parallel

import (
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestForVisitsEveryIndexOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5000).Draw(t, "n")
		grain := rapid.IntRange(0, 700).Draw(t, "grain")
		seen := make([]int, n)
		var mu sync.Mutex
		For(n, grain, func(lo, hi int) {
			if hi-lo > max(grain, 1) || lo >= hi {
				t.Errorf("piece [%d,%d) with grain %d", lo, hi, grain)
			}
			mu.Lock()
			defer mu.Unlock()
			for i := lo; i < hi; i++ {
				seen[i]++
			}
		})
		for i, c := range seen {
			if c != 1 {
				t.Fatalf("index %d visited %d times", i, c)
			}
		}
	})
}
