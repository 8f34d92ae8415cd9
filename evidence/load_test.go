package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkLoad(b *testing.B) {
	const total = 1_000_000
	for _, samples := range []int{20, 100, 1000} {
		b.Run(fmt.Sprintf("samples=%d", samples), func(b *testing.B) {
			w := newRun(b, 0)
			w.Close()
			var data []byte
			lines, n := 0, 0
			for round := 1; n < total; round++ {
				ls := testRound(caseA, round, 1, samples)
				for i := range ls {
					ls[i].Session, ls[i].Part, ls[i].Of = 1, i+1, len(ls)
					data, _ = appendLine(data, &ls[i])
				}
				lines += len(ls)
				n += len(ls) * samples
			}
			if err := os.WriteFile(filepath.Join(w.Dir(), SamplesFile), data, 0o644); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				run, err := Load(w.Dir())
				if err != nil || len(run.Lines) != lines {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
