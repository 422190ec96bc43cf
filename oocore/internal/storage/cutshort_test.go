package storage

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// openZeros opens an array of rows × 4096 bytes, and returns its file.
func openZeros(t *testing.T, rows int) (*Flat, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.bin")
	testcases.WriteFile(t, file, make([]byte, rows*4096), 0o644)
	opened, err := OpenExtent(t.Context(), file, file, "raw", func(io.ReaderAt, int64) (store.Extent, error) {
		return store.Extent{Shape: []int{2000, 4096}, DType: dtype.Uint8}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a := opened.(*Flat)
	t.Cleanup(func() { a.Close() })
	return a, file
}

func TestFileThatIsCutShortOrChanged(t *testing.T) {
	column := grid.Region{Start: []int{0, 7}, Count: []int{2000, 1}, Step: []int{1, 1}}
	rows := grid.Region{Start: []int{0, 0}, Count: []int{2000, 4096}, Step: []int{1, 1}}
	for name, r := range map[string]grid.Region{"mapped": column, "read": rows} {
		t.Run(name, func(t *testing.T) {
			a, file := openZeros(t, 2000)
			dst := make([]byte, r.Size())
			if err := os.Truncate(file, 1000*4096); err != nil {
				t.Fatal(err)
			}
			if err := a.Read(t.Context(), dst, r); !errors.Is(err, store.ErrCutShort) {
				t.Errorf("cut short before the read: %v", err)
			}
			// The same after the read's own check of the size.
			l, err := strided.Of(a.info.Shape, 1, r)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.shared.fill(t.Context(), dst, l); !errors.Is(err, store.ErrCutShort) {
				t.Errorf("cut short during the read: %v", err)
			}
			if old := debug.SetPanicOnFault(false); old {
				t.Error("the goroutine still panics on faults")
			}
			if err := os.Truncate(file, 3000*4096); err != nil {
				t.Fatal(err)
			}
			if err := a.Read(t.Context(), dst, r); !errors.Is(err, store.ErrChanged) {
				t.Errorf("grown: %v", err)
			}
		})
	}
	t.Run("overwritten", func(t *testing.T) {
		a, file := openZeros(t, 2000)
		if err := os.Chtimes(file, time.Time{}, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if err := a.Read(t.Context(), make([]byte, 2000), column); !errors.Is(err, store.ErrChanged) {
			t.Errorf("overwritten: %v", err)
		}
	})
}

// TestWindow compares both ways of reading, at distances on either side of
// where they change places.
func TestWindow(t *testing.T) {
	a, file := openZeros(t, 2000)
	data := make([]byte, 2000*4096)
	for i := range data {
		data[i] = byte(i ^ i>>8 ^ i>>16)
	}
	testcases.WriteFile(t, file, data, 0o644)
	for _, r := range []grid.Region{
		{Start: []int{1999, 4095}, Count: []int{2000, 5}, Step: []int{-1, -3}},
		{Start: []int{0, 1}, Count: []int{2000, 4095}, Step: []int{1, 1}},
		{Start: []int{3, 0}, Count: []int{60, 2048}, Step: []int{33, 2}},
		{Start: []int{1900, 4}, Count: []int{60, 3}, Step: []int{-31, 1}},
	} {
		l, err := strided.Of(a.info.Shape, 1, r)
		if err != nil {
			t.Fatal(err)
		}
		got, mapped := make([]byte, l.Bytes()), make([]byte, l.Bytes())
		if err := errors.Join(a.shared.fill(t.Context(), got, l), a.shared.window(mapped, l)); err != nil {
			t.Fatal(err)
		}
		i := 0
		for row := range r.Count[0] {
			for col := range r.Count[1] {
				want := data[(r.Start[0]+row*r.Step[0])*4096+r.Start[1]+col*r.Step[1]]
				if got[i] != want || mapped[i] != want {
					t.Fatalf("region %+v, element %d: read %d, mapped %d, want %d", r, i, got[i], mapped[i], want)
				}
				i++
			}
		}
	}
}
