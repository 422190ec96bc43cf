package faultstore_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/internal/testkit/faultstore"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

var errDisk = errors.New("the disk is on fire")

// TestNoFault: with nothing to fail, the wrapped stores are the stores.
func TestNoFault(t *testing.T) {
	var f faultstore.Fault
	storetest.TestArray(t, dtype.All()[:1], func(_ testing.TB, m store.Meta, data []byte) store.Array {
		return f.Array(memstore.New(m.Shape, m.DType, data))
	})
	if f.Count() == 0 {
		t.Error("no read was counted")
	}
}

func TestReadFails(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6}
	f := &faultstore.Fault{Op: faultstore.Read, N: 2, Err: store.ErrCutShort, Short: true}
	a := f.Array(memstore.New([]int{3, 2}, dtype.Uint8, data))
	for i, want := range [][]byte{data, {1, 2, 0, 0, 0, 0}, data} {
		got := make([]byte, 6)
		err := a.Read(t.Context(), got, storetest.All([]int{3, 2}))
		if !bytes.Equal(got, want) || (i == 1) != errors.Is(err, store.ErrCutShort) {
			t.Errorf("read %d: %v, error %v", i+1, got, err)
		}
	}
}

func TestWriteAndCommitFail(t *testing.T) {
	m := store.Meta{Shape: []int{4}, DType: dtype.Uint8}
	box := grid.Box{Start: []int{0}, Shape: []int{4}}
	for _, op := range []faultstore.Op{faultstore.Write, faultstore.Commit} {
		var folder memstore.Folder
		inner, err := folder.Create("a", m)
		if err != nil {
			t.Fatal(err)
		}
		f := &faultstore.Fault{Op: op, N: 1, Err: errDisk, Short: true}
		w := f.Writer(inner)
		if err := w.Write(t.Context(), []byte{1, 2, 3, 4}, box); (op == faultstore.Write) != errors.Is(err, errDisk) {
			t.Errorf("Write returns %v", err)
		}
		if err := w.Commit(t.Context()); (op == faultstore.Commit) != errors.Is(err, errDisk) {
			t.Errorf("Commit returns %v", err)
		}
		a, err := folder.Open("a")
		if op == faultstore.Commit {
			if err == nil {
				t.Error("a commit that failed has stored something")
			}
			continue
		}
		got := make([]byte, 4)
		if err := errors.Join(err, a.Read(t.Context(), got, storetest.All(m.Shape))); err != nil || !bytes.Equal(got, []byte{1, 2, 0, 0}) {
			t.Errorf("half a write leaves %v, error %v", got, err)
		}
	}
}
