package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// piped is a call with standard input, whose temporary files go to a folder of its own.
func piped(dir string, input []byte, args ...string) *exec.Cmd {
	c := command(dir, args...)
	_ = os.MkdirAll(filepath.Join(dir, "tmp"), 0o755)
	c.Env = append(c.Env, "TMPDIR="+filepath.Join(dir, "tmp"))
	c.Stdin = bytes.NewReader(input)
	return c
}

// noTemporary holds the folder of temporary files of piped calls to be empty.
func noTemporary(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// What comes through pipes is what comes of files, whether it is streamed or spooled, and nothing but the array goes to
// standard output.
func TestPipesGiveWhatFilesGive(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(300, 70)", 21000)
	npy := testcases.ReadFile(t, filepath.Join(dir, "x.npy"))
	raw := npy[len(npy)-4*21000:]
	for _, c := range []struct {
		expression string
		spooled    bool
	}{
		{"x*2", false}, {"sum(x, 0)", false}, {"std(x, 1)", false}, {`astype(x, "float16")`, false}, {"reshape(x, 70, 300) + 1", false},
		{"x - mean(x, 0)", true}, {"transpose(x)", true}, {`slice(x, "::-1")`, true}, {`slice(x, "1:3")`, true}, {"sort(x, 0)", true},
		{"mask(x, x > 3)", true}, {"x / norm(x)", true}, {"matmul(x, transpose(x))", true},
	} {
		succeed(t, dir, "compute", c.expression, "x=x.npy", "-o", "want.npy", "--fresh")
		data := testcases.ReadFile(t, filepath.Join(dir, "want.npy"))
		for kind, args := range map[string][]string{"npy": {"x=-"}, "raw": {"x=-?shape=300x70&dtype=float32"}} {
			input := map[string][]byte{"npy": npy, "raw": raw}[kind]
			var plan struct{ Stdin stdinFigures }
			if c.expression != "mask(x, x > 3)" {
				o := finish(t, piped(dir, input, append([]string{"compute", c.expression, "-o", "plan.npy", "--plan", "--json"}, args...)...))
				if json.Unmarshal([]byte(o.stdout), &plan) != nil || plan.Stdin != (stdinFigures{84000, c.spooled}) {
					t.Errorf("%s of %s is planned as %+v: %s%s", c.expression, kind, plan.Stdin, o.stdout, o.stderr)
				}
			}
			o := finish(t, piped(dir, input, append([]string{"compute", c.expression, "-o", "-", "--json"}, args...)...))
			if o.status != 0 || !bytes.Equal([]byte(o.stdout)[len(o.stdout)-len(data)+128:], data[128:]) || !json.Valid([]byte(o.stderr)) {
				t.Errorf("%s of %s to a pipe: status %d, %d bytes, want %d: %s", c.expression, kind, o.status, len(o.stdout), len(data), o.stderr)
			}
			o = finish(t, piped(dir, input, append([]string{"compute", c.expression, "-o", "got.npy", "--fresh"}, args...)...))
			if o.status != 0 || !bytes.Equal(testcases.ReadFile(t, filepath.Join(dir, "got.npy")), data) {
				t.Errorf("%s of %s to a file: %+v", c.expression, kind, o)
			}
		}
	}
	noTemporary(t, dir)
	if o := finish(t, piped(dir, npy, "compute", "x - mean(x, 0)", "x=-", "-o", "p.npy", "--plan")); !strings.Contains(o.stdout, "84000 bytes are spooled to a temporary file") {
		t.Errorf("the plan says %s", o.stdout)
	}
	var o outcome
	for _, args := range [][]string{{"convert", "-", "c.zarr"}, {"compute", "m = mean(x); c = x - m", "x=-", "-o", "c=d.npy"}, {"compute", "x + y", "x=-", "y=x.npy", "-o", "y.npy"},
		{"compute", `tucker(reshape(x, 30, 10, 70), 2, 2, 2, "core")`, "x=-", "-o", "core.npy"}, {"compute", "x", "x=-", "-o", "p.npy", "--processes", "2"}} {
		if o = finish(t, piped(dir, npy, args...)); o.status != 0 || o.stderr != "" {
			t.Errorf("%v: %+v", args, o)
		}
	}
	for _, args := range [][]string{{"convert", "c.zarr", "-"}, {"convert", "x.npy", "-"}, {"convert", "p.npy", "--", "-?shape=300x70&dtype=float32"}} {
		if o = finish(t, piped(dir, nil, args...)); o.status != 0 || !strings.HasSuffix(o.stdout, string(raw)) {
			t.Errorf("%v: status %d, %d bytes: %s", args, o.status, len(o.stdout), o.stderr)
		}
	}
	if o = finish(t, piped(dir, npy, "info", "-")); o.status != 0 || !strings.Contains(o.stdout, "300 × 70") {
		t.Errorf("info: %+v", o)
	}
	noTemporary(t, dir)
}

// Orders of bytes and of elements in npy headers hold through pipes, too.
func TestPipedHeadersAreRead(t *testing.T) {
	dir := t.TempDir()
	for order, input := range map[string][]byte{
		"'fortran_order': True, 'descr': '<i2', 'shape': (2, 3)":  dtype.Bytes([]int16{1, 4, 2, 5, 3, 6}),
		"'fortran_order': False, 'descr': '>i2', 'shape': (2, 3)": {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6},
	} {
		head := "{" + order + ", }\n"
		npy := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), 0)
		npy = append(append(npy, head...), input...)
		if o := finish(t, piped(dir, npy, "compute", "x + 0", "x=-")); o.stdout != "[[1 2 3]\n [4 5 6]]\n" {
			t.Errorf("%s: %+v", order, o)
		}
	}
}

