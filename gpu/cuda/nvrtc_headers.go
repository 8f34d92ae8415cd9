package cuda

import (
	"os"
	"path/filepath"
	"strings"
)

// headers are the folders of CUDA's own headers, such as cuda_fp16.h, which NVRTC does
// not bring: those that MAGE_CUDA_INCLUDE names (several: separated as in PATH), else
// the first that is found around the library, where toolkits and Python packages have
// them, or at the toolkit's usual places. None is no error: few kernels need them.
func headers(library string) []string {
	if named := os.Getenv("MAGE_CUDA_INCLUDE"); named != "" {
		return filepath.SplitList(named)
	}
	beside := filepath.Dir(library)
	for _, dir := range []string{
		filepath.Join(beside, "..", "include"),                       // a toolkit, nvidia/cu13
		filepath.Join(beside, "..", "..", "include"),                 // lib/x64
		filepath.Join(beside, "..", "..", "cuda_runtime", "include"), // nvidia/cuda_nvrtc/lib
		filepath.Join(os.Getenv("CUDA_HOME"), "include"),             // the rest is of other
		filepath.Join(os.Getenv("CUDA_PATH"), "include"),             // installations
		filepath.Join("/usr/local/cuda", "include"),
	} {
		if _, err := os.Stat(filepath.Join(dir, "cuda_fp16.h")); err != nil || !filepath.IsAbs(dir) {
			continue
		}
		dirs := []string{dir}
		if cccl := filepath.Join(dir, "cccl"); isDir(cccl) { // since CUDA 13
			dirs = append(dirs, cccl)
		}
		return dirs
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// withoutFolders takes the folders of headers out of a message: it may be retained, and
// they are this machine's.
func withoutFolders(text string, dirs []string) string {
	for _, d := range dirs {
		text = strings.ReplaceAll(text, strings.TrimSuffix(d, "/")+"/", "")
	}
	return text
}
