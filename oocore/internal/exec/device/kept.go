package device

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// Resident is memory of a device that outlives a stage.
type Resident interface {
	// Free gives the memory back. No stage that was told of it may be open.
	Free() error
}

// KeptInputs are panels of operands that stay on a device between the runs of an
// algorithm, so that what every run reads crosses the link once. One run at a time uses
// them. The zero value has none.
type KeptInputs struct {
	using sync.Mutex // held by the run that uses them

	mu     sync.Mutex // of what follows
	panels map[keptPanel]*ResidentPanel
	bytes  size.Kept // reserved, by operand
	full   bool      // the device was out of memory: nothing more becomes resident
}

// keptPanel names a panel of an operand.
type keptPanel struct{ operand, region string }

// ResidentPanel is a panel that stays on the device.
type ResidentPanel struct {
	At     Resident
	filled bool // its elements are there, or on their way in front of all that uses them
}

// Use reports whether a run may use the resident panels, and returns a function that ends the
// use. A run that is active at the same time does without them.
func (k *KeptInputs) Use() (end func(), ok bool) {
	if !k.using.TryLock() {
		return nil, false
	}
	return k.using.Unlock, true
}

// Plan returns the resident bytes for the plan of the next run; nil where none will be.
func (k *KeptInputs) Plan() size.Kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.full {
		return nil
	}
	all := size.Kept{}
	maps.Copy(all, k.bytes)
	return all
}

// Total is the bytes of the device that are taken.
func (k *KeptInputs) Total() (n int64) {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, bytes := range k.bytes {
		n += bytes
	}
	return n
}

// Panel returns the resident memory of a panel of so many bytes; nil where it gets none. It
// reports whether the panel is filled; if not, the caller fills it and then calls filled.
func (k *KeptInputs) Panel(d Device, declared size.KeptOperand, region string, bytes int64) (p *ResidentPanel, there bool, err error) {
	if k == nil || declared.Name == "" || bytes == 0 {
		return nil, false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := keptPanel{declared.Name, region}
	if p := k.panels[key]; p != nil {
		if !p.filled { // another operand of the same elements is being filled
			return nil, false, nil
		}
		return p, true, nil
	}
	n := arena.Reserved(bytes)
	if k.full || k.bytes[declared.Name]+n > declared.Bytes {
		return nil, false, nil
	}
	at, err := d.Keep(bytes)
	if errors.Is(err, ErrMemory) {
		k.full = true
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if k.panels == nil {
		k.panels, k.bytes = map[keptPanel]*ResidentPanel{}, size.Kept{}
	}
	p = &ResidentPanel{At: at}
	k.panels[key] = p
	k.bytes[declared.Name] += n
	return p, false, nil
}

// Fill says that a panel's elements are on their way.
func (k *KeptInputs) Fill(p *ResidentPanel) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p.filled = true
}

// Drop gives all memory back.
func (k *KeptInputs) Drop() (err error) {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.panels {
		err = errors.Join(err, p.At.Free())
	}
	k.panels, k.bytes = nil, nil
	if err != nil {
		err = fmt.Errorf("inputs that stayed on the device: %w", err)
	}
	return err
}

// GiveUp is Drop for a device that is out of memory: nothing more becomes resident on it.
func (k *KeptInputs) GiveUp() error {
	k.mu.Lock()
	k.full = true
	k.mu.Unlock()
	return k.Drop()
}
