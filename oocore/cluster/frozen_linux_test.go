package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// frozenVariable makes the test's binary an element, "PLAN STAGE PATTERN", that stops itself in the middle of the first write to a file
// whose name matches.
const frozenVariable = "GONBEXT_TEST_FROZEN"

func TestMain(m *testing.M) {
	of := strings.Fields(os.Getenv(frozenVariable))
	if len(of) != 3 {
		os.Exit(m.Run())
	}
	batches["queue"] = &batch{Name: "Queue"}
	disk.Use(&freezing{disk.System(), regexp.MustCompile(of[2]), new(bool)})
	stage, _ := strconv.Atoi(of[1])
	if err := Element(context.Background(), of[0], 64<<20, 1, stage, 0, 0); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// freezing is a file system whose process is stopped in the middle of a write.
type freezing struct {
	disk.FS
	name *regexp.Regexp
	was  *bool
}

type freezingFile struct {
	disk.Handle
	of *freezing
}

func (f *freezing) OpenFile(name string, flag int, perm fs.FileMode) (disk.Handle, error) {
	h, err := f.FS.OpenFile(name, flag, perm)
	if err != nil || !f.name.MatchString(name) {
		return h, err
	}
	return freezingFile{h, f}, nil
}

func (f *freezing) Below(root *disk.Root) disk.FS { return &freezing{f.FS.Below(root), f.name, f.was} }

func (f freezingFile) WriteAt(p []byte, at int64) (int, error) {
	if *f.of.was {
		return f.Handle.WriteAt(p, at)
	}
	*f.of.was = true
	half := len(p) / 2
	if n, err := f.Handle.WriteAt(p[:half], at); err != nil {
		return n, err
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	n, err := f.Handle.WriteAt(p[half:], at+int64(half))
	return half + n, err
}

// A process that is stopped in the middle of a write, and goes on when the run has ended and its output was changed, changes nothing.
func TestFrozenElementChangesNothing(t *testing.T) {
	values := make([]float64, 100)
	for i := range values {
		values[i] = -float64(i)
	}
	for name, c := range map[string]struct {
		out     string
		pattern string
		opts    []oocore.Option
		region  bool
	}{
		"npy":                {"out.npy", `out\.npy$`, nil, false},
		"raw":                {"out.bin?shape=100&dtype=float64", `out\.bin$`, nil, false},
		"zarr":               {"out.zarr", `^c/|/c/`, nil, false},
		"zarr, uncompressed": {"out.zarr", `^c/|/c/`, []oocore.Option{oocore.Codec("none")}, false},
		"safetensors":        {"out.safetensors#a", `out\.safetensors$`, nil, false},
		"region of npy":      {"out.npy", `out\.npy$`, nil, true},
		"region of zarr":     {"out.zarr", `^c/|/c/`, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			dir := t.TempDir()
			out := filepath.Join(dir, c.out)
			a := counting(t, 100, 10).Neg()
			if c.region {
				if _, err := oocore.Zeros(oocore.Float64, 100).Save(t.Context(), out, oocore.Chunks(10)); err != nil {
					t.Fatal(err)
				}
				c.opts = append(c.opts, oocore.Region("0:100"))
			} else {
				c.opts = append(c.opts, oocore.Chunks(10))
			}
			q.submit(out, func(opts ...oocore.Option) error {
				_, err := a.Save(t.Context(), out, append(opts, c.opts...)...)
				return err
			})
			q.end(q.run.Probe)
			frozen := osexec.Command(os.Args[0])
			frozen.Env = append(os.Environ(), fmt.Sprintf("%s=%s 0 %s", frozenVariable, q.run.Plan, c.pattern))
			var said bytes.Buffer
			frozen.Stdout = &said
			if err := frozen.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = frozen.Process.Kill() })
			var status syscall.WaitStatus
			if _, err := syscall.Wait4(frozen.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
				t.Fatalf("the element ends before it writes: %v %s", err, said.String())
			}
			q.finish(0)
			holds(t, oocore.Open(out), values)
			changed := files(t, dir, func(path string, text []byte) {
				for i := range text {
					text[i] ^= 0x55
				}
				testcases.WriteFile(t, path, text, 0o600) // in place, as programs do that know nothing of gonbext
			})
			if err := frozen.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			_ = frozen.Wait()
			now := files(t, dir, func(string, []byte) {})
			for path, text := range now {
				if changed[path] != text {
					t.Errorf("%s is there, or is another than the user has made it: %s", path, said.String())
				}
			}
			if len(now) != len(changed) {
				t.Errorf("of %d files %d are left", len(changed), len(now))
			}
		})
	}
}

// files are all files below a folder, which change sees.
func files(t *testing.T, dir string, change func(path string, text []byte)) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text := testcases.ReadFile(t, path)
		change(path, text)
		all[path] = string(text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
