package codec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/machine"
)

// Encoder encodes one chunk after the other.
type Encoder struct {
	p    *Pipeline
	work []byte
	mode mode

	// Whole chunks.
	laid  []byte // the elements as they are laid out before the filters
	steps []encodeStep

	// Streams.
	out     outlet
	writers []writer // of each filter, in the order of encoding
	swapped []byte   // a window of swapped elements
	held    []byte   // the whole chunk, in heldMode
	left    int64    // bytes of the chunk that Next did not get yet; -1 after an error
}

// encodeStep applies one filter.
type encodeStep struct {
	filter  filter
	encoder encoder
	out     []byte // where to; nil for a checksum, which follows what it is of
}

// Encoder prepares to encode with at least EncodeWork().Stream bytes; Whole needs
// EncodeWork().Whole.
func (p *Pipeline) Encoder(work []byte) (*Encoder, error) {
	if err := p.enough("encoding", p.EncodeWork(), unset, work); err != nil {
		return nil, err
	}
	return &Encoder{p: p, work: work, left: -1}, nil
}

// laidOut is whether elements are copied before they are encoded.
func (p *Pipeline) laidOut() bool { return p.moved || p.swap > 0 }

// follows is whether filter i is a checksum that is put behind what another filter
// made.
func (p *Pipeline) follows(i int) bool {
	if i == 0 || i >= len(p.filters) {
		return false
	}
	_, checksum := p.filters[i].(trimmer)
	return checksum
}

// outSize is the size of the buffer for filter i's result and the checksums behind it.
func (p *Pipeline) outSize(i int) int64 {
	for p.follows(i + 1) {
		i++
	}
	return p.after(i)
}

// encodeMemory is what whole chunks take that are laid out already.
func (p *Pipeline) encodeMemory() (m memory) {
	for i, f := range p.filters {
		m = m.add(f.encodeMemory(p.after(i - 1)))
		if !p.follows(i) {
			m.arena += room(p.outSize(i))
		}
	}
	return m
}

// turn changes what the memory is laid out for.
func (e *Encoder) turn(m mode) error {
	if e.mode == m {
		return nil
	}
	e.Close()
	if err := e.p.enough("encoding", e.p.EncodeWork(), m, e.work); err != nil {
		return err
	}
	e.mode = m
	c := cutter{e.work}
	switch {
	case m == streamMode:
		return e.prepareStream(c)
	case m == heldMode:
		e.held = c.cut(e.p.raw)
	case e.p.laidOut():
		e.laid = c.cut(e.p.raw)
	}
	for i, f := range e.p.filters {
		n := e.p.after(i - 1)
		step := encodeStep{filter: f}
		if !e.p.follows(i) {
			step.out = c.cut(e.p.outSize(i))[:0]
		}
		var err error
		if step.encoder, err = f.encoder(n, c.cut(f.encodeMemory(n).arena)); err != nil {
			return codecError(f, err)
		}
		e.steps = append(e.steps, step)
	}
	return nil
}

// Whole encodes a chunk, dense in C order. What it returns is valid until the next
// call, and src itself where there is nothing to do.
func (e *Encoder) Whole(ctx context.Context, src []byte) ([]byte, error) {
	e.left = -1
	if int64(len(src)) != e.p.raw {
		return nil, fmt.Errorf("a chunk has %d bytes, not %d", e.p.raw, len(src))
	}
	if err := e.turn(wholeMode); err != nil {
		return nil, err
	}
	switch {
	case e.p.moved:
		e.p.move(e.laid, src)
		src = e.laid
	case e.p.swap > 0:
		copy(e.laid, src)
		src = e.laid
	}
	if e.p.swap > 0 {
		kernel.Swap(src, e.p.swap)
	}
	return e.encode(ctx, src)
}

// encoding has as many places as there are cores. More chunks that are encoded at once
// push each other's tables out of the cache: six on two cores took 5 % to 20 % more
// cycles at zstd:3, the more the busier the machine was.
var encoding = sync.OnceValue(func() chan struct{} { return make(chan struct{}, machine.Cores()) })

