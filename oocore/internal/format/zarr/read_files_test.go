package zarr

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// smallChunks is an array of uint8 of a folder, of one element a chunk, with a value in each.
func smallChunks(t *testing.T, path string, chunks int, value byte) {
	t.Helper()
	text := metadata([]int{chunks}, []int{1}, dtype.Uint8, `{"name":"bytes"}`)
	err := errors.Join(os.MkdirAll(filepath.Join(path, "c"), 0o777), os.WriteFile(filepath.Join(path, v3File), []byte(text), 0o666))
	for i := range chunks {
		err = errors.Join(err, os.WriteFile(filepath.Join(path, "c", fmt.Sprint(i)), []byte{value}, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadOpensEachChunkOnce(t *testing.T) {
	const chunks = 500
	path := filepath.Join(t.TempDir(), "x.zarr")
	smallChunks(t, path, chunks, 1)
	count := &disktest.Fault{}
	disktest.Use(t, count.FS())
	a, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	opens, reads := count.Count(disktest.Open), count.Count(disktest.Read)
	if err := a.Read(t.Context(), make([]byte, chunks), types.Region{Start: []int{0}, Count: []int{chunks}, Step: []int{1}}); err != nil {
		t.Fatal(err)
	}
	if n := count.Count(disktest.Open) - opens; n != chunks {
		t.Errorf("%d files are opened for %d chunks", n, chunks)
	}
	if n := count.Count(disktest.Read) - reads; n != chunks {
		t.Errorf("%d reads for %d chunks", n, chunks)
	}
}

// A session that has the array's folder open sees another array under its name.
func TestSessionNoticesAnotherArray(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"renamed away": func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Rename(path+".new", path))
		},
		"new metadata":  func(path string) error { return os.Rename(path+".new/"+v3File, path+"/"+v3File) },
		"metadata gone": func(path string) error { return os.Remove(path + "/" + v3File) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.zarr")
			smallChunks(t, path, 2, 1)
			smallChunks(t, path+".new", 2, 2)
			a, err := store.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			s, err := a.(storage.Coded).Session(make([]byte, a.Info().Work.Whole))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			dst := make([]byte, 1)
			if _, err := s.Read(t.Context(), dst, types.Region{Start: []int{0}, Count: []int{1}, Step: []int{1}}); err != nil || dst[0] != 1 {
				t.Fatal(dst, err)
			}
			if err := replace(path); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Read(t.Context(), dst, types.Region{Start: []int{1}, Count: []int{1}, Step: []int{1}}); err == nil {
				t.Error("the other array is read as if it were the same")
			}
		})
	}
}
