package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/exec/checkpoint"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/receipt"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/internal/strided"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// mostData bounds the elements in a plan that a receipt holds: it is encoded in memory that no budget has.
const mostData = 1 << 20

// portable is the plan for a receipt, encoded, as it is in any folder of this machine; nil where it cannot leave this process, and
// where arrays of it lie in this process's memory that are not small.
func (j *Job) portable() []byte {
	p := *j.Plan.Plan
	p.Arrays = slices.Clone(p.Arrays)
	data := 0
	for i := range p.Arrays {
		if data += len(p.Arrays[i].Data); data > mostData {
			return nil
		}
		if a := &p.Arrays[i]; a.Place == plan.InFile || a.Place == plan.InResult {
			path, err := storage.Absolute(a.Path)
			if err != nil {
				return nil
			}
			a.Path = path
		}
	}
	encoded, err := p.Encode()
	if err != nil {
		return nil
	}
	return encoded
}

// Recompute verifies an array, and computes a share of its parts, or of what all tasks make together that part, anew from the
// inputs. The parts are taken at random.
func (o *Options) Recompute(ctx context.Context, path, file string, share float64) (v *types.Verification, err error) {
	r, err := receipt.Find(path, file)
	if err != nil {
		return nil, err
	}
	v, err = r.Verify(ctx)
	if err != nil || v.Unknown == r.Grid.Len() {
		return v, err
	}
	sound := r.Sound(v)
	n := min(max(int(share*float64(r.Grid.Len())+0.5), 1), sound.Len())
	if n == 0 {
		return v, nil
	}
	var tasks checkpoint.Tasks
	all := slices.Collect(sound.All())
	for _, i := range rand.Perm(len(all))[:n] {
		tasks.Add(all[i], 1)
	}
	a, err := store.OpenContext(ctx, path)
	if err != nil {
		return nil, err
	}
	defer a.Close() // it was only read
	same, err := newSameWriter(a, r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, same.end()) }()
	held := *o
	held.Held += same.bytes()
	j, err := held.jobOf(ctx, r)
	if err != nil {
		return nil, err
	}
	j.env.Create = func(string, store.Meta) (store.Writer, error) { return same, nil }
	j.env.Checkpoint = checkpoint.Temporary(j.Plan.Plan)
	if s := j.last(); j.Plan.Stages[s].Kind == plan.MapStage {
		j.env.Checkpoint = checkpoint.Sample(j.Plan.Plan, s, tasks)
	}
	if _, err := cancellable(unchanged(shared(when(o.Progress != nil, compute, o.Progress.watched))))(ctx, j); err != nil {
		return nil, err
	}
	v.Recomputed = n
	if v.Changed = r.Changed(j.inputs); r.File == "" {
		v.Changed = nil
	}
	for task := range same.differ.All() {
		if len(v.Changed) > 0 {
			v.Unknown++
			continue
		}
		v.Damaged = append(v.Damaged, r.Grid.Box(task))
		v.Faults = append(v.Faults, "computed anew from the inputs it is another")
	}
	return v, nil
}

// Repair verifies an array, and computes again what is damaged. The rest of it is taken over, as by an update, and
// the array appears whole or not at all.
func (o *Options) Repair(ctx context.Context, path, file string) (*types.Verification, error) {
	r, err := receipt.Find(path, file)
	if err != nil {
		return nil, err
	}
	if r.Path != r.Place {
		return nil, fmt.Errorf("%s is the receipt of %s, which is what can be repaired", file, r.Path)
	}
	v, err := r.Verify(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, receipt.ErrNone):
		return nil, err
	case err != nil: // nothing of it can be read
		v = &types.Verification{Unknown: r.Grid.Len()}
	case v.Whole():
		return v, nil
	}
	j, err := o.jobOf(ctx, r)
	if err != nil {
		return nil, err
	}
	sound := r.Sound(v)
	lost := checkpoint.All(r.Grid.Len()).Without(sound)
	j.repair = func(ctx context.Context) error { return j.takeOver(ctx, r, sound) }
	j.onCheck(func(context.Context) error { return j.madeAgain(r, lost) })
	if _, err := cancellable(unchanged(remembered(o.executed(true))))(ctx, j); err != nil {
		return nil, err
	}
	if v, err = r.Again(ctx, lost); err != nil {
		return nil, err
	}
	v.Chunks = r.Grid.Len()
	for task := range lost.All() {
		v.Repaired = append(v.Repaired, r.Grid.Box(task))
	}
	return v, nil
}

