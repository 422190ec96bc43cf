package oocore_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/store"
)

// registered is a format whose arrays lie in memory: registered:NAME and registered:NAME@VERSION
// have two elements, of what is put there.
type registered struct{ elements *[]float64 }

type versioned struct {
	*memstore.Array
	version string
}

func (v versioned) Info() store.Info {
	i := v.Array.Info()
	i.Path, i.ID = "registered:x", store.FileVersion{Version: v.version}
	if v.version != "" {
		i.Path += "@" + v.version
	}
	return i
}

func (registered) Owns(path string) bool    { return strings.HasPrefix(path, "registered:") }
func (registered) Place(path string) string { return path }
func (r registered) Open(_ context.Context, path string) (store.Array, error) {
	_, version, _ := strings.Cut(path, "@")
	return versioned{memstore.New([]int{2}, dtype.Float64, dtype.Bytes(*r.elements)), version}, nil
}
func (registered) Layout(string, store.Meta) (store.Layout, error) {
	return store.Layout{}, errors.ErrUnsupported
}
func (registered) Create(string, store.Meta) (store.Writer, error) { return nil, errors.ErrUnsupported }

func TestSaveOfRegisteredFormatWithAndWithoutVersions(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	elements := []float64{1, 2}
	store.Register(registered{&elements})
	for _, c := range []struct {
		path     string
		computed bool // again
	}{{"registered:x", true}, {"registered:x@1", false}} {
		out := filepath.Join(t.TempDir(), "o.npy")
		for i := range 2 {
			elements[0] = float64(3 + i)
			want := i == 0 || c.computed
			if got := saveRun(t, oocore.Open(c.path).Add(0), out); got != want {
				t.Errorf("%s: run %d computed %v, want %v", c.path, i, got, want)
			}
			if got := stored(t, out); want && got[0] != elements[0] {
				t.Errorf("%s: run %d has %v, want %v", c.path, i, got[0], elements[0])
			}
		}
	}
}
