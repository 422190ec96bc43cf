package hdf5

import (
	"errors"
	"fmt"
)

// The kinds of messages of an object that are read.
const (
	msgDataspace    = 0x01
	msgLinkInfo     = 0x02
	msgDatatype     = 0x03
	msgOldFill      = 0x04
	msgFill         = 0x05
	msgLink         = 0x06
	msgExternal     = 0x07
	msgLayout       = 0x08
	msgGroupInfo    = 0x0a
	msgFilters      = 0x0b
	msgAttribute    = 0x0c
	msgContinuation = 0x10
	msgSymbolTable  = 0x11
	msgDriver       = 0x14
	msgAttributes   = 0x15
	msgLast         = 0x18 // of the kinds that there are
)

// message is a part of an object's header.
type message struct {
	kind int
	body []byte
}

// object is the header of a group, a dataset or a type.
type object struct {
	f        *file
	address  uint64
	messages []message
	named    bool // a committed type, whose own type cannot be another's
}

// object reads the header at an address.
func (f *file) object(address uint64) (*object, error) {
	o := &object{f: f, address: address}
	if err := o.read(); err != nil {
		return nil, fmt.Errorf("the object at %d: %w", address, err)
	}
	return o, nil
}

func (o *object) read() error {
	start, err := o.f.at(o.address, o.f.upTo(o.address, 16))
	if err != nil {
		return err
	}
	if string(start.take(4)) == "OHDR" {
		return o.readV2(o.address)
	}
	return o.readV1(o.address)
}

// span is a run of messages.
type span struct {
	address uint64
	bytes   int64
}

func (o *object) readV1(address uint64) error {
	d, err := o.f.at(address, 16)
	if err != nil {
		return err
	}
	if v := d.u8(); v != 1 {
		return fmt.Errorf("an object header of version %d: the file is damaged", v)
	}
	d.skip(1)
	count := int(d.u16())
	d.skip(4)
	return o.readSpans(span{address + 16, int64(d.u32())}, func(s span) (*decoder, error) { return o.f.at(s.address, s.bytes) },
		func(d *decoder) (m message, flags byte, ok bool) {
			if count == 0 || len(d.rest()) < 8 {
				return m, 0, false
			}
			count--
			m.kind = int(d.u16())
			n := int(d.u16())
			flags = d.u8()
			d.skip(3)
			m.body = d.take(n)
			return m, flags, d.err == nil
		})
}

func (o *object) readV2(address uint64) error {
	d, err := o.f.block("OHDR", address, o.f.upTo(address, 64))
	if err != nil {
		return err
	}
	if v := d.u8(); v != 2 {
		return fmt.Errorf("an object header of version %d is not supported", v)
	}
	flags := d.u8()
	if flags&0x20 != 0 {
		d.skip(16)
	}
	if flags&0x10 != 0 {
		d.skip(4)
	}
	n := int64(d.uint(1 << (flags & 3)))
	if d.err != nil || n > maxBlock {
		return errCut
	}
	first := true
	return o.readSpans(span{address, int64(d.at) + n + 4}, func(s span) (*decoder, error) {
		sign, skip := "OCHK", 0
		if first {
			sign, skip, first = "OHDR", d.at-4, false
		}
		b, err := o.f.block(sign, s.address, s.bytes)
		if err != nil {
			return nil, err
		}
		b.skip(skip)
		if err := b.checksum(len(b.b) - 4); err != nil {
			return nil, err
		}
		b.b = b.b[:len(b.b)-4]
		return b, nil
	}, func(d *decoder) (m message, shared byte, ok bool) {
		head := 4
		if flags&4 != 0 {
			head = 6
		}
		if len(d.rest()) < head {
			return m, 0, false
		}
		m.kind = int(d.u8())
		n := int(d.u16())
		shared = d.u8()
		d.skip(head - 4)
		m.body = d.take(n)
		return m, shared, d.err == nil
	})
}

// readSpans reads runs of messages, from the first and those that continue it.
func (o *object) readSpans(first span, read func(span) (*decoder, error), next func(*decoder) (message, byte, bool)) error {
	spans := []span{first}
	var bytes int64
	for i := 0; i < len(spans); i++ {
		if bytes += spans[i].bytes; bytes > o.f.size {
			return errors.New("its header has more bytes than the file: the file is damaged")
		}
		if err := o.f.meter.Take(2 * spans[i].bytes); err != nil {
			return err
		}
		d, err := read(spans[i])
		if err != nil {
			return err
		}
		for {
			m, flags, ok := next(d)
			if !ok {
				break
			}
			if m.kind == msgContinuation {
				c := d.sub(m.body)
				s := span{c.address(), int64(c.length())}
				if c.err != nil {
					return c.err
				}
				spans = append(spans, s)
				continue
			}
			if flags&2 != 0 {
				if m, err = o.shared(m); err != nil {
					return err
				}
			}
			if flags&0x80 != 0 && m.kind > msgLast {
				return fmt.Errorf("a message of kind %d, which says that it must be understood, is not supported", m.kind)
			}
			if m.kind != 0 {
				o.messages = append(o.messages, m)
			}
		}
		if d.err != nil {
			return d.err
		}
	}
	return nil
}

// shared finds the message that this one stands for: that of a committed type.
func (o *object) shared(m message) (message, error) {
	switch m.kind {
	case msgDatatype:
		body, err := o.committed(m.body)
		return message{m.kind, body}, err
	case msgDataspace, msgOldFill, msgFill, msgFilters, msgAttribute:
		return m, errShared
	}
	return message{}, nil
}

var errShared = errors.New("messages in a shared heap are not supported: h5repack writes a file without")

// committed is the type that a shared message names.
func (o *object) committed(b []byte) ([]byte, error) {
	d := o.decode(b)
	version, kind := d.u8(), d.u8()
	switch {
	case version == 1:
		d.skip(6)
	case version == 3 && kind != 2:
		return nil, errShared
	}
	of := &object{f: o.f, address: d.address(), named: true}
	if d.err != nil || o.named {
		return nil, errCut
	}
	if err := of.read(); err != nil {
		return nil, err
	}
	m, ok := of.find(msgDatatype)
	if !ok {
		return nil, errors.New("a committed type is none: the file is damaged")
	}
	return m, nil
}

// isArray reports an array's header.
func (o *object) isArray() bool {
	_, ok := o.find(msgLayout)
	return ok
}

// isType reports the header of a committed type.
func (o *object) isType() bool {
	_, ok := o.find(msgDatatype)
	return ok && !o.isArray()
}

// find is the first message of a kind.
func (o *object) find(kind int) ([]byte, bool) {
	for _, m := range o.messages {
		if m.kind == kind {
			return m.body, true
		}
	}
	return nil, false
}

// decode is a decoder of a message's body.
func (o *object) decode(b []byte) *decoder { return &decoder{f: o.f, b: b} }