// jobOf is the job of the plan of a receipt, where the same comes out of it as when the receipt was made.
func (o *Options) jobOf(ctx context.Context, r *receipt.Receipt) (*Job, error) {
	p, err := r.Plan()
	if err != nil {
		return nil, err
	}
	if r.File != "" {
		if err := replant(ctx, p); err != nil {
			return nil, err
		}
	}
	j := &Job{limits: machine.Read()}
	if j.inputs, err = versions(ctx, p, nil, nil); err != nil {
		return nil, fmt.Errorf("%s cannot be computed anew: %w", r.Place, err)
	}
	if changed := r.Changed(j.inputs); r.File == "" && len(changed) > 0 {
		return nil, fmt.Errorf("%s cannot be computed anew: %s has changed since", r.Place, strings.Join(changed, ", "))
	}
	if j.print = p.Fingerprint("", j.inputs); j.print.Arithmetic != r.Fingerprint.Arithmetic {
		return nil, fmt.Errorf("%s cannot be computed anew: it was computed with another BLAS library, or on another processor, which round in another way", r.Place)
	}
	return j, o.memory(j.limits).fit(j, p)
}

// replant has a plan that was made elsewhere read the inputs that are here.
func replant(ctx context.Context, p *plan.Plan) error {
	for i := range p.Arrays {
		a := &p.Arrays[i]
		if a.Place != plan.InFile {
			continue
		}
		stored, err := storage.Reopen(ctx, a.Path)
		if err != nil {
			return err
		}
		info := stored.Info()
		if err := stored.Close(); err != nil {
			return err
		}
		if grid.Size(info.Shape) != grid.Size(a.Shape) || info.DType != a.DType {
			return fmt.Errorf("%s is %s of shape %s, where %s of shape %s was read: it is another array", a.Path, info.DType, grid.Format(info.Shape), a.DType, grid.Format(a.Shape))
		}
		a.Chunks, a.Open, a.Work, a.Codec, a.Index, a.ID = info.Chunks, info.Open, info.Work, info.Codec, info.IndexBytes, info.ID
	}
	return nil
}

// takeOver begins a repair with what is as it was written. Where that fails, all is computed.
func (j *Job) takeOver(ctx context.Context, r *receipt.Receipt, sound checkpoint.Tasks) error {
	s := j.last()
	if len(sound) == 0 || j.Plan.Stages[s].Kind != plan.MapStage {
		return nil
	}
	if err := j.adopt(ctx, sound); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	return j.env.Checkpoint.Adopt(s, sound, func(each func(checkpoint.Trace) bool) error {
		return receipt.EachTrace(&r.Entry, func(t checkpoint.Trace) bool { return t.Stage != s || !sound.Has(t.Task) || each(t) })
	})
}

// madeAgain returns an error, before the array is put in its place, where other elements were computed than the receipt tells.
// Those written in another order, as within another budget, are compared when they are there.
func (j *Job) madeAgain(r *receipt.Receipt, lost checkpoint.Tasks) error {
	from, to := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := j.env.Checkpoint.Traces(to)
		written <- errors.Join(err, to.Close())
	}()
	other := -1
	err := checkpoint.EachTrace(from, func(t checkpoint.Trace) bool {
		if t.Stage == j.last() && lost.Has(t.Task) && r.Differs(&t) {
			other = t.Task
		}
		return true
	})
	err = errors.Join(err, from.Close(), <-written)
	if err == nil && other >= 0 {
		err = fmt.Errorf("chunk %s of %s, computed anew, is not what the receipt tells: an input was changed without a trace of it, or the receipt was", r.Grid.Box(other), r.Place)
	}
	return err
}

