package doctor

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"strings"

	"mage/impl/python"
	"mage/unavailable"
)

// The script prints one marked line of JSON per stage as it completes, so that a
// hanging import hides neither the versions before it nor its own name.
//
//go:embed python.py
var pythonScript string

const pythonMark = "mage-doctor "

// pythonStage is one line of the script.
type pythonStage struct {
	Stage   string `json:"stage"`
	Version string `json:"version"`
	Path    string `json:"path"`
	Detail  string `json:"detail"`
	Error   string `json:"error"`
}

// interpreter is the Python that experiments use.
func interpreter() (string, error) {
	c, err := python.Choose("")
	if u, ok := unavailable.As(err); ok {
		return "", errors.New(u.Reason) // the finding has its own remedy
	}
	return c.Path, err
}

func pythonSubjects(ctx context.Context, report func(Finding)) {
	path, err := interpreter()
	if err != nil {
		report(Finding{Item: "Python", Reason: err.Error(), Remedy: "install Python 3, or set MAGE_PYTHON to its interpreter"})
		const reason = "there is no Python to import it in"
		for _, item := range pythonItems() {
			if item.name != "Python" {
				report(Finding{Item: item.name, Reason: reason, Remedy: item.remedy})
			}
		}
		return
	}
	text, err := output(ctx, nil, path, "-c", pythonScript)
	stages := pythonStages(text)
	for _, item := range pythonItems() {
		f := Finding{Item: item.name, Remedy: item.remedy}
		s, ok := stages[item.stage]
		switch {
		case !ok && err != nil:
			f.Reason = "Python did not get that far: " + err.Error()
		case !ok:
			f.Reason = "Python ended without saying"
		case s.Error != "":
			f.Reason = s.Error
		default:
			f = Finding{Item: item.name, Available: true, Version: s.Version, Path: s.Path, Detail: s.Detail}
		}
		if item.name == "Python" && f.Path == "" {
			f.Path = path
		}
		report(f)
	}
}

type pythonItem struct{ name, stage, remedy string }

func pythonItems() []pythonItem {
	return []pythonItem{
		{"Python", "python", "set MAGE_PYTHON to a working Python 3 interpreter"},
		{"torch", "torch", "pip install torch"},
		{"triton", "triton", "pip install triton"},
		{"torch on the GPU", "cuda", "install a torch build for CUDA and an NVIDIA driver that is new enough for it"},
	}
}

// pythonStages picks the marked lines out of whatever else imports print.
func pythonStages(text string) map[string]pythonStage {
	stages := make(map[string]pythonStage)
	for line := range strings.Lines(text) {
		_, object, ok := strings.Cut(line, pythonMark)
		if !ok {
			continue
		}
		s, err := parseStage(object)
		if err != nil {
			continue
		}
		stages[s.Stage] = s
	}
	return stages
}

func parseStage(object string) (pythonStage, error) {
	var s pythonStage
	if err := json.Unmarshal([]byte(strings.TrimSpace(object)), &s); err != nil {
		return s, err
	}
	if s.Stage == "" {
		return s, errors.New("no stage")
	}
	for _, text := range []*string{&s.Version, &s.Path, &s.Detail, &s.Error} {
		*text = printable(*text)
	}
	return s, nil
}
