package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// Get reads a whole object by one request.
func (s *source) Get(ctx context.Context, key string, p []byte) (blob.Entry, error) {
	e, err := s.whole(ctx, key, p)
	if err == blob.ErrLarge { // which callers expect
		return e, err
	}
	return e, s.fail("read", key, err)
}

func (s *source) whole(ctx context.Context, key string, p []byte) (blob.Entry, error) {
	if err := checkKey(key); err != nil {
		return blob.Entry{}, err
	}
	o := object{source: s, entry: blob.Entry{Key: key}}
	err := s.do(ctx, call{
		bytes: int64(len(p)),
		build: func(ctx context.Context) (*http.Request, error) {
			return s.get(ctx, key, fmt.Sprintf("bytes=0-%d", max(len(p)-1, 0)), "")
		},
		read: func(resp *http.Response) error {
			o.identify(resp.Header)
			switch resp.StatusCode {
			case http.StatusPartialContent:
				var err error
				if _, o.entry.Size, err = rangeFrom(resp.Header, 0); err != nil {
					return err
				}
			case http.StatusOK: // a server without ranges, which are not needed here
				if o.entry.Size = resp.ContentLength; o.entry.Size < 0 {
					return errNoRanges
				}
			case http.StatusRequestedRangeNotSatisfiable:
				o.entry.Size = 0
				return nil
			default:
				return rejected(resp)
			}
			if o.entry.Size > int64(len(p)) {
				return blob.ErrLarge
			}
			_, err := io.ReadFull(resp.Body, p[:o.entry.Size])
			return err
		},
	})
	return o.entry, err
}

// rangeFrom reads where the bytes of an answer lie that are to be those from at on, or where at is
// negative the last ones.
func rangeFrom(h http.Header, at int64) (from, size int64, err error) {
	from, size, err = contentRange(h)
	if err == nil && at >= 0 && from != at {
		err = fmt.Errorf("the server sent bytes from %d on, those from %d on were asked for", from, at)
	}
	return from, size, err
}

// OpenAt opens an object by the request that reads its first range, which tells the object's
// size too. A range of the last bytes is no longer than one request.
func (s *source) OpenAt(ctx context.Context, key string, p []byte, at int64) (blob.Object, error) {
	if err := checkKey(key); err != nil {
		return nil, s.fail("open", key, err)
	}
	o := &object{source: s, entry: blob.Entry{Key: key}}
	first, done, known := p[:min(len(p), pieceBytes)], 0, false
	span := fmt.Sprintf("bytes=%d-%d", at, at+int64(len(first))-1)
	if at < 0 {
		first, span = p, fmt.Sprintf("bytes=-%d", len(p))
	}
	err := s.do(ctx, call{
		bytes: int64(len(first)),
		build: func(ctx context.Context) (*http.Request, error) { return s.get(ctx, key, span, "") },
		read: func(resp *http.Response) error {
			switch resp.StatusCode {
			case http.StatusPartialContent:
			case http.StatusOK, http.StatusRequestedRangeNotSatisfiable:
				return nil
			default:
				return rejected(resp)
			}
			from, size, err := rangeFrom(resp.Header, at)
			if err != nil {
				return err
			}
			o.identify(resp.Header)
			o.entry.Size, known = size, true
			if at < 0 && from != size-int64(len(p)) { // it is short, or the server takes no range of last bytes
				return nil
			}
			done, _ = io.ReadFull(resp.Body, first[:min(int64(len(first)), size-from)]) // what is missing is read below
			return nil
		},
	})
	if err != nil {
		return nil, s.fail("open", key, err)
	}
	if !known {
		if o, err = s.open(ctx, key); err != nil {
			return nil, err
		}
	}
	p, at = blob.There(p, at, o.entry.Size)
	o.stream.next, o.stream.reads, o.stream.bytes = at+int64(done), 1, int64(done)
	if rest := p[min(done, len(p)):]; len(rest) > 0 {
		if err := o.ReadAt(ctx, rest, at+int64(done)); err != nil {
			return nil, errors.Join(err, o.Close())
		}
	}
	return o, nil
}

// Put stores an object from p itself: by one request, or in parts that are
// pieces of p.
func (b *bucket) Put(ctx context.Context, key string, p []byte) (blob.Entry, error) {
	if err := checkKey(key); err != nil {
		return blob.Entry{}, b.fail("create", key, err)
	}
	u := &upload{bucket: b, key: key}
	defer u.Abort()
	u.entry = blob.Entry{Key: key, Size: int64(len(p))}
	for ; len(p) > partBytes; p = p[partBytes:] {
		if err := u.part(ctx, p[:partBytes]); err != nil {
			return blob.Entry{}, b.fail("write", key, err)
		}
	}
	if err := u.finish(ctx, p); err != nil {
		return blob.Entry{}, b.fail("write", key, err)
	}
	u.ended = true
	return u.entry, nil
}

// PutIf stores a small object by a conditional request: If-Match, or If-None-Match
// where there is to be none. Where the answer to one got lost, the next finds the
// object that it stored itself.
func (b *bucket) PutIf(ctx context.Context, key string, p []byte, version string) (blob.Entry, error) {
	if err := checkKey(key); err != nil {
		return blob.Entry{}, b.fail("create", key, err)
	}
	e := blob.Entry{Key: key, Size: int64(len(p))}
	condition := http.Header{"If-None-Match": {"*"}}
	if version != "" {
		condition = http.Header{"If-Match": {version}}
	}
	put := func(header http.Header) error {
		return b.send(ctx, request{method: http.MethodPut, key: key, header: header, body: p, read: func(resp *http.Response) error {
			e.Version = resp.Header.Get("ETag")
			return nil
		}})
	}
	err := put(condition)
	if s, ok := errors.AsType[*statusError](err); ok {
		switch {
		case s.status == http.StatusNotImplemented:
			err = put(nil) // a server without conditions
		case s.status == http.StatusPreconditionFailed, s.status == http.StatusConflict, s.status == http.StatusNotFound && version != "":
			there := make([]byte, len(p))
			now, failed := b.Get(ctx, key, there)
			if failed == nil && now.Size == int64(len(p)) && bytes.Equal(there, p) {
				return now, nil
			}
			err = blob.ErrReplaced
		}
	}
	if err == blob.ErrReplaced { // which callers expect
		return blob.Entry{}, err
	}
	return e, b.fail("write", key, err)
}