// sameWriter compares what is written to it with a stored array.
type sameWriter struct {
	info  store.Info
	piece []int // what is compared at once
	of    func(start []int) (part int)
	read  func(ctx context.Context, dst []byte, r grid.Region) error
	end   func() error

	mu          sync.Mutex
	made, there []byte // a piece
	differ      checkpoint.Tasks
}

func newSameWriter(a store.Array, r *receipt.Receipt) (w *sameWriter, err error) {
	const pieceBytes = 1 << 20 // of an array without chunks
	w = &sameWriter{info: a.Info(), of: r.At}
	if w.piece = w.info.Chunks; w.info.Work.Whole == 0 || w.piece == nil {
		w.piece = grid.Auto(w.info.Shape, w.info.DType.Size(), pieceBytes)
	}
	n := w.pieceBytes()
	w.made, w.there = make([]byte, n), make([]byte, n)
	w.read, w.end, err = receipt.Reader(a)
	return w, err
}

func (w *sameWriter) pieceBytes() int { return grid.Size(w.piece) * w.info.DType.Size() }

// bytes is the memory that comparing takes.
func (w *sameWriter) bytes() int64 {
	return int64(2*w.pieceBytes()) + max(w.info.Work.Whole, w.info.Work.Stream)
}

// Write compares a box.
func (w *sameWriter) Write(ctx context.Context, src []byte, b types.Box) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := w.info.DType.Size()
	for part := range b.Align(nil, w.piece) {
		n := part.Size() * size
		strided.Copy(size, part, w.made, part, src, b)
		if err := w.read(ctx, w.there[:n], part.Region()); err != nil {
			return err
		}
		if !bytes.Equal(w.made[:n], w.there[:n]) {
			w.differ.Add(w.of(part.Start), 1)
		}
	}
	return nil
}

// Session is for what is written in chunks.
func (w *sameWriter) Session([]byte) (store.WriteSession, error) { return sameSession{w}, nil }

// Sync does nothing: nothing is stored.
func (w *sameWriter) Sync(context.Context) error { return nil }

// Commit does nothing.
func (w *sameWriter) Commit(context.Context) error { return nil }

// Suspend does nothing.
func (w *sameWriter) Suspend() error { return nil }

// Abort does nothing.
func (w *sameWriter) Abort() error { return nil }

type sameSession struct{ w *sameWriter }

func (s sameSession) Write(ctx context.Context, src []byte, b types.Box) (int64, error) {
	return 0, s.w.Write(ctx, src, b)
}

// Encode is called where inputs come from an object store.
func (s sameSession) Encode(ctx context.Context, _, src []byte, b types.Box) (put func(context.Context) error, stored int64, err error) {
	return nil, 0, s.w.Write(ctx, src, b)
}

func (s sameSession) Close() error { return nil }

// copyParts begins a new array that has no chunks with what tasks have made of the one in its place.
func (j *Job) copyParts(ctx context.Context, w store.Writer, kept checkpoint.Tasks) (err error) {
	d, s := &j.Plan.Arrays[j.Plan.Output], &j.Plan.Stages[j.last()]
	if d.Layout.Unit != nil {
		return errors.Join(errors.ErrUnsupported, w.Abort())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Abort())
		}
	}()
	a, err := store.OpenContext(ctx, d.Path)
	if err != nil {
		return err
	}
	defer a.Close() // it was only read
	const pieceBytes = 1 << 20
	piece := grid.Auto(d.Shape, d.DType.Size(), pieceBytes)
	buf := make([]byte, grid.Size(piece)*d.DType.Size())
	for task := range kept.All() {
		for b := range s.Grid.Box(task).Align(nil, piece) {
			part := buf[:b.Size()*d.DType.Size()]
			if err := errors.Join(a.Read(ctx, part, b.Region()), w.Write(ctx, part, b)); err != nil {
				return err
			}
		}
	}
	if err := w.Sync(ctx); err != nil {
		return err
	}
	return w.Suspend()
}
