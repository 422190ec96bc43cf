package device

import (
	"context"
	"errors"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/exec/slots"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/vm"
	"github.com/gonbext/gonbext/oocore/record"
)

// rareTiles computes tiles that a device leaves to the CPU, one at a time: operands that it
// does not compute are rare.
type rareTiles struct {
	*Attempt
	slot *slots.Slot // of the registers

	mu      sync.Mutex
	machine *vm.Machine
	bytes   int64 // of the values of the tiles
}

// newRareTiles returns nil for a stage whose operands a device computes all.
func newRareTiles(o *Attempt) (*rareTiles, error) {
	if o.Stage.Buffers.Rare.Bytes() == 0 {
		return nil, nil
	}
	r := &rareTiles{Attempt: o, slot: slots.NewSlot(o.Run, o.Index, 0)}
	registers, err := r.slot.Alloc(o.Stage.Buffers.Rare)
	if err == nil {
		r.machine, err = vm.New(&o.Stage.Programs[0], registers[0], false)
	}
	if err != nil {
		return nil, errors.Join(err, r.slot.Free())
	}
	return r, nil
}

// close frees the registers, and records what was computed.
func (r *rareTiles) close() error {
	if r == nil {
		return nil
	}
	if r.bytes > 0 {
		r.Event(record.RareToCPU, r.bytes)
	}
	return r.slot.Free()
}

// compute computes the tile of a slot's set block by block. What is folded goes back to the
// device, so that the order of additions stays.
func (r *rareTiles) compute(ctx context.Context, w *streamer, set *stagingSet) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.machine.Tile(set.tile, set.in.Tile)
	r.bytes += int64(set.tile.Size()) * int64(w.size)
	first := 0
	for b := range set.tile.Split(r.Stage.Block) {
		n := b.Size()
		err := w.slot.Compute(ctx, func() error {
			var place []byte
			if w.sink != nil {
				place = set.out[first*w.size:]
			}
			if r.machine.Block(b, first, place); r.machine.Fails(n) {
				return ErrLeftToCPU // the stage in slots says what fails
			}
			return nil
		})
		if err == nil && w.shared != nil {
			err = r.fold(ctx, w, b)
		}
		if err != nil {
			return err
		}
		first += n
	}
	return nil
}

// fold lets the device fold the values of a block.
func (r *rareTiles) fold(ctx context.Context, w *streamer, b grid.Box) error {
	prog := &r.Stage.Programs[0]
	values := make([][]byte, len(r.Stage.Folds))
	for i := range values {
		k := r.Stage.FoldOut(i)
		values[i] = r.machine.Result(k)[:b.Size()*prog.Type(prog.Out[k]).Size()]
	}
	return r.Wait(ctx, w.slot, w.Work.Fold(w.slot.Index, b, values))
}
