package cloud_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/cloud"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	_ "github.com/gonbext/gonbext/oocore/internal/format/fits"
	_ "github.com/gonbext/gonbext/oocore/internal/format/hdf5"
	_ "github.com/gonbext/gonbext/oocore/internal/format/icechunk"
	_ "github.com/gonbext/gonbext/oocore/internal/format/kerchunk"
	_ "github.com/gonbext/gonbext/oocore/internal/format/n5"
	_ "github.com/gonbext/gonbext/oocore/internal/format/nifti"
	_ "github.com/gonbext/gonbext/oocore/internal/format/safetensors"
	_ "github.com/gonbext/gonbext/oocore/internal/format/tiff"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// fakeS3 is an S3 server with the bucket "data", and the settings to reach it.
// What it returns ends all connections.
func fakeS3(t testing.TB) func() {
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(s.Close)
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	t.Setenv("AWS_NO_SIGN_REQUEST", "true")
	before := goleak.IgnoreCurrent()
	return func() {
		cloud.CloseIdle()
		s.CloseClientConnections()
		if err := goleak.Find(before); err != nil { // which waits for a while
			t.Error(err)
		}
	}
}

// upload copies a file of this machine to the bucket.
func upload(t testing.TB, file, key string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	to, err := blob.At("s3://data")
	if err == nil {
		_, err = blob.Put(context.Background(), to, key, b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// stored writes an array to a file of this machine, and copies that.
func stored(t testing.TB, dir, name string, m store.Meta, data []byte) store.Array {
	t.Helper()
	file := filepath.Join(dir, name)
	w, err := store.Create(file, m)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(context.Background(), data, grid.Box{Start: make([]int, len(m.Shape)), Shape: m.Shape}); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	place, query, _ := strings.Cut(storage.Stored(file, m), "?")
	upload(t, place, "in/"+filepath.Base(place))
	path := "s3://data/in/" + filepath.Base(place)
	if query != "" {
		path += "?" + query
	}
	a, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestArrays holds remote arrays to what every array has to do.
func TestArrays(t *testing.T) {
	all := []dtype.Type{dtype.Float32, dtype.Bool, dtype.Int16, dtype.Complex128, dtype.Uint64}
	for _, name := range []string{"x.npy", "x.bin", "x.safetensors"} {
		t.Run(name, func(t *testing.T) {
			end := fakeS3(t)
			dir := t.TempDir()
			types := all
			if name == "x.safetensors" {
				types = []dtype.Type{dtype.Float32, dtype.Bool, dtype.BFloat16}
			}
			storetest.TestArray(t, types, func(t testing.TB, m store.Meta, data []byte) store.Array {
				t.Cleanup(end) // before descriptors are counted
				return stored(t, dir, name, m, data)
			})
		})
	}
}

// TestIndexedFormatsByRanges reads formats that are indexes to bytes from a web server, and
// compares with the same files on this machine.
func TestIndexedFormatsByRanges(t *testing.T) {
	dir := t.TempDir()
	formats := filepath.Join("..", "internal", "format")
	for _, name := range []string{"hdf5/testdata/old.h5", "fits/testdata/small.fits", "nifti/testdata/small.nii", "tiff/testdata/tiles.tif", "tiff/testdata/imagej.tif"} {
		b, err := os.ReadFile(filepath.Join(formats, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"x.n5/y/1", "x.zarr/half"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	zarray := `{"zarr_format": 2, "shape": [8], "chunks": [4], "dtype": "|u1", "order": "C", "filters": null, "compressor": null, "fill_value": 0}`
	for name, text := range map[string]string{
		"x.zarr/.zgroup":         `{"zarr_format": 2}`,
		"x.zarr/.zattrs":         `{"multiscales": [{"axes": ["x"], "datasets": [{"path": "half"}]}]}`,
		"x.zarr/half/.zarray":    zarray,
		"x.zarr/half/1":          "abcd",
		"x.n5/y/attributes.json": `{"dimensions": [3, 4], "blockSize": [2, 4], "dataType": "uint8", "compression": {"type": "raw"}}`,
		"x.n5/y/1/0":             "\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x04abcd", // what is not there is zero
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refs := `{"version": 1, "refs": {"x/0": ["small.nii", 1, 4], "x/1": ["old.h5", 0, 4], "x/.zarray": ` + zarray + `}}`
	if err := os.WriteFile(filepath.Join(dir, "refs.json"), []byte(refs), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1", "v2"} {
		repository := testcases.Must[*zip.ReadCloser](t)(zip.OpenReader(filepath.Join(formats, "icechunk/testdata", version+".zip")))
		if err := errors.Join(os.CopyFS(filepath.Join(dir, version+".icechunk"), repository), repository.Close()); err != nil {
			t.Fatal(err)
		}
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	defer cloud.CloseIdle()
	for _, name := range []string{"old.h5#fixed", "old.h5#contiguous", "small.fits#0", "small.nii", "tiles.tif", "imagej.tif", "x.n5/y", "x.zarr#0", "refs.json#x",
		"v1.icechunk#grp/a", "v1.icechunk?tag=v1#shards", "v2.icechunk?branch=dev#grp/a", "v2.icechunk#grp/x"} {
		var elements [2][]byte
		for i, root := range []string{dir, s.URL} {
			a, err := store.Open(root + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			all := storetest.All(a.Info().Shape)
			elements[i] = make([]byte, all.Size()*a.Info().DType.Size())
			if err := a.Read(t.Context(), elements[i], all); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
		if !bytes.Equal(elements[0], elements[1]) {
			t.Errorf("%s has other elements there", name)
		}
	}
}

// TestWindows reads regions of an array that needs several windows, with buffers
// of any size, and compares with the same array on this machine.
func TestWindows(t *testing.T) {
	fakeS3(t)
	dir := t.TempDir()
	shape := []int{300, 40, 500} // rows of 2 kB, groups of 80 kB: gaps on both sides of what is read through
	m := store.Meta{Shape: shape, DType: dtype.Float32}
	data := make([]byte, 4*grid.Size(shape))
	for i := range len(data) / 4 {
		binary.NativeEndian.PutUint32(data[4*i:], uint32(i))
	}
	far := stored(t, dir, "x.npy", m, data)
	defer far.Close()
	near, err := store.Open(filepath.Join(dir, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	work := far.Info().Work
	if work.Whole > 4<<20 || work.Stream > 128<<10 || work.Stream > work.Whole {
		t.Errorf("it wants %+v", work)
	}
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		region := grid.Region{}
		for _, n := range shape {
			step := rapid.SampledFrom([]int{1, 1, 2, 7, -1, -3}).Draw(r, "step")
			start := rapid.IntRange(0, n-1).Draw(r, "start")
			room := n - start
			if step < 0 {
				room = start + 1
			}
			count := rapid.IntRange(1, (room-1)/max(step, -step)+1).Draw(r, "count")
			region.Start, region.Step, region.Count = append(region.Start, start), append(region.Step, step), append(region.Count, count)
		}
		bytesOf := 4 * grid.Size(region.Count)
		want, got := make([]byte, bytesOf), make([]byte, bytesOf)
		if err := near.Read(context.Background(), want, region); err != nil {
			r.Fatal(err)
		}
		s, err := far.(storage.Coded).Session(make([]byte, rapid.Int64Range(work.Stream, work.Whole).Draw(r, "work")))
		if err != nil {
			r.Fatal(err)
		}
		defer s.Close()
		n, err := s.Read(context.Background(), got, region)
		if err != nil || !bytes.Equal(got, want) {
			r.Fatalf("%+v: other bytes, %v", region, err)
		}
		if n < int64(bytesOf) {
			r.Fatalf("%+v: %d bytes read for %d", region, n, bytesOf)
		}
	})
	if _, err := far.(storage.Coded).Session(make([]byte, work.Stream-1)); err == nil {
		t.Error("a buffer that is too small is taken")
	}
}

// TestForms opens what other programs write: big-endian and Fortran's order.
func TestForms(t *testing.T) {
	fakeS3(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "f.npy")
	header := "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	b = append(b, header...)
	for i := range 6 {
		b = binary.BigEndian.AppendUint32(b, uint32(i))
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	upload(t, file, "f.npy")
	a, err := store.Open("s3://data/f.npy")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	info := a.Info()
	if !info.Fortran || fmt.Sprint(info.Shape) != "[3 2]" || info.ID.Version == "" || info.ID.Size != int64(len(b)) {
		t.Errorf("%+v", info)
	}
	got := make([]byte, 4)
	region := grid.Region{Start: []int{2, 1}, Count: []int{1, 1}, Step: []int{1, 1}}
	if err := a.Read(context.Background(), got, region); err != nil || binary.NativeEndian.Uint32(got) != 5 {
		t.Error(got, err)
	}
}

func TestRefusedArrays(t *testing.T) {
	fakeS3(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "bad.npy")
	if err := os.WriteFile(file, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	upload(t, file, "bad.npy")
	m := store.Meta{Shape: []int{2}, DType: dtype.Float32}
	for path, want := range map[string]string{
		"s3://data/bad.npy":                                   "not an npy file",
		"s3://data/missing.npy":                               "there is no such object",
		"s3://data/bad.bin?shape=2&dtype=float32":             "there is no such object",
		"s3://nowhere/x.npy":                                  "there is no such bucket",
		"az://data/x.npy":                                     "import _ \"github.com/gonbext/gonbext/oocore/cloud\"",
		"s3://data/missing.safetensors#x":                     "there is no such object",
		"https://user:very-secret@127.0.0.1/x.npy":            "a URL that holds a user or password",
		"https://127.0.0.1/x.npy?X-Amz-Signature=very-secret": "open https://127.0.0.1/x.npy?…: \"X-Amz-Signature\" is unknown",
	} {
		_, err := store.Open(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", path, err)
		}
		if err != nil && strings.Contains(want, "no such") && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v is of the wrong kind", path, err)
		}
		if err != nil && strings.Contains(err.Error(), "very-secret") {
			t.Errorf("a secret is shown: %v", err)
		}
	}
	for _, path := range []string{"s3://data/x.npy", "s3://data/x.bin", "s3://data/x.safetensors#a", "https://host/x.npy"} {
		if _, err := store.Create(path, m); err == nil || !strings.Contains(err.Error(), ".zarr there") {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := storage.LayoutOf(path, m); err == nil {
			t.Errorf("%s has a layout", path)
		}
	}
}

// TestOpeningEndsWithItsContext opens arrays of a server that accepts connections and
// says nothing.
func TestOpeningEndsWithItsContext(t *testing.T) {
	asked := make(chan struct{}, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	t.Cleanup(cloud.CloseIdle)
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	t.Setenv("AWS_NO_SIGN_REQUEST", "true")
	for _, path := range []string{s.URL + "/x.npy", s.URL + "/x.zarr", s.URL + "/x.safetensors#a", "s3://data/x.npy", "s3://data/x.zarr/a", "s3://data/x.bin?shape=2&dtype=int8"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		if _, err := store.OpenContext(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
		cancel()
	}
}

// TestReadRepositoriesInObjectStores compares Icechunk repositories in a bucket with the same on this machine.
func TestReadRepositoriesInObjectStores(t *testing.T) {
	defer fakeS3(t)()
	for _, version := range []string{"v1", "v2"} {
		repository := testcases.Must[*zip.ReadCloser](t)(zip.OpenReader(filepath.Join("../internal/format/icechunk/testdata", version+".zip")))
		dir := filepath.Join(t.TempDir(), version)
		if err := errors.Join(os.CopyFS(dir, repository), repository.Close()); err != nil {
			t.Fatal(err)
		}
		if err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				upload(t, file, "in/"+version+filepath.ToSlash(file[len(dir):]))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"?branch=main#grp/a", "?branch=dev#grp/a", "?tag=v1#shards", "?branch=main#scalar"} {
			var data [2]string
			var versions [2]storage.Version
			for i, root := range []string{dir, "s3://data/in/" + version} {
				a, v, err := storage.OpenVersion(t.Context(), root+name)
				if err != nil {
					t.Fatal(err)
				}
				all := storetest.All(a.Info().Shape)
				b := make([]byte, all.Size()*a.Info().DType.Size())
				if err := errors.Join(a.Read(t.Context(), b, all), a.Close()); err != nil {
					t.Errorf("%s%s: %v", root, name, err)
				}
				data[i], versions[i] = string(b), v
			}
			if data[0] != data[1] || versions[0].Objects != versions[1].Objects {
				t.Errorf("%s%s is another in the bucket", version, name)
			}
		}
		for name, want := range map[string]string{"?branch=none#a": `no branch "none": the repository has "dev", "main"`, "?tag=none#a": `no tag "none": the repository has "v1"`} {
			if _, err := store.Open("s3://data/in/" + version + name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s%s: %v", version, name, err)
			}
		}
		if _, err := store.Open("s3://data/in/" + version + "?branch=main#virtual"); err == nil || !strings.Contains(err.Error(), "refers to a file of this machine") {
			t.Errorf("%s: %v", version, err)
		}
	}
}
