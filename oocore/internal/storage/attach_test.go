package storage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npz"
	_ "github.com/gonbext/gonbext/oocore/internal/format/safetensors"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// What an attached writer writes is in the array that the owner of the workspace
// commits, and nothing that it does removes anything.
func TestAttachedWriterFillsTheOwnersArray(t *testing.T) {
	shape := []int{64, 48}
	half := grid.Box{Start: []int{32, 0}, Shape: []int{32, 48}}
	values := make([]float32, 64*48)
	for i := range values {
		values[i] = float32(i) + 1
	}
	for name, m := range map[string]store.Meta{
		"x.npy":                      {},
		"x.bin":                      {},
		"x.npz#a":                    {},
		"x.safetensors#a":            {},
		"plain.zarr":                 {Chunks: []int{32, 16}, Codec: "none"},
		"coded.zarr":                 {Chunks: []int{32, 48}},
		"sharded.zarr":               {Chunks: []int{8, 48}, Shards: []int{32, 48}},
		"group.zarr/deeper/and/here": {Chunks: []int{32, 48}},
	} {
		format, _, _ := strings.Cut(filepath.Base(name), "#") // a folder's name cannot have one
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			m.Shape, m.DType = shape, dtype.Float32
			ws, err := storage.NewStagingDir(path)
			if err != nil {
				t.Fatal(err)
			}
			defer ws.Remove()
			if m.StagingDir, err = storage.AttachStagingDir(ws.Path, path); err != nil {
				t.Fatal(err)
			}
			if _, err := storage.Create(path, m); !errors.Is(err, storage.ErrNotStaged) {
				t.Fatalf("before the array is begun: %v, want ErrNotStaged", err)
			}
			owned := m
			owned.StagingDir = ws
			owner, err := storage.Create(path, owned)
			if err != nil {
				t.Fatal(err)
			}
			other := m
			other.DType = dtype.Int64
			if _, err := storage.Create(path, other); !errors.Is(err, storage.ErrNotStaged) {
				t.Errorf("an array of another dtype: %v, want ErrNotStaged", err)
			}
			for i, end := range []func(store.Writer) error{store.Writer.Suspend, store.Writer.Abort} {
				w, err := storage.Create(path, m)
				if err != nil {
					t.Fatal(err)
				}
				b := grid.Box{Start: []int{32 * i, 0}, Shape: half.Shape}
				src := dtype.Bytes(values[32*48*i : 32*48*(i+1)])
				if c, ok := w.(storage.CodedWriter); ok {
					l, err := storage.LayoutOf(path, owned)
					if err != nil {
						t.Fatal(err)
					}
					s, err := c.Session(make([]byte, l.Work.Whole))
					if err != nil {
						t.Fatal(err)
					}
					rows := len(src) / 32 * 32
					if m.Shards != nil {
						rows = len(src) / 4
					}
					for at := 0; at < len(src); at += rows {
						part := grid.Box{Start: []int{32*i + at/(48*4), 0}, Shape: []int{rows / (48 * 4), 48}}
						if _, err := s.Write(context.Background(), src[at:at+rows], part); err != nil {
							t.Fatal(err)
						}
					}
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				} else if err := w.Write(context.Background(), src, b); err != nil {
					t.Fatal(err)
				}
				if err := w.Sync(context.Background()); err != nil {
					t.Fatal(err)
				}
				if err := w.Commit(context.Background()); !errors.Is(err, storage.ErrAttachedCommit) {
					t.Errorf("Commit: %v, want ErrAttachedCommit", err)
				}
				if err := end(w); err != nil {
					t.Fatal(err)
				}
			}
			if err := owner.Commit(context.Background()); err != nil {
				t.Fatal(err)
			}
			if name == "x.bin" {
				path += "?shape=64,48&dtype=float32"
			}
			a, err := storage.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			got := make([]float32, len(values))
			if c, ok := a.(storage.Coded); ok {
				s, err := c.Session(make([]byte, a.Info().Work.Whole))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				_, err = s.Read(context.Background(), dtype.Bytes(got), grid.Entire(shape).Region())
				if err != nil {
					t.Fatal(err)
				}
			} else if err := a.Read(context.Background(), dtype.Bytes(got), grid.Entire(shape).Region()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, values) {
				t.Error("the array has other values than were written")
			}
		})
	}
}

// A region that another process has begun is written by attached writers; the owner
// that gives up afterwards leaves the array torn, since it no longer is what it was.
func TestAttachedRegionStaysTornWhenTheOwnerGivesUp(t *testing.T) {
	for _, name := range []string{"x.npy", "x.zarr"} {
		path := filepath.Join(t.TempDir(), name)
		m := store.Meta{Shape: []int{8, 8}, DType: dtype.Float64}
		w, err := storage.Create(path, m)
		if err == nil {
			err = w.Write(context.Background(), make([]byte, 8*8*8), grid.Entire(m.Shape))
		}
		if err == nil {
			err = w.Commit(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		m.Region = &grid.Box{Start: []int{0, 0}, Shape: []int{4, 8}}
		ws, err := storage.NewStagingDir(path)
		if err != nil {
			t.Fatal(err)
		}
		if m.StagingDir, err = storage.AttachStagingDir(ws.Path, path); err != nil {
			t.Fatal(err)
		}
		if _, err := storage.Create(path, m); !errors.Is(err, storage.ErrNotStaged) {
			t.Errorf("%s: before the region is begun: %v, want ErrNotStaged", name, err)
		}
		m.StagingDir = ws
		owner, err := storage.Create(path, m)
		if err != nil {
			t.Fatal(err)
		}
		if m.StagingDir, err = storage.AttachStagingDir(ws.Path, path); err != nil {
			t.Fatal(err)
		}
		attached, err := storage.Create(path, m)
		if err != nil {
			t.Fatal(err)
		}
		storage.Share(owner)
		if err := errors.Join(attached.Suspend(), owner.Abort(), ws.Close()); err != nil {
			t.Fatal(err)
		}
		if a, err := storage.Open(path); err == nil {
			a.Close()
			t.Errorf("%s opens as whole", name)
		}
		if err := os.RemoveAll(ws.Path); err != nil {
			t.Fatal(err)
		}
	}
}
