package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

const nvptxTarget = "nvptx64-nvidia-cuda"

// rustEnv keeps a rustup proxy from downloading a toolchain when asked for its
// version in a folder that pins one.
func rustEnv() []string { return []string{"RUSTUP_AUTO_INSTALL=0"} }

func rust(ctx context.Context, report func(Finding)) {
	const remedy = "install Rust (https://rustup.rs) and put rustc on PATH"
	path, _ := find([]string{"rustc", filepath.Join(cargoHome(), "bin", "rustc")})
	reason := "rustc not found on PATH"
	if path != "" {
		text, err := output(ctx, rustEnv(), path, "--version")
		if err == nil {
			report(Finding{Item: "rustc", Available: true, Version: version(text), Path: path})
			report(rustTarget(ctx, path))
			report(rustSource(ctx, path))
			return
		}
		reason = "running it with --version: " + err.Error()
	}
	report(Finding{Item: "rustc", Path: path, Reason: reason, Remedy: remedy})
	report(Finding{Item: nvptxTarget, Reason: "there is no working rustc", Remedy: remedy})
	report(Finding{Item: "rust-src", Reason: "there is no working rustc", Remedy: remedy})
}

// rustTarget says whether the compiler knows the target of NVIDIA GPUs and has a
// core library for it.
func rustTarget(ctx context.Context, rustc string) Finding {
	f := Finding{Item: nvptxTarget, Remedy: "rustup target add " + nvptxTarget + ", or build core from rust-src"}
	text, err := output(ctx, rustEnv(), rustc, "--print", "target-libdir", "--target", nvptxTarget)
	if err != nil {
		f.Reason = "rustc: " + err.Error()
		return f
	}
	if entries, err := filepath.Glob(filepath.Join(lastLine(text), "libcore-*.rlib")); err != nil || len(entries) == 0 {
		f.Reason = "the target's core library is not installed"
		return f
	}
	return Finding{Item: nvptxTarget, Available: true, Path: lastLine(text)}
}

// rustSource says whether the library sources are there, from which core is
// built for a target or with another code generator.
func rustSource(ctx context.Context, rustc string) Finding {
	f := Finding{Item: "rust-src", Remedy: "rustup component add rust-src"}
	text, err := output(ctx, rustEnv(), rustc, "--print", "sysroot")
	if err != nil {
		f.Reason = "rustc: " + err.Error()
		return f
	}
	path := filepath.Join(lastLine(text), "lib", "rustlib", "src", "rust", "library")
	if info, err := os.Stat(filepath.Join(path, "core")); err != nil || !info.IsDir() {
		f.Reason = "the library sources are not installed"
		return f
	}
	return Finding{Item: f.Item, Available: true, Path: path}
}

func oxide(ctx context.Context, report func(Finding)) {
	const item = "cargo oxide"
	path, _ := find([]string{"cargo-oxide", filepath.Join(cargoHome(), "bin", "cargo-oxide")})
	if path == "" {
		report(Finding{Item: item, Reason: "cargo-oxide not found on PATH", Remedy: "install cuda-oxide's cargo-oxide with cargo"})
		return
	}
	// A cargo subcommand is called with its own name first.
	text, err := output(ctx, rustEnv(), path, "oxide", "--version")
	f := Finding{Item: item, Available: true, Path: path, Version: version(text)}
	if err != nil || f.Version == "" {
		f.Version, f.Detail = "", "it does not say its version"
		if err != nil && strings.Contains(err.Error(), "deadline") {
			f = Finding{Item: item, Path: path, Reason: err.Error()}
		}
	}
	report(f)
}

// cargoHome is where cargo installs programs.
func cargoHome() string {
	if dir := os.Getenv("CARGO_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".cargo")
}