func TestPipesThatDoNotHoldTheirArrayAreRejected(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3, 4)", 12)
	npy := testcases.ReadFile(t, filepath.Join(dir, "x.npy"))
	for _, expression := range []string{"x*2", "x - mean(x, 0)", `slice(x, "0:1")`} {
		for input, says := range map[string]string{string(npy[:len(npy)-1]): "it ends after 47 of 48 bytes", string(npy) + "a": "more bytes follow", "": "no input", "text, and no array": "not an npy file",
			string(npy[:20]): "cut short"} {
			for _, out := range []string{"y.npy", "-"} {
				o := finish(t, piped(dir, []byte(input), "compute", expression, "x=-", "-o", out))
				if o.stdout = strings.TrimPrefix(o.stdout, string(npy)); o.status != 1 || strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, says) {
					t.Errorf("%s of %q: %+v", expression, says, o)
				}
				if _, err := os.Stat(filepath.Join(dir, "y.npy")); err == nil {
					t.Errorf("%s of %q leaves an output", expression, says)
				}
			}
		}
	}
	noTemporary(t, dir)
	for says, args := range map[string][]string{
		"standard input is one array": {"compute", "x + y", "x=-", "y=-"},
		"one array through a pipe":    {"compute", "m = mean(x); c = x - m", "x=x.npy", "-o", "m=-", "-o", "c=c.npy"},
		"merge: -":                    {"merge", "-", "--lora", "a", "-o", "b.gguf"},
		"--each: -":                   {"compute", "--each", "w*2", "w=-", "-o", "b.npz"},
		"of several arrays: -":        {"convert", "-", "b.zarr", "--levels", "2"},
		"leave --chunks":              {"compute", "x", "x=x.npy", "-o", "-", "--chunks", "1x2"},
		"shape=(5,) in the path":      {"compute", "x", "x=x.npy", "-o", "-?shape=5"},
		"C order and little-endian":   {"compute", "x", "x=x.npy", "-o", "-?dtype=>f4"},
		"--on slurm: other machines":  {"compute", "x", "x=-", "-o", "y.npy", "--on", "slurm", "--memory", "64MiB"},
		"-f - and an array":           {"compute", "-f", "-", "x=-"},
	} {
		if o := finish(t, piped(dir, npy, args...)); o.status != 2 || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 || !strings.Contains(o.stderr, says) {
			t.Errorf("%v: %+v", args, o)
		}
	}
}

