package cuda

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// LibraryPaths lists where a CUDA library may be, best first, for dlopen: the
// file that the environment variable override names (and then nothing else), the
// places where toolkits and the Python packages of NVIDIA put it, and the bare
// sonames, which the loader looks up itself. Only files that exist are listed.
//
// Searched are CUDA_HOME, CUDA_PATH and /usr/local/cuda (lib64 and CUPTI's
// extras), and site-packages of VIRTUAL_ENV and of MAGE_PYTHON or python3.
func LibraryPaths(override string, sonames ...string) []string {
	if path := os.Getenv(override); override != "" && path != "" {
		return []string{path}
	}
	var paths []string
	for _, dir := range libraryFolders() {
		for _, soname := range sonames {
			path := filepath.Join(dir, soname)
			if _, err := os.Stat(path); err == nil && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return append(paths, sonames...)
}

func libraryFolders() []string {
	var dirs []string
	for _, root := range []string{os.Getenv("CUDA_HOME"), os.Getenv("CUDA_PATH"), "/usr/local/cuda"} {
		if root != "" {
			dirs = append(dirs, filepath.Join(root, "extras/CUPTI/lib64"), filepath.Join(root, "lib64"), filepath.Join(root, "lib"))
		}
	}
	for _, prefix := range pythonPrefixes() {
		for _, packages := range []string{"site-packages", "dist-packages"} {
			// cu13 is CUDA 13's common folder; CUDA 12 had one per library.
			for _, inside := range []string{"nvidia/cu13/lib", "nvidia/*/lib"} {
				found, _ := filepath.Glob(filepath.Join(prefix, "lib", "python3*", packages, inside))
				dirs = append(dirs, found...)
			}
		}
	}
	return dirs
}

// pythonPrefixes guesses sys.prefix of the interpreter without starting it: an
// interpreter PREFIX/bin/python3, or the one it is a link to.
func pythonPrefixes() []string {
	var prefixes []string
	if env := os.Getenv("VIRTUAL_ENV"); env != "" {
		prefixes = append(prefixes, env)
	}
	python := os.Getenv("MAGE_PYTHON")
	if python == "" {
		python = "python3"
	}
	if path, err := exec.LookPath(python); err == nil {
		prefixes = append(prefixes, filepath.Dir(filepath.Dir(path)))
		if real, err := filepath.EvalSymlinks(path); err == nil {
			prefixes = append(prefixes, filepath.Dir(filepath.Dir(real)))
		}
	}
	return prefixes
}

// loadedPath is the file behind a loaded library that was named by its soname
// only, as the process's own memory map tells; the name itself if it does not.
func loadedPath(name string) string {
	if strings.ContainsRune(name, '/') {
		return name
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return name
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		line := lines.Text()
		if i := strings.IndexByte(line, '/'); i >= 0 && strings.HasPrefix(filepath.Base(line[i:]), name) {
			return line[i:]
		}
	}
	return name
}
