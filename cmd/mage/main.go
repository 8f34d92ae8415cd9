// Command mage is a laboratory for GPU kernels: it checks, measures and compares
// implementations of the same computation, and keeps the evidence.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"mage/capture"
	"mage/internal/printable"
	"mage/report"
	"mage/report/profile"
)

// version and commit are set by the linker; a plain build leaves them as here.
var (
	version = "0.1.0-dev"
	commit  = ""
)

// Exit codes.
const (
	exitFailed      = 1 // a gate failed, a regression was found, an error
	exitUsage       = 2
	exitInterrupted = 130 // as a shell reports SIGINT
	exitPipe        = 141 // as a shell reports SIGPIPE: nobody reads what is printed
)

// commands is the whole command line.
type commands struct {
	Demo        demoCommand               `cmd:"" help:"Check and time every contract × implementation that this machine can run; seconds."`
	Run         runCommand                `cmd:"" help:"Run an experiment into a new record, or finish an incomplete one."`
	Bench       benchCommand              `cmd:"" help:"Compare implementations of one contract quickly."`
	Report      reportCommand             `cmd:"" help:"Print the tables of a record."`
	Compare     compareCommand            `cmd:"" help:"Compare two arms of a record, or two records; exit code 1 on a regression."`
	Explain     explainCommand            `cmd:"" help:"Set what kernels cost on the simulator side by side, and say why they differ; needs no GPU."`
	History     historyCommand            `cmd:"" help:"List what was profiled, show, plot, export or delete it."`
	Profile     profileCommand            `cmd:"" help:"Profile a Python script, kernel by kernel."`
	ProfileExec profileExecCommand        `cmd:"" help:"Profile any program, kernel by kernel: mage profile-exec -- PROGRAM ARGS."`
	ProfileArm  profileArmCommand         `cmd:"" hidden:"" help:"Perform operations of one arm, for a profiler around this process."`
	Import      importCommand             `cmd:"" help:"Bring evidence that the ancestor published into records of its own."`
	Doctor      doctorCommand             `cmd:"" help:"List what this machine offers and what it lacks."`
	Completion  kongcompletion.Completion `cmd:"" help:"Print shell code that turns on completion."`

	Version kong.VersionFlag `help:"Print the version."`
}

// session is what every command gets: where to write and when to stop.
type session struct {
	ctx    context.Context
	stdout io.Writer
	stderr io.Writer
}

// exitError ends the program with a code; its message, if any, is one line.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return e.message }

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var cli commands
	parser, err := kong.New(&cli,
		kong.Name("mage"),
		kong.Description("A laboratory for GPU kernels: which changes improve a real workload, and why?"),
		kong.Writers(stdout, stderr),
		kong.Vars{"version": version, "formats": strings.Join(report.Formats(), ", "),
			"tables": strings.Join(report.TableIDs(), ", "), "contracts": strings.Join(contractNames(), ", "),
			"criteria": strings.Join(capture.Criteria(), ", "), "columns": strings.Join(profile.Columns(), ", ")},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.UsageOnError())
	if err != nil {
		fmt.Fprintln(stderr, "mage:", err)
		return exitUsage
	}
	kongcompletion.Register(parser)
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(stderr, "mage:", err)
		return exitUsage
	}
	ctx, stop := untilSignal(stderr)
	defer stop()
	return exitCode(stderr, parsed.Run(&session{ctx, stdout, stderr}))
}

// untilSignal returns a context that the first signal to end cancels, so that the
// work ends cleanly; the second ends the process at once. A closed terminal is
// such a signal, unless nohup had it ignored.
func untilSignal(stderr io.Writer) (context.Context, context.CancelFunc) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// A pipe that nobody reads becomes an error of the write, so that temporary
	// directories are removed, and a run goes on without its progress lines.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	context.AfterFunc(ctx, func() {
		stop()
		if cause := context.Cause(ctx); cause != context.Canceled { // a signal, not the end
			clear := ""
			if _, ok := terminalWidth(stderr); ok {
				clear = "\r\x1b[K"
			}
			fmt.Fprintln(stderr, clear+"mage: ending after the current measurement; once more ends at once")
		}
	})
	return ctx, stop
}

// exitCode prints err as one line and chooses the exit code.
func exitCode(stderr io.Writer, err error) int {
	exit, coded := errors.AsType[*exitError](err)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "mage: interrupted")
		return exitInterrupted
	case errors.Is(err, syscall.EPIPE):
		return exitPipe
	case coded:
		if exit.message != "" {
			fmt.Fprintln(stderr, "mage:", line(exit.message))
		}
		return exit.code
	}
	fmt.Fprintln(stderr, "mage:", line(err.Error()))
	return exitFailed
}

// line is a message as one line that is safe to show: names of kernels, files and
// programs may be in it.
func line(message string) string {
	return printable.Line(strings.ReplaceAll(strings.TrimSpace(message), "\n", "; "))
}