// A reader that goes away ends the command as it ends others, and nothing is left.
func TestBrokenPipeEndsQuietly(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"compute", "sort(random(1, 2000, 2000), 0)", "-o", "-"}, {"compute", "arange(0, 9000000, 1)", "-o", "-", "--json"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c := piped(dir, nil, args...)
		c.Env = append(c.Env, "GONBEXT_RUNS=off") // whose temporary records go too
		var said bytes.Buffer
		c.Stdout, c.Stderr = w, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		_, _ = io.ReadFull(r, make([]byte, 10))
		r.Close()
		_ = c.Wait()
		if s := c.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGPIPE || said.Len() > 0 {
			t.Errorf("%v: %v, %s", args, c.ProcessState, said.String())
		}
		noTemporary(t, dir)
	}
}

// A command that waits for its input ends when it is told to, and leaves nothing.
func TestSignalEndsWaitForInput(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(3, 4)", 12)
	npy := testcases.ReadFile(t, filepath.Join(dir, "x.npy"))
	for _, expression := range []string{"x*2", "x - mean(x, 0)"} {
		for _, n := range []int{5, len(npy) - 5} {
			c := piped(dir, nil, "compute", expression, "x=-", "-o", "-")
			end, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			c.Stdin = end
			var said bytes.Buffer
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := in.Write(npy[:n]); err != nil {
				t.Fatal(err)
			}
			for left := 1; left > 0; time.Sleep(time.Millisecond) { // it handles signals once it reads, and may wait by then, or not yet
				if left, err = unix.IoctlGetInt(int(end.Fd()), unix.TIOCINQ); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			in.Close()
			end.Close()
			if c.ProcessState.ExitCode() != 143 || strings.Count(said.String(), "\n") != 1 {
				t.Errorf("%s after %d bytes: %v, %s", expression, n, c.ProcessState, said.String())
			}
			noTemporary(t, dir)
		}
	}
}

// On a terminal an array is not written, and nothing that is has an escape sequence.
func TestTerminals(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args   []string
		env    string
		status int
		says   string
		not    string
	}{
		{[]string{"compute", "arange(0, 5, 1)", "-o", "-"}, "TERM=xterm", 2, "standard output is a terminal", "NUMPY"},
		{[]string{"compute", "sum(x)", "x=-"}, "TERM=xterm", 2, "standard input is a terminal", "\x1b"},
		{[]string{"compute", "sum(sin(random(1, 3000, 4000)))", "--workers", "1"}, "TERM=dumb", 0, ".", "\x1b"},
		{[]string{"compute", "sum(sin(random(1, 3000, 4000)))", "--workers", "1"}, "NO_COLOR=1", 0, ".", "\x1b"},
		{[]string{"compute", "sqrts(x)"}, "TERM=xterm", 2, "sqrts", "\x1b"},
	} {
		master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Skip("there are no terminals here: ", err)
		}
		if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
			t.Fatal(err)
		}
		n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
		if err != nil {
			t.Fatal(err)
		}
		terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		call := command(dir, c.args...)
		call.Env = append(call.Env, c.env)
		call.Stdin, call.Stdout, call.Stderr = terminal, terminal, terminal
		if err := call.Start(); err != nil {
			t.Fatal(err)
		}
		terminal.Close()
		said, _ := io.ReadAll(master) // it ends with an error when the last one has closed the terminal
		master.Close()
		_ = call.Wait()
		if call.ProcessState.ExitCode() != c.status || !bytes.Contains(said, []byte(c.says)) || bytes.Contains(said, []byte(c.not)) {
			t.Errorf("%v with %s: %v, %q", c.args, c.env, call.ProcessState, said)
		}
	}
}
