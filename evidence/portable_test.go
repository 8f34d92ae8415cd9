package evidence

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPortableText(t *testing.T) {
	m := newMachine("/home/ada", "/home/ada/src/mage", "/tmp", "node17.cluster.example", "ada-l")
	for in, want := range map[string]string{
		"": "",
		"open /home/ada/src/mage/results/x: denied":                    "open ./results/x: denied",
		"open /home/ada/.mage/profiles.db: no":                         "open ~/.mage/profiles.db: no",
		"open /home/adam/x/y":                                          "open <path>/y",
		"/home/ada":                                                    "~",
		"in (/home/ada/src/mage), twice /home/ada/src":                 "in (.), twice ~/src",
		"libnvrtc: /usr/local/cuda/lib64/libnvrtc.so.13: cannot open":  "libnvrtc: <path>/libnvrtc.so.13: cannot open",
		"write /tmp/mage-1234/out.cu":                                  "write <tmp>/mage-1234/out.cu",
		"../home/ada/x and /a/home/ada/x and file:///home/ada/x":       "../home/ada/x and <path>/x and file://<path>/x",
		"file:///opt/data/x.bin":                                       "file://<path>/x.bin",
		"--include=/opt/cuda/include":                                  "--include=<path>/include",
		"/opt/a/b,/opt/c/d":                                            "<path>/b,<path>/d",
		"[/opt/a/b]\"/opt/c/d\"":                                       "[<path>/b]\"<path>/d\"",
		"on node17.cluster.example by ada-l@node17":                    "on <host> by <user>@<host>",
		"gelu/fp32/R=3,D=257/normal on cuda/first@driver":              "gelu/fp32/R=3,D=257/normal on cuda/first@driver",
		"4.17 TB/s, 1/2, and/or":                                       "4.17 TB/s, 1/2, and/or",
		"see https://docs.nvidia.com/cuda/index.html, /dev/nvidia0":    "see https://docs.nvidia.com/cuda/index.html, /dev/nvidia0",
		"read /proc/driver/nvidia/version":                             "read /proc/driver/nvidia/version",
		"exec: \"nvcc\": executable file not found in $PATH, node1701": "exec: \"nvcc\": executable file not found in $PATH, node1701",
	} {
		if got := m.text(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
		if again := m.text(m.text(in)); again != want {
			t.Errorf("%q changes when it is done twice: %q", in, again)
		}
		if left := m.find(m.text(in)); left != nil {
			t.Errorf("%q still holds %q", in, left)
		}
	}
	if got := newMachine("/", "/", "", "pc", "root").text("/x root pc /y"); got != "/x root pc /y" {
		t.Errorf("a machine without a home: %q", got)
	}
}

// Nothing of this machine is in the files of a run, whatever the errors said.
func TestNothingOfTheMachineIsWritten(t *testing.T) {
	home, _ := os.UserHomeDir()
	cwd, _ := os.Getwd()
	host, _ := os.Hostname()
	said := "open " + filepath.Join(home, "secret", "kernel.cu") + " in " + cwd + " on " + host + ": " + os.TempDir() + "/x/y"
	rec := testRecord()
	rec.Spec = Spec{Name: filepath.Join(cwd, "test.toml"), Text: "kernels = \"" + home + "/kernels\"\n"}
	rec.Entries[0].Error = said
	rec.Entries[0].Gates[0].Failure = said
	rec.Unavailable[0].Reason = said
	rec.Versions = map[string]string{"python": said}
	rec.Created = time.Now()
	root := t.TempDir()
	w, err := Create(root, "n", rec)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Entries[0].Error != said || rec.Entries[0].Gates[0].Failure != said {
		t.Error("the caller's record was changed")
	}
	err = errors.Join(w.Event(Event{What: "failed", Detail: said}), w.AppendRound(testRound(caseA, 1, 1, 2, said)),
		w.Finish(Incomplete, said), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(w.Dir(), "*"))
	for _, f := range files {
		data, _ := os.ReadFile(f)
		for _, secret := range []string{home, cwd, root, os.TempDir() + "/x"} {
			if strings.Contains(string(data), secret+"/") || strings.Contains(string(data), secret+" ") {
				t.Errorf("%s holds %s", filepath.Base(f), secret)
			}
		}
		if len(host) >= 4 && strings.Contains(string(data), " "+host+":") {
			t.Errorf("%s holds the host name", filepath.Base(f))
		}
	}
	run, err := Load(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if s := run.Record.Spec; s.Name != "test.toml" || !s.Redacted || warned(run, SpecHash) >= 0 || s.Text != "kernels = \"~/kernels\"\n" {
		t.Errorf("spec: %+v", s)
	}
}

func TestPathInAnIdentifierIsRefused(t *testing.T) {
	rec := testRecord()
	rec.Arms[1].Implementation = "exec//opt/me/prog"
	if _, err := Portable(rec); err != nil {
		t.Errorf("a name that only looks like a path: %v", err)
	}
	rec.Arms[1].Implementation = "/opt/me/prog"
	var p *PortabilityError
	if _, err := Portable(rec); !errors.As(err, &p) || p.Field != "arms[1].implementation" || p.Found[0] != "/opt/me/prog" {
		t.Errorf("%v", err)
	}
}

func TestPortableWritesListsNotNull(t *testing.T) {
	rec, err := Portable(Record{})
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := json.Marshal(rec); strings.Contains(string(data), "null") {
		t.Errorf("%s", data)
	}
}
