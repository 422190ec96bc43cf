package codec

import (
	"context"
	"errors"
	"io"
	"strings"
)

// window reads a source from front to back, through a buffer of the caller's
// memory.
type window struct {
	ctx   context.Context
	src   Source
	at    int64 // of the next byte to read from the source
	size  int64
	total int64 // bytes read from the source
	buf   []byte
	held  []byte // the part of buf that was not taken yet
}

// windowSize is enough for a disk to be read at its speed.
const windowSize = 256 << 10

func (w *window) reset(src Source) {
	w.src, w.at, w.size, w.total, w.held = src, 0, src.Size(), 0, nil
}

// Read reads large pieces past the buffer.
func (w *window) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(w.held) == 0 {
		if w.at == w.size {
			return 0, io.EOF
		}
		if len(p) >= len(w.buf) {
			p = p[:min(int64(len(p)), w.size-w.at)]
			err := w.readAt(p, w.at)
			if err != nil {
				return 0, err
			}
			w.at += int64(len(p))
			return len(p), nil
		}
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, w.held)
	w.held = w.held[n:]
	return n, nil
}

// ReadByte is Read of one byte.
func (w *window) ReadByte() (byte, error) {
	if len(w.held) == 0 {
		if w.at == w.size {
			return 0, io.EOF
		}
		if err := w.fill(); err != nil {
			return 0, err
		}
	}
	b := w.held[0]
	w.held = w.held[1:]
	return b, nil
}

func (w *window) fill() error {
	part := w.buf[:min(int64(len(w.buf)), w.size-w.at)]
	if err := w.readAt(part, w.at); err != nil {
		return err
	}
	w.at += int64(len(part))
	w.held = part
	return nil
}

// readAt reads from any place, past the buffer.
func (w *window) readAt(p []byte, at int64) error {
	w.total += int64(len(p))
	if err := w.src.ReadAt(w.ctx, p, at); err != nil {
		return sourceError{err}
	}
	return nil
}

// sourceError is an error of the source or the sink, which codecs pass on as it is.
type sourceError struct{ err error }

func (e sourceError) Error() string { return e.err.Error() }
func (e sourceError) Unwrap() error { return e.err }

// fault is an error of a codec.
type fault struct {
	codec string
	err   error
}

func (f *fault) Error() string {
	if f.err == ErrShort {
		return f.codec + ": the data end too early: " + f.err.Error()
	}
	return f.codec + ": " + f.err.Error()
}

func (f *fault) Unwrap() error { return f.err }

// said names the codec in an error of its own, and leaves those of other codecs, and of
// the source, alone.
func said(f filter, err error) error {
	if err == nil {
		return nil
	}
	var s sourceError
	if errors.As(err, &s) {
		return s.err
	}
	var named *fault
	if f == nil || errors.As(err, &named) {
		return err
	}
	return codecError(f, err)
}

// codecError names the codec of an error.
func codecError(f filter, err error) error {
	name, _, _ := strings.Cut(f.text(), ":")
	return &fault{name, err}
}

// named is a reader whose errors name its codec.
type named struct {
	reader
	filter filter
}

func (n named) Read(p []byte) (int, error) {
	k, err := n.reader.Read(p)
	return k, n.name(err)
}

func (n named) ReadByte() (byte, error) {
	b, err := n.reader.ReadByte()
	return b, n.name(err)
}

func (n named) name(err error) error {
	if err == nil || err == io.EOF {
		return err // at once, as what follows allocates
	}
	var s sourceError
	if errors.As(err, &s) {
		return err // for those above to tell
	}
	return said(n.filter, err)
}

// outlet writes to a sink.
type outlet struct {
	ctx  context.Context
	dst  Sink
	size int64
}

func (o *outlet) reset(dst Sink) { o.dst, o.size = dst, 0 }

func (o *outlet) Write(p []byte) (int, error) {
	if err := o.dst.Write(o.ctx, p); err != nil {
		return 0, sourceError{err}
	}
	o.size += int64(len(p))
	return len(p), nil
}

// replace writes again what was written.
func (o *outlet) replace(p []byte, at int64) error {
	if err := o.dst.WriteAt(o.ctx, p, at); err != nil {
		return sourceError{err}
	}
	return nil
}
