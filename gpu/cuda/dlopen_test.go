package cuda

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/ebitengine/purego"
)

// Many failing loads at once, each on a goroutine that is free to move, must all
// say why they failed.
func TestDlopenAlwaysSaysWhy(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				_, err := Dlopen("libnosuchlibrary.so", purego.RTLD_NOW)
				if err == nil || !strings.Contains(err.Error(), "libnosuchlibrary") {
					t.Errorf("error %v", err)
					return
				}
				runtime.Gosched()
			}
		})
	}
	all.Wait()
}
