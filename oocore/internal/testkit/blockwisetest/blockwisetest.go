// Package blockwisetest runs an Op over arrays in memory, in boxes of any kind, and
// holds it to what it says of itself.
package blockwisetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Array is one in memory, dense in C order.
type Array struct {
	Shape []int
	DType dtype.Type
	Data  []byte
}

// Random returns an array of random bytes.
func Random(rng *rand.Rand, shape []int, t dtype.Type) Array {
	a := Array{Shape: shape, DType: t, Data: make([]byte, grid.Size(shape)*t.Size())}
	for i := range a.Data {
		a.Data[i] = byte(rng.Uint32())
	}
	return a
}

// Fill computes the whole result of an Op in boxes of the given lengths (nil: its own
// Chunks, or one box) and fails the test where it reads more at once than it needs,
// reads outside of an input, or writes outside of its box.
func Fill(t testing.TB, op blockwise.Op, shape []int, dt dtype.Type, lengths []int, in ...Array) []byte {
	t.Helper()
	out, err := fill(t, op, shape, dt, lengths, in...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Try is Fill, and the error of the Op where it has one.
func Try(t testing.TB, op blockwise.Op, shape []int, dt dtype.Type, in ...Array) ([]byte, error) {
	t.Helper()
	return fill(t, op, shape, dt, nil, in...)
}

func fill(t testing.TB, op blockwise.Op, shape []int, dt dtype.Type, lengths []int, in ...Array) ([]byte, error) {
	t.Helper()
	if lengths == nil {
		lengths = blockwise.ChunksOf(op)
	}
	if lengths == nil {
		lengths = grid.Whole(shape).Chunks
	}
	size := dt.Size()
	out := make([]byte, grid.Size(shape)*size)
	clipped := make([]int, len(shape))
	for d := range shape {
		clipped[d] = max(min(lengths[d], shape[d]), 1)
	}
	need := op.Requirements(clipped)
	if len(need.Reads) != len(in) {
		t.Fatalf("it needs %d inputs and has %d", len(need.Reads), len(in))
	}
	for i := range in {
		if len(need.Reads[i]) != len(in[i].Shape) {
			t.Fatalf("it reads boxes of %v of input %d of shape %v", need.Reads[i], i, in[i].Shape)
		}
	}
	const guard = 64
	for _, box := range (grid.Grid{Shape: shape, Chunks: clipped}).All() {
		dst := bytes.Repeat([]byte{0xA5}, box.Size()*size+guard)
		scratch := make([]byte, need.Scratch+guard)
		for i := range scratch {
			scratch[i] = byte(rand.Uint32())
		}
		copy(scratch[need.Scratch:], bytes.Repeat([]byte{0xA5}, guard))
		task := &blockwise.Task{Box: box, Dst: dst[: box.Size()*size : box.Size()*size], Scratch: scratch[:need.Scratch:need.Scratch], Do: func(f func() error) error { return f() }}
		for i := range in {
			task.In = append(task.In, &input{t: t, array: in[i], most: need.Reads[i], n: i, ahead: map[string]bool{}})
		}
		if err := op.Fill(t.Context(), task); err != nil {
			return nil, fmt.Errorf("box %v: %w", box, err)
		}
		for _, in := range task.In {
			for asked := range in.(*input).ahead {
				t.Errorf("box %v: it says that it will read %s of input %d, and does not", box, asked, in.(*input).n)
			}
		}
		if !bytes.Equal(dst[box.Size()*size:], bytes.Repeat([]byte{0xA5}, guard)) || !bytes.Equal(scratch[need.Scratch:], bytes.Repeat([]byte{0xA5}, guard)) {
			t.Fatalf("box %v: it wrote beyond its memory", box)
		}
		copyBox(out, shape, dst, box, size)
	}
	return out, nil
}

// Same computes the result in many kinds of boxes and as its JSON says, and fails the
// test where any differs from that of one box. Ops with Chunks have the one kind. It
// returns the result.
func Same(t testing.TB, op blockwise.Op, shape []int, dt dtype.Type, in ...Array) []byte {
	t.Helper()
	want := Fill(t, op, shape, dt, nil, in...)
	text, err := json.Marshal(blockwise.Value{Op: op})
	if err != nil {
		t.Fatal(err)
	}
	var back blockwise.Value
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.Op, op) {
		t.Fatalf("%#v came back from JSON as %#v", op, back.Op)
	}
	for try := range 6 {
		lengths := make([]int, len(shape))
		for d, n := range shape {
			lengths[d] = 1 + rand.IntN(max(n, 1))
			if try == 0 {
				lengths[d] = min(2, max(n, 1))
			}
		}
		if blockwise.ChunksOf(op) != nil {
			lengths = nil
		}
		if got := Fill(t, back.Op, shape, dt, lengths, in...); !bytes.Equal(got, want) {
			t.Fatalf("in boxes of %v the result of %s is another than in one", lengths, text)
		}
	}
	return want
}

type input struct {
	t     testing.TB
	array Array
	most  []int
	n     int
	ahead map[string]bool // boxes that it said it will read, and did not yet
}

func (in *input) WillRead(box grid.Box) { in.ahead[box.String()] = true }

func (in *input) Read(_ context.Context, box grid.Box, dst []byte) error {
	in.t.Helper()
	delete(in.ahead, box.String())
	for d, n := range box.Shape {
		if n > in.most[d] || box.Start[d] < 0 || box.Start[d]+n > in.array.Shape[d] {
			return fmt.Errorf("it reads %v of input %d of shape %v, and needs boxes of %v at most", box, in.n, in.array.Shape, in.most)
		}
	}
	size := in.array.DType.Size()
	if len(dst) != box.Size()*size {
		return fmt.Errorf("it reads %v of input %d into %d bytes", box, in.n, len(dst))
	}
	walk(in.array.Shape, box, size, func(at, off, n int) { copy(dst[off:off+n], in.array.Data[at:at+n]) })
	return nil
}

func copyBox(out []byte, shape []int, src []byte, box grid.Box, size int) {
	walk(shape, box, size, func(at, off, n int) { copy(out[at:at+n], src[off:off+n]) })
}

// walk visits the rows of a box: at is each one's place in the array, off in the box.
func walk(shape []int, box grid.Box, size int, row func(at, off, n int)) {
	if box.Size() == 0 {
		return
	}
	strides := grid.Strides(shape)
	one := slices.Repeat([]int{1}, len(shape))
	run := 1
	if len(shape) > 0 {
		run = box.Shape[len(shape)-1]
		one[len(one)-1] = run
	}
	off := 0
	for b := range box.Split(one) {
		at := 0
		for d := range b.Start {
			at += b.Start[d] * strides[d]
		}
		row(at*size, off, run*size)
		off += run * size
	}
}
