package blockwisetest

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Interrupted fills a random box of an Op's result, then is cancelled after some of its steps
// and resumes with nothing but the state: the elements and the steps that are left are the
// same. It fails the test where anything but a step changes the state, and where that has
// more bytes than the Op requires. It returns the number of steps.
func Interrupted(t testing.TB, rng *rand.Rand, op blockwise.Op, shape []int, dt dtype.Type, in ...Array) int {
	t.Helper()
	lengths := slices.Clone(blockwise.ChunksOf(op))
	for d, n := range shape {
		lengths[d] = min(lengths[d], n)
	}
	g := grid.Grid{Shape: shape, Chunks: lengths}
	box := g.Box(rng.IntN(g.Len()))
	need := op.Requirements(lengths)
	attempt := func(ctx context.Context, s *steps) ([]byte, error) {
		t.Helper()
		dst, words := make([]byte, box.Size()*dt.Size()), make([]uint64, need.Scratch/8+2)
		for i := range words {
			words[i] = rng.Uint64()
		}
		scratch := dtype.Bytes(words)[:need.Scratch]
		task := &blockwise.Task{Box: box, Dst: dst, Scratch: scratch, Saver: s, Do: func(f func() error) error {
			if s.within {
				t.Error("a step waits for a worker: cancelled then, it would have no state")
			}
			return f()
		}}
		for i := range in {
			task.In = append(task.In, &input{t: t, array: in[i], most: need.Reads[i], n: i})
		}
		err := op.Fill(ctx, task)
		if s.within {
			t.Fatal("a step has no end")
		}
		s.same("when the box was filled")
		return dst, err
	}
	whole := &steps{t: t, most: need.State}
	want, err := attempt(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		first := &steps{t: t, most: need.State, last: 1 + rng.IntN(whole.done), cancel: cancel}
		if _, err := attempt(ctx, first); !errors.Is(err, context.Canceled) || first.done != first.last {
			t.Fatalf("cancelled in step %d of %d it did %d, and gave %v", first.last, whole.done, first.done, err)
		}
		second := &steps{t: t, most: need.State, first: first.last, saved: first.bytes()}
		got, err := attempt(t.Context(), second)
		if err != nil {
			t.Fatalf("after step %d of %d: %v", first.last, whole.done, err)
		}
		if second.done != whole.done || second.count != whole.done-first.last {
			t.Errorf("resumed after step %d it did %d steps, to number %d of %d", first.last, second.count, second.done, whole.done)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("resumed after step %d of %d the result is another", first.last, whole.done)
		}
	}
	return whole.done
}

// steps is the Saver of one attempt.
type steps struct {
	t      testing.TB
	most   int64  // bytes of a state
	first  int    // steps that are done before
	saved  []byte // the state after these
	last   int    // the step in which cancel is called
	cancel func()

	state  blockwise.State
	done   int // the last step that was done
	count  int // steps that were done
	within bool
	sum    uint32 // of the state
}

func (s *steps) Restore(_ []int, state blockwise.State) int {
	s.state, s.done = state, s.first
	if s.first > 0 {
		if n := len(s.bytes()); n != len(s.saved) {
			s.t.Fatalf("the state after %d steps has %d bytes, and had %d", s.first, n, len(s.saved))
		}
		left := s.saved
		for _, part := range state(s.first) {
			left = left[copy(part, left):]
		}
		s.sum = crc32.ChecksumIEEE(s.saved)
	}
	return s.first
}

func (s *steps) Begin() {
	s.same("before a step")
	s.within = true
}

func (s *steps) End(step int) {
	s.within = false
	s.done, s.count = step, s.count+1
	b := s.bytes()
	if int64(len(b)) > s.most {
		s.t.Fatalf("the state after %d steps has %d bytes, and %d are required", step, len(b), s.most)
	}
	if s.sum = crc32.ChecksumIEEE(b); step == s.last {
		s.cancel()
	}
}

// same fails the test where the state has changed since the last step.
func (s *steps) same(when string) {
	if s.done > 0 && crc32.ChecksumIEEE(s.bytes()) != s.sum {
		s.t.Errorf("the state after %d steps had changed %s", s.done, when)
	}
}

func (s *steps) bytes() []byte { return bytes.Join(s.state(s.done), nil) }
