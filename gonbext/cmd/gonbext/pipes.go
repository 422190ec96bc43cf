package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

// pipes are a command's standard input and output where arrays go through them.
type pipes struct {
	in     *host.Stream // nil for none
	opened string       // the path that stands for the input: of the temporary file once there is one
	begun  bool         // a run reads the stream
	again  bool         // what runs now is not the last to read the input
	spools bool         // of a plan: the input goes to a temporary file first
	out    string       // "npy" or "bin" where the result goes to standard output
}

// errSpool is of a run that reads standard input in another way than a pipe can be read.
var errSpool = errors.New("standard input is read more than once, or in another order")

// throughPipe reports a path that is standard input or output: -, or -? and what raw elements are.
func throughPipe(path string) (query string, ok bool) {
	if path == "-" {
		return "", true
	}
	query, ok = strings.CutPrefix(path, "-?")
	return query, ok
}

// notPiped rejects standard input and output where files are needed.
func notPiped(where string, paths ...string) error {
	for _, path := range paths {
		if _, ok := throughPipe(path); ok {
			return usagef("%s: - is one array through a pipe, and here a file is needed; a file of that name is ./-", where)
		}
	}
	return nil
}

// files opens arrays that a command only plans with.
func files(c *cobra.Command) func(path string) (*oocore.Array, error) {
	return func(path string) (*oocore.Array, error) {
		return oocore.OpenContext(c.Context(), stacked(path)), notPiped(c.Name(), path)
	}
}

// open opens an array to compute with, which may come from standard input.
func (p *pipes) open(c *cobra.Command, path string) (*oocore.Array, error) {
	query, ok := throughPipe(path)
	if !ok {
		return oocore.OpenContext(c.Context(), stacked(path)), nil
	}
	if p.in == nil {
		if isatty.IsTerminal(os.Stdin.Fd()) {
			return nil, usagef("%s: standard input is a terminal: pipe an array in, as in curl URL | gonbext …", path)
		}
		widenPipe(os.Stdin)
		var err error
		if p.in, err = host.NewStream("standard input", interruptible{c.Context(), os.Stdin}, query); err != nil {
			return nil, err
		}
		p.opened = path
	}
	if p.opened != path {
		return oocore.OpenContext(c.Context(), p.opened), nil
	}
	return oocore.FromStore(p.in), nil
}

// close removes the temporary file of standard input.
func (p *pipes) close() {
	if p.in != nil {
		_ = p.in.Close() // an error leaves what the next run removes
	}
}

// inspect decides whether a run, or one that is only planned, can read standard input as it comes.
func (p *pipes) inspect(plan *host.Plan, planned bool) error {
	for i := range plan.Arrays {
		if a := &plan.Arrays[i]; a.Place == "file" && host.InProcess(a.Path) && (p.again || p.begun || !plan.Streams(i)) {
			if p.spools = true; planned {
				return nil
			}
			return errSpool
		}
	}
	p.begun = !planned
	return nil
}

// twice calls f, which opens arrays and computes, and calls it again with standard input in a temporary file where it has
// to be there more than once.
func (p *pipes) twice(ctx context.Context, f func() error) error {
	defer p.close()
	err := f()
	if errors.Is(err, errSpool) {
		if p.opened, err = p.in.Spool(ctx); err == nil {
			err = f()
		}
	}
	return err
}

// say is what a plan says of standard input; "" where there is none.
func (p *pipes) say() string {
	switch {
	case p.in == nil:
		return ""
	case p.spools:
		return fmt.Sprintf("standard input: its %d bytes are spooled to a temporary file on disk, in the folder of TMPDIR, before the run: they are read more than once, or in another order", p.in.Bytes())
	}
	return fmt.Sprintf("standard input: its %d bytes are read once, as they come", p.in.Bytes())
}

// output returns the path to save to, which is none where the result goes to standard output. All text goes to
// standard error then.
func (p *pipes) output(c *cobra.Command, path string) (string, error) {
	query, ok := throughPipe(path)
	if !ok {
		return path, nil
	}
	if isatty.IsTerminal(os.Stdout.Fd()) {
		return "", usagef("-o %s: standard output is a terminal, which shows no arrays: pipe it on, or name a file", path)
	}
	if p.out = "npy"; query != "" {
		p.out = "bin"
	}
	c.SetOut(c.ErrOrStderr())
	return "", nil
}

// agree rejects a path of standard output that says something else than what goes there.
func agree(path string, a *oocore.Array) error {
	query, ok := throughPipe(path)
	if !ok || path == "-" || a.Err() != nil {
		return nil
	}
	if err := host.CheckPiped(query, a.Shape(), a.DType()); err != nil {
		return usagef("-o %s: %w", path, err)
	}
	return nil
}

// write computes an array to standard output.
func (p *pipes) write(ctx context.Context, a *oocore.Array, opts []oocore.Option) error {
	widenPipe(os.Stdout)
	return a.WriteTo(ctx, &standardOutput, p.out, opts...)
}

// standardOutput notes that nobody reads it any more. The run ends with an error then, in its usual way, and the
// command in that of a broken pipe.
var standardOutput outputPipe

type outputPipe struct{ broken atomic.Bool }

func (o *outputPipe) Write(b []byte) (int, error) {
	n, err := os.Stdout.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		o.broken.Store(true)
	}
	return n, err
}

// interruptible is a file whose reads end with ctx.
type interruptible struct {
	ctx  context.Context
	file *os.File
}

func (r interruptible) Read(b []byte) (int, error) {
	if err := await(r.ctx, r.file); err != nil {
		return 0, err
	}
	return r.file.Read(b)
}

// definition is the beginning of one.
var definition = regexp.MustCompile(`^\s*\w+\s*=[^=]`)

// expressionFrom reads an expression from a file, or standard input as -. Lines that begin with # are comments, and one
// that begins with NAME = begins a definition.
func expressionFrom(c *cobra.Command, file string) (string, error) {
	from := c.InOrStdin()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil || len(text) > most {
		return "", errors.Join(err, fmt.Errorf("%s: an expression has at most %d bytes", file, most))
	}
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#")
	})
	for i, line := range lines {
		if i > 0 && definition.MatchString(line) {
			lines[i-1] = strings.TrimRight(lines[i-1], "; \t\r") + ";"
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "; \t\r\n"), nil
}
