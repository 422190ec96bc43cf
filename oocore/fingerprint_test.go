package oocore_test

import (
	"net/http"
	"net/http/httptest"
	"syscall"
	"time"

	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/cloud"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A run that starts over says what is not as it was.
func TestDifferenceNamesItsCause(t *testing.T) {
	x := oocore.Random(oocore.Float32, 1, 40, 30)
	path := filepath.Join(t.TempDir(), "x.zarr")
	one, other := []oocore.Option{oocore.Chunks(10, 30)}, []oocore.Option{oocore.Chunks(20, 30)}
	for _, c := range []struct {
		name string
		a    *oocore.Array
		path string
		opts []oocore.Option
		want string
	}{
		{"the same", x.Sqrt(), path, one, ""},
		{"another budget", x.Sqrt(), path, append(one, oocore.Memory("64MiB")), ""},
		{"another expression", x.Exp(), path, one, "the expression is another"},
		{"another layout", x.Sqrt(), path, other, "it is to be stored in another way"},
		{"another place", x.Sqrt(), path + "2.zarr", one, "it is to be stored in another way"},
	} {
		before, err := x.Sqrt().Plan(path, one...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.a.Plan(c.path, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		if got := door.PlanOf(p).Fingerprint("", nil).Difference(door.PlanOf(before).Fingerprint("", nil)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// An address means the same in every folder.
func TestAddressesAreTheSameEverywhere(t *testing.T) {
	shown, err := oocore.Random(oocore.Float32, 1, 40, 30).Plan("x.zarr")
	if err != nil {
		t.Fatal(err)
	}
	p := door.PlanOf(shown)
	for path, same := range map[string]bool{"s3://bucket/x.zarr": true, "x.zarr": false} {
		p.Arrays[p.Output].Path = path
		t.Chdir(t.TempDir())
		before := p.Fingerprint("", nil)
		t.Chdir(t.TempDir())
		if got := p.Fingerprint("", nil) == before; got != same {
			t.Errorf("%s: the fingerprint is the same from another folder: %v, want %v", path, got, same)
		}
	}
}

// An input of which a chunk is edited while it is read gives no output: what was
// there stays.
func TestInputEditedWhileItIsRead(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	ctx := context.Background()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "x.zarr"), filepath.Join(dir, "o.npy")
	x, err := oocore.Random(oocore.Float64, 1, 40, 30).Save(ctx, in, oocore.Chunks(10, 30), oocore.Codec("none"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := oocore.Full(1.0, 4).Save(ctx, out); err != nil {
		t.Fatal(err)
	}
	before := testcases.ReadFile(t, out)
	chunk := filepath.Join(in, "c", "3", "0")
	edits := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		b, err := os.ReadFile(chunk)
		if err != nil {
			return err
		}
		b = append([]byte{}, b...)
		b[0]++
		if err := os.WriteFile(chunk+".new", b, 0o644); err != nil {
			return err
		}
		return os.Rename(chunk+".new", chunk)
	}, x, oocore.MapOptions{})
	_, err = edits.Save(ctx, out, oocore.Version("1"))
	if err == nil || !strings.Contains(err.Error(), "changed while it was read") || strings.Contains(err.Error(), "kept") {
		t.Errorf("the save gives %v", err)
	}
	after, err := os.ReadFile(out)
	if err != nil || string(after) != string(before) {
		t.Errorf("what was there is not there any more: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// saveRun saves and reports whether anything was computed.
func saveRun(t *testing.T, a *oocore.Array, path string, opts ...oocore.Option) (computed bool) {
	t.Helper()
	dir := os.Getenv("GONBEXT_RUNS")
	before, err := record.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Save(context.Background(), path, opts...); err != nil {
		t.Fatal(err)
	}
	after, err := record.List(dir)
	if err != nil || len(after) != len(before)+1 {
		t.Fatalf("the save left %d records, %v", len(after)-len(before), err)
	}
	return after[0].Status == record.Done
}

// stored gives the elements of a stored array.
func stored(t *testing.T, path string) []float64 {
	t.Helper()
	out, err := oocore.Collect[float64](context.Background(), oocore.Open(path))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// writeNpy writes float64 elements without gonbext.
func writeNpy(t *testing.T, path string, v ...float64) {
	t.Helper()
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", len(v))
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00\x76\x00"), header...)
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	testcases.WriteFile(t, path, b, 0o644)
}

func TestInputsOfOneNameOnTwoServersDiffer(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	modified := time.Now().Add(-time.Hour).Truncate(time.Second)
	for i, folder := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, folder, "x.npy")
		writeNpy(t, name, float64(i), float64(i))
		if err := os.Chtimes(name, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	out := filepath.Join(dir, "o.npy")
	for i, folder := range []string{"a", "b"} {
		if !saveRun(t, oocore.Open(server.URL+"/"+folder+"/x.npy").Add(0), out) {
			t.Errorf("the input of folder %s was taken for another's", folder)
		}
		if got := stored(t, out); got[0] != float64(i) {
			t.Errorf("the result of folder %s is %v", folder, got)
		}
	}
}

func TestInputRewrittenWithItsSizeAndTimeIsComputedAgain(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	in, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "o.npy")
	for i := range 20 { // within the ticks of the file system's clock
		writeNpy(t, in, float64(i), 1)
		if i > 0 {
			if err := os.Chtimes(in, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if !saveRun(t, oocore.Open(in).Add(0), out) {
			t.Fatalf("version %d was taken for the one before", i)
		}
		if got := stored(t, out); got[0] != float64(i) {
			t.Fatalf("the result of version %d is %v", i, got)
		}
		if saveRun(t, oocore.Open(in).Add(0), out) {
			t.Fatalf("version %d was computed again", i)
		}
	}
}

func TestInputWrittenThroughADirtyMappingIsComputedAgain(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("writes back mappings by a call of Linux")
	}
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	in, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "o.npy")
	writeNpy(t, in, 1, 2)
	f, err := os.OpenFile(in, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := syscall.Mmap(int(f.Fd()), 0, 144, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(m)
	for i := range 5 {
		binary.LittleEndian.PutUint64(m[128:], math.Float64bits(float64(10+i))) // the page stays dirty from one to the next
		if !saveRun(t, oocore.Open(in).Add(0), out) {
			t.Fatalf("element %d was not seen", 10+i)
		}
		if got := stored(t, out); got[0] != float64(10+i) {
			t.Fatalf("the result is %v, want %d", got, 10+i)
		}
	}
}

func TestOutputRewrittenWithItsSizeAndTimeIsComputedAgain(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	out := filepath.Join(t.TempDir(), "o.npy")
	x := oocore.Full(1.0, 2)
	for range 10 {
		if _, err := x.Save(context.Background(), out); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(out)
		if err != nil {
			t.Fatal(err)
		}
		b := testcases.ReadFile(t, out)
		b[len(b)-1] ^= 1
		f, err := os.OpenFile(out, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(b, 0); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := os.Chtimes(out, st.ModTime(), st.ModTime()); err != nil {
			t.Fatal(err)
		}
		if !saveRun(t, x, out) {
			t.Fatal("a result that somebody changed was taken for that of the run")
		}
	}
}

func TestSiblingZarrInputsDiffer(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	out := filepath.Join(dir, "o.npy")
	for i, name := range []string{"a.zarr", "b.zarr"} {
		in := filepath.Join(dir, name)
		if _, err := oocore.Full(float64(i), 4).Save(context.Background(), in, oocore.Codec("none")); err != nil {
			t.Fatal(err)
		}
		if !saveRun(t, oocore.Open(in).Add(0), out) {
			t.Errorf("%s was taken for its sibling", name)
		}
		if got := stored(t, out); got[0] != float64(i) {
			t.Errorf("the result of %s is %v", name, got)
		}
	}
}

// What changes no bits starts nothing over, and what may does.
func TestFingerprintHasWhatChangesBitsAndNothingElse(t *testing.T) {
	x := oocore.Random(oocore.Float32, 1, 400, 300)
	path := filepath.Join(t.TempDir(), "x.npy")
	type expression struct {
		name string
		of   *oocore.Array
	}
	of := func(a *oocore.Array, opts ...oocore.Option) plan.Fingerprint {
		t.Helper()
		p, err := a.Plan(path, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return door.PlanOf(p).Fingerprint("", nil)
	}
	for _, e := range []expression{
		{"elements", x.Sqrt()}, {"sums", x.Sub(x.Mean(0))}, {"product", x.MatMul(x.Transpose())},
		{"an input of several passes", x.Sort(0).Sub(x.Sort(0).Max(0))}, {"roll", x.Add(x.Roll(1, 0)).Sum()},
	} {
		plenty := of(e.of, oocore.Memory("1GiB"), oocore.Workers(8))
		for _, opts := range [][]oocore.Option{
			{oocore.Memory("64MiB"), oocore.Workers(1)}, {oocore.Memory("128MiB"), oocore.Workers(3)}, {oocore.Memory("1GiB"), oocore.On(cuda.Model("64MiB"))},
		} {
			if got := of(e.of, opts...); got != plenty {
				t.Errorf("%s: with other resources it %s", e.name, got.Difference(plenty))
			}
		}
	}
	for _, c := range []struct {
		name string
		of   *oocore.Array
		want bool // another arithmetic matters
	}{
		{"elements", x.Sqrt().Add(1), false}, {"maximum", x.Max(0), false}, {"a sum of integers", x.AsType(oocore.Int64).Sum(0), false},
		{"concatenation", oocore.Concatenate(0, x, x), false}, {"a sum", x.Sum(0), true}, {"a product", x.MatMul(x.Transpose()), true},
		{"a product of integers", x.AsType(oocore.Int32).MatMul(x.AsType(oocore.Int32).Transpose()), false},
	} {
		if got := of(c.of).Arithmetic != ""; got != c.want {
			t.Errorf("%s: depends on this machine's arithmetic %v, want %v", c.name, got, c.want)
		}
	}
}

// undated serves x.npy with no more than some headers, so that nothing tells its versions apart.
func undated(t *testing.T, headers map[string]string) (url string, put func(v ...float64)) {
	t.Helper()
	var contents atomic.Pointer[[]byte]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(*contents.Load()))
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "x.npy")
	put = func(v ...float64) {
		writeNpy(t, file, v...)
		b := testcases.ReadFile(t, file)
		contents.Store(&b)
	}
	return server.URL + "/x.npy", put
}

func TestInputWithoutVersionOnServerIsComputedAgain(t *testing.T) {
	for name, headers := range map[string]map[string]string{
		"nothing": {}, "a weak tag": {"ETag": `W/"1"`}, "a time and no date": {"Last-Modified": "Mon, 05 Jan 2026 10:00:00 GMT", "Date": ""},
		"a time to come": {"Last-Modified": "Mon, 05 Jan 2099 10:00:00 GMT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GONBEXT_RUNS", t.TempDir())
			url, put := undated(t, headers)
			out := filepath.Join(t.TempDir(), "o.npy")
			for i := range 3 {
				put(float64(i), 7)
				if !saveRun(t, oocore.Open(url).Add(0), out) {
					t.Fatalf("version %d was taken for the one before", i)
				}
				if got := stored(t, out); got[0] != float64(i) {
					t.Fatalf("the result of version %d is %v", i, got)
				}
				if saveRun(t, oocore.Open(url).Add(0), out) {
					t.Errorf("version %d was computed again", i)
				}
			}
		})
	}
}

// An input that is exchanged while it is read gives no mixture, whatever its server says of it.
func TestInputWithoutVersionExchangedWhileItIsRead(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	url, put := undated(t, nil)
	put(1, 2, 3)
	out := filepath.Join(t.TempDir(), "o.npy")
	exchanged := oocore.MapChunks(func(dst, src []float64, _ oocore.Block) error {
		put(4, 5, 6)
		copy(dst, src)
		return nil
	}, oocore.Open(url), oocore.MapOptions{})
	if _, err := exchanged.Save(t.Context(), out, oocore.Version("1")); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
		t.Errorf("the save gives %v", err)
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("there is an output: %v", err)
	}
}

func TestInputInMemoryWrittenThroughMappingIsComputedAgain(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "gonbext")
	if err != nil {
		t.Skip("there is no tmpfs at /dev/shm")
	}
	defer os.RemoveAll(dir)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	in, out := filepath.Join(dir, "x.npy"), filepath.Join(dir, "o.npy")
	writeNpy(t, in, 1, 2)
	mapped := func(name string) []byte {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := syscall.Mmap(int(f.Fd()), 0, 144, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Munmap(m) })
		return m
	}
	m := mapped(in)
	m[128]++ // the page is dirty from here on
	for i := range 3 {
		binary.LittleEndian.PutUint64(m[128:], math.Float64bits(float64(10+i)))
		if !saveRun(t, oocore.Open(in).Add(0), out) {
			t.Fatalf("element %d was not seen", 10+i)
		}
		if got := stored(t, out); got[0] != float64(10+i) {
			t.Fatalf("the result is %v, want %d", got, 10+i)
		}
	}
	mapped(out)[128]++
	if !saveRun(t, oocore.Open(in).Add(0), out) {
		t.Error("a result that somebody changed was taken for that of the run")
	}
}
