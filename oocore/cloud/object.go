package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	// pieceBytes is the most that one request asks for, and inFlight how many requests
	// of one ReadAt are under way at once.
	pieceBytes = 8 << 20
	inFlight   = 4
	// smallBytes is how much of an object is read whole, and kept, where the server
	// cannot read ranges.
	smallBytes = 1 << 20
)

// object is an object of a source.
type object struct {
	source *source
	entry  blob.Entry
	etag   string // "" where the server gives none
	whole  []byte // of a server that reads no ranges
	stream stream
}

// open asks for one byte, which tells the size and whether ranges are read.
func (s *source) open(ctx context.Context, key string) (*object, error) {
	o := &object{source: s, entry: blob.Entry{Key: key}}
	empty := false
	err := s.do(ctx, call{
		build: func(ctx context.Context) (*http.Request, error) { return s.get(ctx, key, "bytes=0-0", "") },
		read: func(resp *http.Response) (err error) {
			o.identify(resp.Header)
			switch resp.StatusCode {
			case http.StatusPartialContent:
				_, o.entry.Size, err = contentRange(resp.Header)
				return err
			case http.StatusRequestedRangeNotSatisfiable:
				empty = true
				return nil
			case http.StatusOK:
				o.whole, err = wholeSmall(resp)
				o.entry.Size = int64(len(o.whole))
				return err
			}
			return rejected(resp)
		},
	})
	if err == nil && empty { // and the answer did not say of which version
		err = s.do(ctx, call{
			build: func(ctx context.Context) (*http.Request, error) { return s.get(ctx, key, "", "") },
			read: func(resp *http.Response) (err error) {
				if resp.StatusCode != http.StatusOK {
					return rejected(resp)
				}
				o.identify(resp.Header)
				o.whole, err = wholeSmall(resp)
				o.entry.Size = int64(len(o.whole))
				return err
			},
		})
	}
	if err != nil {
		return nil, s.fail("open", key, err)
	}
	return o, nil
}

// get is a signed request for a range, of one version where etag is not empty.
func (s *source) get(ctx context.Context, key, bytes, etag string) (*http.Request, error) {
	r := newRequest(ctx, http.MethodGet, s.address(key), nil)
	if bytes != "" {
		r.Header.Set("Range", bytes)
	}
	if etag != "" && !isWeak(etag) { // weak ones never match
		r.Header.Set("If-Match", etag)
	}
	return r, s.signer.sign(ctx, r, nil)
}

// identify keeps what tells one version of the object from another.
func (o *object) identify(h http.Header) {
	o.etag, o.entry.Version = h.Get("ETag"), version(h)
	stored, err := http.ParseTime(h.Get("Last-Modified"))
	now, failed := http.ParseTime(h.Get("Date"))
	known := err == nil && failed == nil
	if known {
		o.entry.Age = max(now.Sub(stored), 1)
	}
	switch {
	case o.etag != "" && !isWeak(o.etag):
		o.entry.Settles = 0
	case !known || now.Before(stored):
		o.entry.Settles = -1
	case now.Equal(stored): // both are in whole seconds
		o.entry.Settles = time.Second
	default:
		o.entry.Settles = 0
	}
}

// version returns what an answer says of an object's version: its tag, or else the time of the
// last change. A weak tag may stay where bytes change.
func version(h http.Header) string {
	tag := h.Get("ETag")
	if tag == "" || isWeak(tag) {
		tag += h.Get("Last-Modified")
	}
	return tag
}

func isWeak(etag string) bool { return strings.HasPrefix(etag, "W/") }

// same rejects an answer that is of another version.
func (o *object) same(h http.Header) error {
	if version(h) != o.entry.Version {
		return store.ErrChanged
	}
	return nil
}

func (o *object) Entry() blob.Entry { return o.entry }

func (o *object) Close() error {
	o.stream.close()
	return nil
}

