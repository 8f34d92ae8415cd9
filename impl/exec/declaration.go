package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mage/contract"

	"github.com/BurntSushi/toml"
)

// DeclarationName is the file that declares a program, in a directory of its own.
const DeclarationName = "exec.toml"

// Declaration is exec.toml: a program, how it is built, and what it computes.
type Declaration struct {
	// Name without the family: "rust-host" is the implementation exec/rust-host.
	Name string `toml:"name"`
	// Program is the executable: a path relative to the directory, or a name
	// without a slash that is found on PATH. A cargo-oxide project may leave it
	// out when it has one binary only.
	Program string `toml:"program"`
	// Build is the command that makes the program, an argument array that is run
	// in the directory; empty when there is nothing to build.
	Build []string `toml:"build"`
	// Oxide says that the directory is a project for `cargo oxide build`.
	Oxide      bool                 `toml:"oxide"`
	Contracts  []string             `toml:"contracts"`
	Precision  []contract.Precision `toml:"precision"`
	Hypothesis string               `toml:"hypothesis"`

	// Dir holds the declaration.
	Dir string `toml:"-"`
}

var declaredName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// Load reads every declaration below the directories, in lexical order within
// each; names that start with a dot are passed over, and target, where cargo
// builds. The error joins every fault found; two declarations of one name are one.
func Load(dirs ...string) ([]Declaration, error) {
	var all []Declaration
	var errs []error
	for _, root := range dirs {
		found := 0
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "target"):
				return fs.SkipDir
			case entry.IsDir() || entry.Name() != DeclarationName:
				return nil
			}
			found++
			d, err := read(path)
			if err == nil {
				if i := slices.IndexFunc(all, func(o Declaration) bool { return o.Name == d.Name }); i >= 0 {
					err = fmt.Errorf("%s: %q is already declared in %s", path, d.Name, all[i].Dir)
				}
			}
			if err != nil {
				errs = append(errs, err)
				return nil
			}
			all = append(all, d)
			return nil
		})
		switch {
		case err != nil:
			errs = append(errs, err)
		case found == 0:
			errs = append(errs, fmt.Errorf("no program in %s: no directory there has an %s", root, DeclarationName))
		}
	}
	return all, errors.Join(errs...)
}

func read(path string) (Declaration, error) {
	d := Declaration{Dir: filepath.Dir(path)}
	text, err := os.ReadFile(path)
	if err != nil {
		return d, err
	}
	meta, err := toml.Decode(string(text), &d)
	if err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			return d, fmt.Errorf("%s:%d: %s", path, max(p.Position.Line, 1), p.Message)
		}
		return d, fmt.Errorf("%s: %w", path, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return d, fmt.Errorf("%s: unknown key %q (name, program, build, oxide, contracts, precision, hypothesis)", path, unknown[0])
	}
	if err := d.check(); err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func (d *Declaration) check() error {
	switch {
	case !declaredName.MatchString(d.Name):
		return fmt.Errorf("name = %q: want small letters, digits, dots and dashes", d.Name)
	case d.Program == "" && !d.Oxide:
		return errors.New("program is missing: the executable, relative to this directory")
	case d.Oxide && len(d.Build) > 0:
		return errors.New("build and oxide exclude each other: oxide builds with cargo oxide build")
	case len(d.Build) > 0 && d.Build[0] == "":
		return errors.New("build starts with an empty string: want a command and its arguments")
	case len(d.Contracts) == 0:
		return errors.New(`contracts is missing, such as ["gelu"]`)
	}
	if len(d.Precision) == 0 {
		d.Precision = []contract.Precision{contract.FP32}
	}
	for _, name := range d.Contracts {
		for _, p := range d.Precision {
			if _, err := contract.Find(name, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// computes reports whether the program is declared for a contract.
func (d *Declaration) computes(c contract.Contract) bool {
	return slices.Contains(d.Contracts, c.Name()) && slices.Contains(d.Precision, c.Precision())
}
