package cloud

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/requests"
)

// stream serves small reads that follow one another, as of a chunk that is decoded
// piece by piece, from one answer. It asks for twice as much as was read so far,
// so that at most that much is sent in vain. It holds a connection, but no slot of
// the client: readers that wait for slots must not keep others from getting them.
type stream struct {
	mu     sync.Mutex // held by the read that uses it; others do without
	next   int64      // where the last read ended
	reads  int        // that followed one another
	bytes  int64      // of them
	body   io.ReadCloser
	left   int64 // of the body
	cancel context.CancelFunc
}

// read reads the beginning of p, as far as reads follow one another and nothing
// goes wrong. What it leaves is read by requests of their own.
func (s *stream) read(ctx context.Context, o *object, p []byte, at int64) (n int) {
	if len(p) > requests.StreamBelow || !s.mu.TryLock() {
		return 0
	}
	defer s.mu.Unlock()
	if at != s.next {
		s.end()
		s.reads, s.bytes = 0, 0
	}
	if s.reads >= requests.StreamAfter && s.left == 0 {
		s.end()
		s.begin(ctx, o, at, int64(len(p)))
	}
	if s.body != nil {
		late := time.AfterFunc(silence, s.cancel)
		ended := context.AfterFunc(ctx, s.cancel)
		var err error
		n, err = io.ReadFull(s.body, p[:min(int64(len(p)), s.left)])
		late.Stop()
		if s.left -= int64(n); !ended() || err != nil {
			s.end()
		}
	}
	s.next, s.reads, s.bytes = at+int64(len(p)), s.reads+1, s.bytes+int64(len(p))
	return n
}

// begin asks for the bytes from a place on. Where that fails there is no body.
func (s *stream) begin(ctx context.Context, o *object, at, need int64) {
	size := min(2*s.bytes, requests.StreamMost, o.entry.Size-at)
	if size <= need {
		return
	}
	select {
	case o.source.client.slots <- struct{}{}:
		defer func() { <-o.source.client.slots }()
	case <-ctx.Done():
		return
	}
	lasting, cancel := context.WithCancel(context.Background())
	late := time.AfterFunc(silence, cancel)
	ended := context.AfterFunc(ctx, cancel)
	req, err := o.source.build(lasting, request{key: o.entry.Key, header: ranged(fmt.Sprintf("bytes=%d-%d", at, at+size-1), o.etag)})
	if err != nil {
		cancel()
		return
	}
	requests.Count(ctx, blob.PlaceOf(o.source.name).Server(), requests.RangedGet, size, 0)
	resp, err := o.source.client.http.Do(req)
	late.Stop()
	if err != nil {
		cancel()
		return
	}
	s.body, s.left, s.cancel = resp.Body, size, cancel
	if !ended() || resp.StatusCode != http.StatusPartialContent || o.checkRange(resp.Header, at) != nil {
		s.end()
	}
}

// end gives the body up; its connection is kept for others where it was read to
// its end.
func (s *stream) end() {
	if s.body != nil {
		if s.left == 0 { // the end of an answer is seen by another read only
			io.ReadFull(s.body, make([]byte, 1))
		}
		s.cancel()
		s.body.Close()
	}
	s.body, s.left = nil, 0
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}
