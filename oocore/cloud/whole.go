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
	o := object{source: s, entry: blob.Entry{Key: key}}
	err := s.send(ctx, request{
		key: key, header: ranged(fmt.Sprintf("bytes=0-%d", max(len(p)-1, 0)), ""), receives: len(p), accept: partial,
		read: func(resp *http.Response) (err error) {
			o.identify(resp.Header)
			switch resp.StatusCode {
			case http.StatusPartialContent:
				if _, o.entry.Size, err = contentRange(resp.Header, 0); err != nil {
					return err
				}
			case http.StatusRequestedRangeNotSatisfiable:
				o.entry.Size = 0
				return nil
			default: // a server without ranges, which are not needed here
				if o.entry.Size = resp.ContentLength; o.entry.Size < 0 {
					return errNoRanges
				}
			}
			if o.entry.Size > int64(len(p)) {
				return blob.ErrLarge
			}
			_, err = io.ReadFull(resp.Body, p[:o.entry.Size])
			return err
		},
	})
	if err == blob.ErrLarge { // which callers expect
		return o.entry, err
	}
	return o.entry, s.fail("read", key, err)
}

// Put stores an object from p itself: by one request, or in parts that are
// pieces of p.
func (b *bucket) Put(ctx context.Context, key string, p []byte) (blob.Entry, error) {
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
