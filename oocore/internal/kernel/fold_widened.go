package kernel

import (
	"sync"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// widened folds elements after converting them to a wider type, a few at a
// time.
type widened struct {
	Folder
	size  int // of a narrow element
	wide  int // of a wide one
	widen Func
	// narrow converts results back; nil where they have the wide folder's type.
	narrow Func
}

// widenedBytes holds several rows of a usual block, so that variances are joined
// seldom.
const widenedBytes = 64 << 10

var widenedBlocks = sync.Pool{New: func() any { return new([widenedBytes]byte) }}

func newWidened(r Reduction, t, wide dtype.Type) (Folder, bool) {
	inner, ok := NewFolder(r, wide)
	if !ok {
		return nil, false
	}
	w := &widened{Folder: inner, size: t.Size(), wide: wide.Size()}
	w.widen, ok = Cast(t, wide)
	if t == dtype.Bool {
		w.widen = widenBool
	}
	if ok && r.Result(t) != r.Result(wide) {
		w.narrow, ok = Cast(r.Result(wide), r.Result(t))
	}
	return w, ok
}

func (w *widened) Rows(state []byte, n, off int, x []byte, rows, cols int, first int64) {
	w.blocks(x, rows, cols, func(block []byte, r, c, h, k int) {
		w.Folder.Rows(state, n, off+r, block, h, k, first+int64(c))
	})
}

func (w *widened) Cols(state []byte, n, off int, x []byte, rows, cols int, first, step int64) {
	w.blocks(x, rows, cols, func(block []byte, r, c, h, k int) {
		w.Folder.Cols(state, n, off+c, block, h, k, first+int64(r)*step, step)
	})
}

// blocks widens h rows of k elements at a time: whole rows where they fit, else parts of one.
func (w *widened) blocks(x []byte, rows, cols int, fold func(block []byte, r, c, h, k int)) {
	block := widenedBlocks.Get().(*[widenedBytes]byte)
	defer widenedBlocks.Put(block)
	most := widenedBytes / w.wide
	height, length := 1, min(cols, most)
	if cols <= most {
		height = min(rows, most/max(cols, 1))
	}
	for r := 0; r < rows; r += height {
		for c := 0; c == 0 || c < cols; c += length {
			h, k := min(height, rows-r), min(length, cols-c)
			w.widen(h*k, block[:], x[(r*cols+c)*w.size:], nil, nil)
			fold(block[:], r, c, h, k)
			if length == 0 {
				break
			}
		}
	}
}

// Finish lets the wide results take the place of the state, which is no
// smaller, and converts them from there.
func (w *widened) Finish(dst, state []byte, n int, count int64, ddof float64) {
	if w.narrow == nil {
		w.Folder.Finish(dst, state, n, count, ddof)
		return
	}
	w.Folder.Finish(state, state, n, count, ddof)
	w.narrow(n, dst, state, nil, nil)
}

// widenBool makes any byte but zero 1, in one pass.
func widenBool(n int, dst, a, _, _ []byte) {
	out := view[float64](dst, n)
	for i, v := range view[uint8](a, n) {
		out[i] = 0
		if v != 0 {
			out[i] = 1
		}
	}
}