// encode applies the filters.
func (e *Encoder) encode(ctx context.Context, data []byte) ([]byte, error) {
	if len(e.steps) > 0 {
		select {
		case encoding() <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() { <-encoding() }()
	}
	for _, s := range e.steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out := s.out
		if out == nil {
			out = data
		}
		var err error
		if data, err = s.encoder.encode(out[:cap(out)], data); err != nil {
			return nil, codecError(s.filter, err)
		}
	}
	return data, nil
}

// swapWindow is how many bytes of a stream are swapped at a time.
const swapWindow = 64 << 10

// writeMemory is what streams take where every filter has them.
func (p *Pipeline) writeMemory() (m memory) {
	if p.swap > 0 {
		m.arena += room(swapWindow)
	}
	for i, f := range p.filters {
		m = m.add(f.(streamer).writeMemory(p.after(i - 1)))
	}
	return m
}

// prepareStream lays out memory for streams.
func (e *Encoder) prepareStream(c cutter) error {
	if e.p.swap > 0 {
		e.swapped = c.cut(swapWindow)
	}
	for i, filter := range e.p.filters {
		f, n := filter.(streamer), e.p.after(i-1)
		w, err := f.writer(n, c.cut(f.writeMemory(n).arena))
		if err != nil {
			return codecError(f, err)
		}
		e.writers = append(e.writers, w)
	}
	return nil
}

// Begin starts to encode a chunk as a stream.
func (e *Encoder) Begin(ctx context.Context, dst Sink) error {
	e.left = -1
	m := streamMode
	if !e.p.streams() {
		m = heldMode
	}
	if err := e.turn(m); err != nil {
		return err
	}
	e.out.ctx = ctx
	e.out.reset(dst)
	below := io.Writer(&e.out)
	for i := len(e.writers) - 1; i >= 0; i-- {
		n := int64(-1)
		if i == 0 {
			n = e.p.raw
		}
		if err := e.writers[i].reset(below, n); err != nil {
			return said(e.p.filters[i], err)
		}
		below = e.writers[i]
	}
	e.left = e.p.raw
	return nil
}

// Next takes the next elements: dense, in the order of Order, in this machine's byte
// order.
func (e *Encoder) Next(ctx context.Context, p []byte) error {
	if e.left < int64(len(p)) || len(p)%e.p.t.Size() != 0 {
		return errors.New("codec: written past the end of a chunk, after an error, or a part of an element")
	}
	left := e.left
	e.left = -1
	e.out.ctx = ctx
	switch {
	case e.mode == heldMode:
		at := e.p.raw - left
		copy(e.held[at:], p)
		if e.p.swap > 0 {
			kernel.Swap(e.held[at:at+int64(len(p))], e.p.swap)
		}
	case e.p.swap > 0:
		for rest := p; len(rest) > 0; {
			part := e.swapped[:copy(e.swapped, rest)]
			rest = rest[len(part):]
			kernel.Swap(part, e.p.swap)
			if err := e.write(part); err != nil {
				return err
			}
		}
	default:
		if err := e.write(p); err != nil {
			return err
		}
	}
	e.left = left - int64(len(p))
	return nil
}

func (e *Encoder) write(p []byte) error {
	if len(e.writers) == 0 {
		_, err := e.out.Write(p)
		return said(nil, err)
	}
	_, err := e.writers[0].Write(p)
	return said(e.p.filters[0], err)
}

// End completes the chunk after its last element. It returns its encoded size.
func (e *Encoder) End(ctx context.Context) (int64, error) {
	if e.left != 0 {
		return 0, errors.New("codec: the chunk ends too early, or after an error")
	}
	e.left = -1
	e.out.ctx = ctx
	if e.mode == heldMode {
		data, err := e.encode(ctx, e.held)
		if err != nil {
			return 0, err
		}
		_, err = e.out.Write(data)
		return e.out.size, said(nil, err)
	}
	for i, w := range e.writers {
		if err := w.end(); err != nil {
			return 0, said(e.p.filters[i], err)
		}
	}
	return e.out.size, nil
}

// Close gives the libraries' memory back.
func (e *Encoder) Close() {
	for _, s := range e.steps {
		s.encoder.close()
	}
	for _, w := range e.writers {
		w.close()
	}
	*e = Encoder{p: e.p, work: e.work, left: -1}
}

// same is whether two slices begin at the same byte.
func same(a, b []byte) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }
