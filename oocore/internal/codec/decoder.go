package codec

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// mode is what a Decoder's or an Encoder's memory is laid out for.
type mode uint8

const (
	unset mode = iota
	wholeMode
	streamMode
	heldMode // a stream of a codec that only does whole chunks
)

// Decoder decodes one chunk after the other.
type Decoder struct {
	p    *Pipeline
	work []byte
	mode mode

	// Whole chunks.
	encoded []byte
	steps   []decodeStep // in the order of decoding
	unmoved []byte       // the elements before their axes are put in order

	// Streams.
	in       window
	readers  []reader  // the outermost first
	top      io.Reader // the last of them
	held     []byte    // the whole chunk, in heldMode, and its encoded size
	heldSize int64
	left     int64 // bytes of the chunk that Next has not given yet; -1 after an error
}

// enough rejects memory that is too little for a mode; of unset for any.
func (p *Pipeline) enough(what string, need Work, m mode, work []byte) error {
	bytes := need.Stream
	switch m {
	case unset:
		bytes = min(need.Whole, need.Stream)
	case wholeMode:
		bytes = need.Whole
	}
	if int64(len(work)) < bytes {
		return fmt.Errorf("%s %s takes %d bytes of memory, not %d", what, p, bytes, len(work))
	}
	return nil
}

// decodeStep undoes one filter.
type decodeStep struct {
	filter  filter
	decoder decoder
	out     []byte // where to; nil for the decoded chunk, and for checksums
}

// trimmer is a decoder whose result is a part of its input.
type trimmer interface {
	trim(src []byte) ([]byte, error)
}

// Decoder prepares to decode with at least DecodeWork().Stream bytes; Whole needs
// DecodeWork().Whole.
func (p *Pipeline) Decoder(work []byte) (*Decoder, error) {
	if err := p.enough("decoding", p.DecodeWork(), unset, work); err != nil {
		return nil, err
	}
	return &Decoder{p: p, work: work, left: -1}, nil
}

// decodeMemory is what whole chunks take, with their axes in the order of a stream.
func (p *Pipeline) decodeMemory() memory {
	if len(p.filters) == 0 {
		return memory{}
	}
	m := memory{arena: room(p.MaxEncoded())}
	for i, f := range p.filters {
		m = m.add(f.decodeMemory(p.after(i - 1)))
		if _, checksum := f.(trimmer); i > 0 && !checksum {
			m.arena += room(p.after(i - 1))
		}
	}
	return m
}

// prepareWhole lays out memory for whole chunks.
func (d *Decoder) prepareWhole(work []byte) error {
	c := cutter{work}
	if len(d.p.filters) > 0 {
		d.encoded = c.cut(d.p.MaxEncoded())
	}
	for i := len(d.p.filters) - 1; i >= 0; i-- {
		f, n := d.p.filters[i], d.p.after(i-1)
		step := decodeStep{filter: f}
		if _, checksum := f.(trimmer); i > 0 && !checksum {
			step.out = c.cut(n)
		}
		var err error
		if step.decoder, err = f.decoder(n, c.cut(f.decodeMemory(n).arena)); err != nil {
			return codecError(f, err)
		}
		d.steps = append(d.steps, step)
	}
	return nil
}

// turn changes what the memory is laid out for.
func (d *Decoder) turn(m mode) error {
	if d.mode == m {
		return nil
	}
	d.Close()
	if err := d.p.enough("decoding", d.p.DecodeWork(), m, d.work); err != nil {
		return err
	}
	d.mode = m
	work := d.work
	switch {
	case m == streamMode:
		return d.prepareStream()
	case m == heldMode:
		c := cutter{work}
		d.held = c.cut(d.p.raw)
		work = c.rest
	case d.p.moved:
		c := cutter{work}
		d.unmoved = c.cut(d.p.raw)
		work = c.rest
	}
	return d.prepareWhole(work)
}

// Whole decodes a chunk into dst: dense, in C order, in this machine's byte order.
// It returns the number of encoded bytes that it read. Checksums are verified.
func (d *Decoder) Whole(ctx context.Context, dst []byte, src Source) (int64, error) {
	return d.Get(dst, getter(ctx, src))
}

// Getter reads a whole encoded chunk to the beginning of p, and returns its size. Where
// that is more than len(p) it has read nothing.
type Getter func(p []byte) (int64, error)

// getter is that of a source.
func getter(ctx context.Context, src Source) Getter {
	return func(p []byte) (int64, error) {
		n := src.Size()
		if n > int64(len(p)) {
			return n, nil
		}
		return n, src.ReadAt(ctx, p[:n], 0)
	}
}

// Get is Whole of a chunk whose size shows only when it is read.
func (d *Decoder) Get(dst []byte, get Getter) (int64, error) {
	d.left = -1
	if int64(len(dst)) != d.p.raw {
		return 0, fmt.Errorf("a chunk of %d bytes does not go into %d", d.p.raw, len(dst))
	}
	if err := d.turn(wholeMode); err != nil {
		return 0, err
	}
	to := dst
	if d.p.moved {
		to = d.unmoved
	}
	read, err := d.decode(to, get)
	if err != nil {
		return read, err
	}
	if d.p.swap > 0 {
		kernel.Swap(to, d.p.swap)
	}
	if d.p.moved {
		d.p.unmove(dst, to)
	}
	return read, nil
}

// Parts is Get of a chunk in blocks that can be decoded one by one: dst[from:to] is right after part(from, to), until the decoder is used
// again. part is nil where all of dst is right.
func (d *Decoder) Parts(dst []byte, get Getter) (part func(from, to int) error, err error) {
	if len(d.p.filters) != 1 || d.p.moved || d.p.swap > 0 {
		_, err := d.Get(dst, get)
		return nil, err
	}
	if err := d.turn(wholeMode); err != nil {
		return nil, err
	}
	by, ok := d.steps[0].decoder.(*bloscDecoder)
	if !ok || int64(len(dst)) != d.p.raw {
		_, err := d.Get(dst, get)
		return nil, err
	}
	d.left = -1
	data, err := d.fetch(d.encoded, get)
	if err != nil {
		return nil, err
	}
	if err := by.begin(dst, data); err != nil {
		return nil, codecError(d.p.filters[0], err)
	}
	if by.frame.nbytes != len(dst) {
		return nil, codecError(d.p.filters[0], d.p.sizeError(int64(by.frame.nbytes)))
	}
	return func(from, to int) error {
		if err := by.part(from, to); err != nil {
			return codecError(d.p.filters[0], err)
		}
		return nil
	}, nil
}

// fetch reads an encoded chunk to a buffer.
func (d *Decoder) fetch(to []byte, get Getter) ([]byte, error) {
	size, err := get(to)
	switch {
	case err != nil:
		return nil, err
	case len(d.steps) == 0 && size != d.p.raw:
		return nil, d.p.sizeError(size)
	case size > int64(len(to)):
		return nil, fmt.Errorf("%s: %d bytes are more than a chunk of %d bytes can have (%d)", d.p, size, d.p.raw, len(to))
	}
	return to[:size], nil
}

// decode reads a chunk and undoes its filters.
func (d *Decoder) decode(dst []byte, get Getter) (int64, error) {
	to := d.encoded
	if len(d.steps) == 0 {
		to = dst
	}
	data, err := d.fetch(to, get)
	if err != nil {
		return 0, err
	}
	size := int64(len(data))
	for i, s := range d.steps {
		var err error
		if t, ok := s.decoder.(trimmer); ok {
			if data, err = t.trim(data); err != nil {
				return size, codecError(s.filter, err)
			}
			if i == len(d.steps)-1 {
				if len(data) != len(dst) {
					return size, d.p.sizeError(int64(len(data)))
				}
				copy(dst, data)
			}
			continue
		}
		out := s.out
		if i == len(d.steps)-1 {
			out = dst
		}
		n, err := s.decoder.decode(out, data)
		if err != nil {
			return size, codecError(s.filter, err)
		}
		if i == len(d.steps)-1 && n != len(dst) {
			return size, codecError(s.filter, d.p.sizeError(int64(n)))
		}
		data = out[:n]
	}
	return size, nil
}

// sizeError says that a decoded chunk has another size.
func (p *Pipeline) sizeError(n int64) error {
	return fmt.Errorf("the chunk has %d bytes, not %d", n, p.raw)
}

// unmove copies elements from a stream's order of axes to C order.
func (p *Pipeline) unmove(dst, src []byte) {
	shape, from := p.strides()
	kernel.Copy(p.t.Size(), shape, dst, 0, grid.Strides(shape), src, 0, from)
}

// move is the reverse.
func (p *Pipeline) move(dst, src []byte) {
	shape, to := p.strides()
	kernel.Copy(p.t.Size(), shape, dst, 0, to, src, 0, grid.Strides(shape))
}

// strides are those of the chunk's axes in a stream.
func (p *Pipeline) strides() (shape, stride []int) {
	stride = make([]int, len(p.chunk))
	n := 1
	for i := len(p.order) - 1; i >= 0; i-- {
		stride[p.order[i]] = n
		n *= p.chunk[p.order[i]]
	}
	return p.chunk, stride
}

// readMemory is what streams take where every filter has them.
func (p *Pipeline) readMemory() memory {
	if len(p.filters) == 0 {
		return memory{}
	}
	m := memory{arena: room(windowSize)}
	for i, f := range p.filters {
		m = m.add(f.(streamer).readMemory(p.after(i - 1)))
	}
	return m
}

// prepareStream lays out memory for streams.
func (d *Decoder) prepareStream() error {
	c := cutter{d.work}
	if len(d.p.filters) > 0 {
		d.in.buf = c.cut(windowSize)
	}
	d.top = &d.in
	for i := len(d.p.filters) - 1; i >= 0; i-- {
		f, n := d.p.filters[i].(streamer), d.p.after(i-1)
		r, err := f.reader(n, c.cut(f.readMemory(n).arena))
		if err != nil {
			return codecError(f, err)
		}
		r = named{r, f}
		d.readers = append(d.readers, r)
		d.top = r
	}
	return nil
}

// Begin starts to decode a chunk as a stream.
func (d *Decoder) Begin(ctx context.Context, src Source) error {
	d.left = -1
	if !d.p.streams() {
		if err := d.turn(heldMode); err != nil {
			return err
		}
		var err error
		if d.heldSize, err = d.decode(d.held, getter(ctx, src)); err != nil {
			return err
		}
		if d.p.swap > 0 {
			kernel.Swap(d.held, d.p.swap)
		}
		d.left = d.p.raw
		return nil
	}
	if err := d.turn(streamMode); err != nil {
		return err
	}
	d.in.ctx = ctx
	d.in.reset(src)
	if len(d.p.filters) == 0 && d.in.size != d.p.raw {
		return d.p.sizeError(d.in.size)
	}
	if d.in.size > d.p.MaxEncoded() {
		return fmt.Errorf("%s: %d bytes are more than a chunk of %d bytes can have (%d)", d.p, d.in.size, d.p.raw, d.p.MaxEncoded())
	}
	below := input(&d.in)
	for i, r := range d.readers {
		n := int64(-1)
		if i == len(d.readers)-1 {
			n = d.p.raw
		}
		f := d.p.filters[len(d.p.filters)-1-i]
		if err := r.reset(below, n); err != nil {
			return said(f, err)
		}
		below = r
	}
	d.left = d.p.raw
	return nil
}

// Next fills p with the next elements of the stream: in the order of Order, in this
// machine's byte order. It returns the number of encoded bytes that it read. With
// the last element checksums are verified.
func (d *Decoder) Next(ctx context.Context, p []byte) (int64, error) {
	if d.left < int64(len(p)) || len(p)%d.p.t.Size() != 0 {
		return 0, errors.New("codec: read past the end of a chunk, after an error, or a part of an element")
	}
	if d.mode == heldMode {
		copy(p, d.held[d.p.raw-d.left:])
		d.left -= int64(len(p))
		if d.left == 0 {
			return d.heldSize, nil
		}
		return 0, nil
	}
	d.in.ctx = ctx
	before, left := d.in.total, d.left
	d.left = -1
	_, err := io.ReadFull(d.top, p)
	if err == nil && left == int64(len(p)) {
		err = d.finish()
	}
	if err != nil {
		return d.in.total - before, d.streamError(err)
	}
	if d.p.swap > 0 {
		kernel.Swap(p, d.p.swap)
	}
	d.left = left - int64(len(p))
	return d.in.total - before, nil
}

// finish makes sure that nothing follows the chunk, by which checksums behind it are
// verified.
func (d *Decoder) finish() error {
	var one [1]byte
	for i := range d.readers {
		r := d.readers[len(d.readers)-1-i]
		if _, err := r.ReadByte(); err == nil {
			return errMore
		} else if err != io.EOF {
			return err
		}
	}
	if n, _ := d.in.Read(one[:]); n > 0 {
		return errMore
	}
	return nil
}

var errMore = errors.New("there are more bytes than a chunk has")

// streamError is the error of a stream that has ended too early, or failed.
func (d *Decoder) streamError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = ErrShort
	}
	if len(d.p.filters) == 0 {
		return said(nil, err)
	}
	return said(d.p.filters[0], err)
}

// Close gives the libraries' memory back.
func (d *Decoder) Close() {
	for _, s := range d.steps {
		s.decoder.close()
	}
	for _, r := range d.readers {
		r.close()
	}
	*d = Decoder{p: d.p, work: d.work, left: -1}
}
