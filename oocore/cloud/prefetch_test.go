package cloud_test

import (
	"archive/zip"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// within returns the budget that leaves room for buffers, above what the process holds already.
func within(t *testing.T, room int64) oocore.Option {
	t.Helper()
	debug.FreeOSMemory()
	process, err := machine.Process()
	if err != nil {
		t.Fatal(err)
	}
	return oocore.Memory(strconv.FormatInt(process.Anonymous+room, 10))
}

// latest returns the last run of a log.
func latest(t *testing.T, log string) *record.Run {
	t.Helper()
	runs, err := record.Latest(log, 1)
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	run, err := record.Read(runs[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// shares reports whether the slots of a run's stage share what they compute with: then there are fewer results in memory
// than slots.
func shares(run *record.Run, chunk int64) bool {
	stage := &run.Header.Stages[0]
	return stage.Predicted[record.Output] < int64(stage.Slots)*chunk
}

// Inside 64 MiB about as many chunks of 1 MiB are under way as fit into the buffers, since what decodes and encodes
// them, which is four times as large, is shared by those that wait for the network.
func TestCopyWithin64MiBHasManyRequestsUnderWay(t *testing.T) {
	g := gated(t)
	log := t.TempDir()
	t.Setenv("GONBEXT_RUNS", log)
	const n, chunk = 48, 1 << 17 // of 1 MiB
	ramp := oocore.Arange(0, n*chunk, 1).AsType(oocore.Float64)
	if _, err := ramp.Save(t.Context(), "s3://data/x.zarr", oocore.Chunks(chunk), oocore.Codec("zstd:1"), oocore.Memory("1GiB")); err != nil {
		t.Fatal(err)
	}
	x := oocore.Open("s3://data/x.zarr")
	for name, c := range map[string]struct {
		array, want *oocore.Array
		codec       string
		least       int // requests at once; they were 10
	}{
		"copy":          {x, ramp, "zstd:1", 24},
		"another codec": {x, ramp, "gzip:1", 24},
		"computed":      {x.Sqrt(), ramp.Sqrt(), "zstd:1", 24},
	} {
		t.Run(name, func(t *testing.T) {
			budget := within(t, 64<<20)
			g.shut(c.least)
			y, err := c.array.Save(t.Context(), "s3://data/y.zarr", oocore.Chunks(chunk), oocore.Codec(c.codec), budget, oocore.Fresh())
			if err != nil {
				t.Fatal(err)
			}
			if g.before < c.least {
				t.Errorf("%d chunks are read at once, want %d", g.before, c.least)
			}
			run := latest(t, log)
			if h := &run.Header; run.End.Peak != h.Predicted.Host() {
				t.Errorf("buffers took %d bytes, predicted are %d", run.End.Peak, h.Predicted.Host())
			}
			if different, err := oocore.Collect[int64](t.Context(), y.NotEqual(c.want).CountNonzero(), oocore.Memory("1GiB")); err != nil || different[0] != 0 {
				t.Errorf("%d elements differ: %v", different, err)
			}
		})
	}
}

// A copy has the values of the array where chunks reach past its end, and the fill value where chunks are missing.
func TestCopyWithSharedWorkspacesKeepsEdgesAndMissingChunks(t *testing.T) {
	gated(t)
	log := t.TempDir()
	t.Setenv("GONBEXT_RUNS", log)
	i := oocore.Arange(0, 70*90, 1).AsType(oocore.Float32).Reshape(70, 90)
	ramp := i.Mul(i.Greater(2500).LogicalOr(i.Less(500))) // some chunks are zeros, which are not stored
	for _, from := range []string{"none", "zstd:1", "gzip:1", "blosc:lz4:5:shuffle"} {
		for _, to := range []string{"none", "zstd:3"} {
			x, err := ramp.Save(t.Context(), "s3://data/x.zarr", oocore.Chunks(16, 40), oocore.Codec(from), oocore.Fresh())
			if err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string][2]*oocore.Array{
				"copy": {x, ramp}, "sum": {x.Add(x.Slice("::-1")), ramp.Add(ramp.Slice("::-1"))}, "part": {x.Slice("16:60, 40:"), ramp.Slice("16:60, 40:")},
				"transposed": {x.Transpose(), ramp.Transpose()},
			} {
				chunks := oocore.Chunks(16, 40)
				if name == "transposed" {
					chunks = oocore.Chunks(40, 16)
				}
				y, err := c[0].Save(t.Context(), "s3://data/y.zarr", chunks, oocore.Codec(to), oocore.Workers(1), oocore.Fresh())
				if err != nil {
					t.Fatal(err)
				}
				if name == "copy" && (from != "none" || to != "none") && !shares(latest(t, log), 16*40*4) {
					t.Errorf("%s to %s, %s: slots share no workspaces", from, to, name)
				}
				if different, err := oocore.Collect[int64](t.Context(), y.NotEqual(c[1]).CountNonzero()); err != nil || different[0] != 0 {
					t.Errorf("%s to %s, %s: %d elements differ: %v", from, to, name, different, err)
				}
			}
		}
	}
}

// A chunk that cannot be decoded, read or stored is an error that names it, and leaves no array.
func TestCopyWithSharedWorkspacesNamesWhatFails(t *testing.T) {
	g := gated(t)
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	ramp := oocore.Arange(0, 1<<14, 1).AsType(oocore.Float32)
	next := g.Handler
	var fails atomic.Pointer[func(r *http.Request) bool]
	g.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := fails.Load(); f != nil && *f != nil && (*f)(r) {
			http.Error(w, "<Error><Code>AccessDenied</Code></Error>", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
	b, err := blob.At("s3://data")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		object []byte // instead of a chunk
		fails  func(r *http.Request) bool
		says   string
	}{
		"damaged":    {object: []byte("no frame of Zstandard"), says: "c/5"},
		"cut short":  {object: []byte{0x28, 0xb5, 0x2f, 0xfd}, says: "c/5"},
		"too long":   {object: make([]byte, 1<<20), says: "more than a chunk"},
		"not read":   {fails: func(r *http.Request) bool { return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/c/5") }, says: "chunk c/5"},
		"not stored": {fails: func(r *http.Request) bool { return r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/c/") }, says: "ynotstored.zarr"},
	} {
		t.Run(name, func(t *testing.T) {
			path := strings.ReplaceAll(name, " ", "") + ".zarr" // chunks of an array that is replaced have other keys
			x, err := ramp.Save(t.Context(), "s3://data/"+path, oocore.Chunks(1<<10), oocore.Codec("zstd:1"))
			if err == nil && c.object != nil {
				_, err = blob.Put(t.Context(), b, path+"/c/5", c.object)
			}
			if err != nil {
				t.Fatal(err)
			}
			fails.Store(&c.fails)
			_, err = x.Save(t.Context(), "s3://data/y"+path, oocore.Chunks(1<<10), oocore.Codec("zstd:1"), oocore.Workers(1))
			fails.Store(nil)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
			if err := oocore.Open("s3://data/y" + path).Err(); err == nil {
				t.Error("the array is there")
			}
		})
	}
}

// TestChunksOfReferencesAreCopied copies arrays whose chunks Zarr finds in what another format describes to an object store, chunk by chunk.
func TestChunksOfReferencesAreCopied(t *testing.T) {
	defer fakeS3(t)()
	dir := t.TempDir()
	repository := testcases.Must[*zip.ReadCloser](t)(zip.OpenReader("../internal/format/icechunk/testdata/v2.zip"))
	if err := errors.Join(os.CopyFS(filepath.Join(dir, "repo"), repository), repository.Close()); err != nil {
		t.Fatal(err)
	}
	testcases.WriteFile(t, filepath.Join(dir, "refs.json"), []byte(`{"x/.zarray": {"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "order": "C",
		"filters": null, "compressor": {"id": "zlib", "level": 1}, "fill_value": 9}, "x/0": "base64:eAFjZAIAAAYABA=="}`), 0o600)
	for _, name := range []string{"refs.json#x", "repo?branch=dev#grp/x"} {
		x := oocore.Open(filepath.Join(dir, name))
		want := testcases.Must[[]int64](t)(oocore.Collect[int64](t.Context(), x.AsType(oocore.Int64)))
		y, err := x.Save(t.Context(), "s3://data/"+name[:4]+".zarr/y", oocore.Chunks(x.Chunks()...), oocore.Codec("zstd:1"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := testcases.Must[[]int64](t)(oocore.Collect[int64](t.Context(), y.AsType(oocore.Int64))); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
