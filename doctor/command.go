package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"unicode"
)

// outputMost bounds what is kept of a program's output.
const outputMost = 64 << 10

// output runs a program and returns the first part of its standard output, or of
// its standard error if it wrote nothing else. Its whole process group is killed when ctx ends, so a child of
// the program that holds the pipes open delays nothing. A failure is described
// with the last line that the program wrote.
func output(ctx context.Context, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = grace / 2
	if env != nil {
		cmd.Env = append(cmd.Environ(), env...)
	}
	var stdout, stderr limitedBuffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	text := stdout.kept.String()
	if strings.TrimSpace(text) == "" {
		text = stderr.kept.String()
	}
	switch {
	case err == nil:
		return text, nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return text, errors.New("no answer before the deadline")
	case ctx.Err() != nil:
		return text, errors.New("the examination was stopped")
	}
	for _, said := range []string{stderr.kept.String(), text} {
		if line := lastLine(said); line != "" {
			return text, fmt.Errorf("%w: %s", err, line)
		}
	}
	return text, err
}

// limitedBuffer keeps the first outputMost bytes and swallows the rest.
type limitedBuffer struct{ kept bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), outputMost-b.kept.Len())])
	return len(p), nil
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return printable(lines[len(lines)-1])
}

// printable makes text of unknown origin fit to be shown: one line, no control
// characters, at most 200 of them.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}

var (
	saysVersion = regexp.MustCompile(`(?i)\b(?:version|release)[: ]+v?([0-9][0-9A-Za-z.+~-]*)`)
	looksLike   = regexp.MustCompile(`\b[0-9]+\.[0-9]+[0-9A-Za-z.+~-]*`)
)

// version finds the version number in what a program prints for --version: the
// one after the word, or else the last number with a point on the first line
// that has one ("cc (Debian 12.2.0-14) 12.2.0"). It is empty when there is none.
func version(text string) string {
	if m := saysVersion.FindStringSubmatch(text); m != nil {
		return strings.TrimRight(m[1], ".-")
	}
	for line := range strings.Lines(text) {
		if all := looksLike.FindAllString(line, -1); all != nil {
			return strings.TrimRight(all[len(all)-1], ".-")
		}
	}
	return ""
}

// program finds the first of the candidates that can be run and asks it for its
// version. A candidate is a name for PATH or an absolute path, which may be a
// pattern; the last match of a pattern, the newest release, is taken.
func program(ctx context.Context, item, remedy string, candidates ...string) Finding {
	path, onPath := find(candidates)
	if path == "" {
		return Finding{Item: item, Reason: strings.Join(names(candidates), ", ") + " not found on PATH", Remedy: remedy}
	}
	text, err := output(ctx, nil, path, "--version")
	if err != nil {
		return Finding{Item: item, Path: path, Reason: "running it with --version: " + err.Error(), Remedy: remedy}
	}
	f := Finding{Item: item, Available: true, Path: path, Version: version(text)}
	switch {
	case f.Version == "":
		f.Detail = "it does not say its version"
	case !onPath:
		f.Detail = "not on PATH"
	}
	return f
}
