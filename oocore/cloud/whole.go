package cloud

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/gonbext/gonbext/oocore/store/blob"
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
				from, size, err := contentRange(resp.Header)
				if err == nil && from != 0 {
					err = fmt.Errorf("the server sent bytes from %d on, those from 0 on were asked for", from)
				}
				if err != nil {
					return err
				}
				o.entry.Size = size
			case http.StatusOK: // a server without ranges, which are not needed here
				if o.entry.Size = resp.ContentLength; o.entry.Size < 0 {
					return errNoRanges
				}
			case http.StatusRequestedRangeNotSatisfiable:
				o.entry.Size = 0
				return nil
			default:
				return refused(resp)
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

// Put stores an object from p itself: by one request, or in parts that are
// pieces of p.
func (b *bucket) Put(ctx context.Context, key string, p []byte) error {
	if err := checkKey(key); err != nil {
		return b.fail("create", key, err)
	}
	u := &upload{bucket: b, key: key}
	defer u.Abort()
	for ; len(p) > partBytes; p = p[partBytes:] {
		if err := u.part(ctx, p[:partBytes]); err != nil {
			return b.fail("write", key, err)
		}
	}
	if err := u.finish(ctx, p); err != nil {
		return b.fail("write", key, err)
	}
	u.ended = true
	return nil
}
