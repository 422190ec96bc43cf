package storage_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/testkit/disktest"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// A region that is whole is found so by the next writer, also where its disk was slow just
// when the file lost its mark.
func TestRegionIsPlacedWhereTruncatingIsSlow(t *testing.T) {
	m := store.Meta{Shape: []int{4, 3}, DType: dtype.Int32}
	// region writes a region with a staging folder that stays.
	region := func(f *disktest.Fault) (store.Meta, string) {
		path := filepath.Join(t.TempDir(), "x.npy")
		storetest.Save(t, path, m, make([]byte, 48))
		ws, err := storage.NewStagingDir(path)
		try(t, err)
		t.Cleanup(func() { try(t, ws.Remove()) })
		r := regionOf(m, 1, 3)
		r.StagingDir = ws
		t.Run("", func(t *testing.T) {
			disktest.Use(t, f.FS())
			w, err := storage.Create(path, r)
			try(t, err)
			try(t, errors.Join(w.Write(t.Context(), bytes.Repeat([]byte{2}, 24), *r.Region), w.Commit(t.Context())))
		})
		return r, path
	}
	counts := new(disktest.Fault)
	region(counts)
	r, path := region(&disktest.Fault{Op: disktest.Write, N: counts.Count(disktest.Write), Delay: 100 * time.Millisecond})
	r.Resume = true
	w, err := storage.Create(path, r)
	try(t, err)
	if !storage.Placed(w) {
		t.Error("it is to be written again")
	}
	try(t, w.Commit(t.Context()))
}