// ReadAt reads with up to inFlight requests at once.
func (o *object) ReadAt(ctx context.Context, p []byte, at int64) error {
	if err := ctx.Err(); err != nil {
		return o.source.fail("read", o.entry.Key, err)
	}
	if at < 0 || at > o.entry.Size-int64(len(p)) {
		return o.source.fail("read", o.entry.Key, fmt.Errorf("%w: bytes %d to %d of %d are asked for", io.ErrUnexpectedEOF, at, at+int64(len(p)), o.entry.Size))
	}
	if o.whole != nil {
		copy(p, o.whole[at:])
		return nil
	}
	n := o.stream.read(ctx, o, p, at)
	return o.source.fail("read", o.entry.Key, inPieces(ctx, p[n:], at+int64(n), o.readRange))
}

// inPieces reads pieces of pieceBytes, inFlight of them at once. The first error
// ends the others.
func inPieces(ctx context.Context, p []byte, at int64, read func(ctx context.Context, p []byte, at int64) error) error {
	if len(p) <= pieceBytes {
		return read(ctx, p, at)
	}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	for len(p) > 0 && running.Err() == nil {
		piece, from := p[:min(len(p), pieceBytes)], at
		p, at = p[len(piece):], at+int64(len(piece))
		group.Go(func() error { return read(running, piece, from) })
	}
	err := group.Wait()
	return cmp.Or(context.Cause(ctx), err)
}

// readRange fills p by one request, and by others for what is missing where the
// answer breaks off.
func (o *object) readRange(ctx context.Context, p []byte, at int64) error {
	if len(p) == 0 {
		return nil
	}
	done, before := 0, 0
	return o.source.do(ctx, call{
		bytes: int64(len(p)),
		build: func(ctx context.Context) (*http.Request, error) {
			before = done
			return o.source.get(ctx, o.entry.Key, fmt.Sprintf("bytes=%d-%d", at+int64(done), at+int64(len(p))-1), o.etag)
		},
		read: func(resp *http.Response) error {
			switch resp.StatusCode {
			case http.StatusPartialContent:
			case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
				return store.ErrChanged
			case http.StatusOK:
				if err := o.same(resp.Header); err != nil {
					return err
				}
				return errNoRanges
			default:
				return rejected(resp)
			}
			if err := o.checkRange(resp.Header, at+int64(done)); err != nil {
				return err
			}
			n, err := io.ReadFull(resp.Body, p[done:])
			done += n
			return err
		},
		progress: func() bool { return done-before >= slowest },
	})
}

// checkRange rejects an answer that is not a range of this object from a place on.
func (o *object) checkRange(h http.Header, at int64) error {
	if err := o.same(h); err != nil {
		return err
	}
	from, size, err := contentRange(h)
	if err == nil && (from != at || size != o.entry.Size) {
		err = fmt.Errorf("the server sent bytes from %d of %d on, those from %d of %d on were asked for", from, size, at, o.entry.Size)
	}
	return err
}

// errNoRanges is returned for servers of which only whole objects can be had.
var errNoRanges = errors.New("the server ignores ranges and sends the whole object: copy it to this machine, or serve it by a server that knows the Range header")

// wholeSmall reads the body of an answer that is not a range.
func wholeSmall(resp *http.Response) ([]byte, error) {
	if resp.ContentLength > smallBytes {
		return nil, errNoRanges
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, smallBytes+1))
	if err == nil && len(b) > smallBytes {
		return nil, errNoRanges
	}
	if b == nil {
		b = []byte{}
	}
	return b, err
}

// contentRange reads where the bytes of an answer lie: bytes 0-9/100.
func contentRange(h http.Header) (from, size int64, err error) {
	v := h.Get("Content-Range")
	span, total, ok := strings.Cut(strings.TrimPrefix(v, "bytes "), "/")
	first, _, ok2 := strings.Cut(span, "-")
	from, err = strconv.ParseInt(first, 10, 64)
	if err == nil {
		size, err = strconv.ParseInt(total, 10, 64)
	}
	if !ok || !ok2 || err != nil || from < 0 || size <= from {
		return 0, 0, fmt.Errorf("the server's Content-Range %.80q does not tell where the bytes lie", v)
	}
	return from, size, nil
}
