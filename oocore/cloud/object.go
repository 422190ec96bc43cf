package cloud

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/requests"
	"github.com/gonbext/gonbext/oocore/store"
)

const (
	// pieceBytes is the most that one request asks for, and inFlight how many requests
	// of one ReadAt are under way at once.
	pieceBytes = requests.PieceBytes
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

// Open opens an object by a request for one byte, which tells the size and whether ranges
// are read.
func (s *source) Open(ctx context.Context, key string) (blob.Object, error) {
	return s.OpenAt(ctx, key, nil, 0)
}

// OpenAt opens an object by the request that reads its first range, which tells the object's
// size too. A range of the last bytes is no longer than one request.
func (s *source) OpenAt(ctx context.Context, key string, p []byte, at int64) (blob.Object, error) {
	const oneByte = "bytes=0-0"
	o := &object{source: s, entry: blob.Entry{Key: key}}
	first, from, span := p[:min(len(p), pieceBytes)], at, oneByte
	if at < 0 {
		first, span = p, fmt.Sprintf("bytes=-%d", len(p))
	} else if len(p) > 0 {
		span = fmt.Sprintf("bytes=%d-%d", at, at+int64(len(first))-1)
	}
	done, known := 0, false
	q := request{key: key, receives: len(p), accept: partial, read: func(resp *http.Response) (err error) {
		o.identify(resp.Header)
		known = resp.StatusCode != http.StatusRequestedRangeNotSatisfiable
		switch resp.StatusCode {
		case http.StatusOK:
			o.whole, err = wholeSmall(resp)
			o.entry.Size = int64(len(o.whole))
		case http.StatusPartialContent:
			var begins int64
			begins, o.entry.Size, err = contentRange(resp.Header, from)
			if err == nil && (from >= 0 || begins == o.entry.Size-int64(len(p))) { // else it is short, or the server takes no range of last bytes
				done, _ = io.ReadFull(resp.Body, first[:min(int64(len(first)), o.entry.Size-begins)]) // what is missing is read below
			}
		}
		return err
	}}
	// That a range lies outside of the object tells neither its size nor its version.
	for _, span := range slices.Compact([]string{span, oneByte, ""}) {
		if q.header = ranged(span, ""); span == "" {
			q.accept = nil
		}
		if err := s.send(ctx, q); err != nil {
			return nil, s.fail("open", key, err)
		}
		if known {
			break
		}
		first, from = nil, 0
	}
	n := len(p)
	if p, at = blob.There(p, at, o.entry.Size); n > 0 {
		o.stream.next, o.stream.reads, o.stream.bytes = at+int64(done), 1, int64(done)
	}
	if rest := p[min(done, len(p)):]; len(rest) > 0 {
		if err := o.ReadAt(ctx, rest, at+int64(done)); err != nil {
			return nil, errors.Join(err, o.Close())
		}
	}
	return o, nil
}

// partial is what the answer to a range may be besides the whole object.
var partial = []int{http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable}

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
	span := func(from int) string { return fmt.Sprintf("bytes=%d-%d", at+int64(from), at+int64(len(p))-1) }
	done, before := 0, 0
	header := ranged(span(0), o.etag)
	return o.source.send(ctx, request{
		key: o.entry.Key, header: header, receives: len(p), accept: []int{http.StatusPartialContent, http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable},
		read: func(resp *http.Response) error {
			switch resp.StatusCode {
			case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
				return store.ErrChanged
			case http.StatusOK:
				return cmp.Or(o.same(resp.Header), errNoRanges)
			}
			if err := o.checkRange(resp.Header, at+int64(done)); err != nil {
				return err
			}
			n, err := io.ReadFull(resp.Body, p[done:])
			done += n
			header.Set("Range", span(done))
			return err
		},
		progress: func() bool {
			got := done - before
			before = done
			return got >= slowest
		},
	})
}

// checkRange rejects an answer that is not a range of this object from a place on.
func (o *object) checkRange(h http.Header, at int64) error {
	if err := o.same(h); err != nil {
		return err
	}
	from, size, err := contentRange(h, -1)
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

// contentRange reads where the bytes of an answer lie, as bytes 0-9/100: they are to be
// those from at on, or any where that is negative.
func contentRange(h http.Header, at int64) (from, size int64, err error) {
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
	if at >= 0 && from != at {
		return 0, 0, fmt.Errorf("the server sent bytes from %d on, those from %d on were asked for", from, at)
	}
	return from, size, nil
}

// page is an answer to ListObjectsV2: at most 1000 objects.
type page struct {
	Contents []struct {
		Key, ETag string
		Size      int64
	}
	EncodingType          string // url where the keys are encoded: not all servers do as they are asked
	IsTruncated           bool
	NextContinuationToken string
}

// list asks for page after page. It holds one of them.
func (b *bucket) list(ctx context.Context, prefix string, yield func(blob.Entry, error) bool) {
	query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "prefix": {b.prefix + prefix}}
	for {
		var p page
		err := b.send(ctx, request{ofBucket: true, query: query, read: func(resp *http.Response) error {
			p = page{}
			return xml.NewDecoder(resp.Body).Decode(&p)
		}})
		if err != nil {
			yield(blob.Entry{}, b.fail("list", prefix, err))
			return
		}
		for _, c := range p.Contents {
			key := c.Key
			if plain, err := url.QueryUnescape(key); err == nil && p.EncodingType == "url" {
				key = plain
			}
			if !yield(blob.Entry{Key: strings.TrimPrefix(key, b.prefix), Size: c.Size, Version: c.ETag}, nil) {
				return
			}
		}
		switch {
		case !p.IsTruncated:
			return
		case p.NextContinuationToken == "":
			yield(blob.Entry{}, b.fail("list", prefix, errors.New("the server ends a listing that it says is not complete")))
			return
		}
		query.Set("continuation-token", p.NextContinuationToken)
	}
}
