package capturetest

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

//go:embed standins
var programs embed.FS

// Install writes the stand-ins nsys, ncu and compute-sanitizer into dir, which a
// test puts on PATH. They run the target and behave as MAGE_STANDIN says:
//
//	""            profile, and leave the report in MAGE_STANDIN_REPORT (copied)
//	"empty"       see no kernel, leave no report
//	"permission"  may not read counters
//	"export"      fail in the export
//	"killed"      die by a signal in the middle
//	"hang"        never end, with a child that does not either
//
// MAGE_STANDIN_PIDS names a file that takes the numbers of a hanging stand-in's
// processes.
func Install(t testing.TB, dir string) {
	t.Helper()
	for _, name := range []string{"nsys", "ncu", "compute-sanitizer"} {
		text, err := fs.ReadFile(programs, "standins/"+name+".sh")
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
