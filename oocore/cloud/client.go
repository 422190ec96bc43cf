package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/disk"
)

const (
	// tryTime is what one try of a request may take besides its bytes, and slowest how
	// many of these must come in a second.
	tryTime = 30 * time.Second
	slowest = 64 << 10
)

// maxRequests is how many requests to one bucket are under way at once. Each that
// reads fills memory of its caller, so that the budget bounds them first; this
// bounds descriptors and what a server has to bear, and is enough to keep a
// network of 10 Gbit/s busy with requests of 1 MiB that take 0.1 s.
var maxRequests = disk.OpenFiles(128)

// silence is how long a try waits for a sign of the server: its answer, or another byte
// of a body in either direction. It bounds how long a server that says nothing is asked
// again, together with policy.total.
var silence = 20 * time.Second

// leastTime is in what time slowest bytes of an answer have to come, or its end: a server that sends a byte now and then
// is given up as one that is silent.
var leastTime = time.Minute

// client sends requests to one bucket or server, again where that may help. It
// is safe for concurrent use.
type client struct {
	http  http.Client
	slots chan struct{} // held while a request is under way
	retry policy
}

// transport keeps connections for all clients. HTTP/2 would buffer megabytes for
// each connection, and object stores don't speak it.
var transport = newTransport()

func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		Protocols:           protocols,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: maxRequests,
		IdleConnTimeout:     15 * time.Second,
		DisableCompression:  true, // ranges count the bytes that are stored
	}
}

// clients are shared by all who open the same bucket.
var clients sync.Map // of *client

// clientOf is the client of a bucket or server, by a name for it.
func clientOf(name string, redirects func(*http.Request, []*http.Request) error) *client {
	c, _ := clients.LoadOrStore(name, &client{
		http:  http.Client{Transport: transport, CheckRedirect: redirects},
		slots: make(chan struct{}, maxRequests),
		retry: defaultRetry,
	})
	return c.(*client)
}

// request is a request that can be sent several times, and what its answer may be.
type request struct {
	method, key string // GET where there is no method
	ofBucket    bool   // not of an object
	query       url.Values
	header      http.Header // read may change it for the next try
	body        []byte
	receives    int   // bytes
	accept      []int // what the answer's status may be besides 200
	// read takes the response, where it is not nil, and returns an error where it isn't
	// what was asked for. That the body ended early is one that makes another try.
	read func(*http.Response) error
	// progress reports, where it is not nil, whether the last try got nearer to the
	// end, so that it does not count as failed.
	progress func() bool
	// build makes the request for the next try; send sets it.
	build func(context.Context) (*http.Request, error)
}

// do sends a request until it is answered, tries are used up or ctx ends. It returns how many bytes
// the answers were of.
func (c *client) do(ctx context.Context, q request) (came int64, _ error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	began := time.Now() // or got nearer to the end
	for failed := 0; ; {
		n, err := c.try(ctx, q, min(silence, max(c.retry.total-time.Since(began), time.Second)))
		if came += n; err == nil {
			return came, nil
		}
		if ctx.Err() != nil {
			return came, ctx.Err()
		}
		if !isRetryable(err) {
			return came, err
		}
		if failed++; q.progress != nil && q.progress() {
			failed, began = 0, time.Now()
		}
		if _, ok := errors.AsType[*statusError](err); ok { // the server is not silent
			began = time.Now()
		}
		if err := c.retry.pause(ctx, failed, time.Since(began), err); err != nil {
			return came, err
		}
	}
}

// try sends a request once, in bounded time, and gives it up where the server is silent
// for too long.
func (c *client) try(ctx context.Context, q request, silent time.Duration) (came int64, _ error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slow := func() { cancel(errSlow) }
	defer time.AfterFunc(tryTime+time.Duration((len(q.body)+q.receives)/slowest)*time.Second, slow).Stop()
	quiet := time.AfterFunc(silent, slow)
	defer quiet.Stop()
	sign := func() { quiet.Reset(silent) }
	req, err := q.build(ctx)
	if err != nil {
		return 0, err
	}
	body, lends := req.Body.(*lent)
	if lends {
		body.sign = sign
	}
	resp, err := c.http.Do(req)
	if err == nil {
		sign()
		drip := time.AfterFunc(leastTime, slow)
		resp.Body = &heard{resp.Body, sign, func() { drip.Reset(leastTime) }, 0}
		switch {
		case resp.StatusCode != http.StatusOK && !slices.Contains(q.accept, resp.StatusCode):
			err = rejected(resp)
		case q.read != nil:
			err = q.read(resp)
		}
		drip.Stop()
		resp.Body.Close()
		came = max(resp.ContentLength, 0)
	}
	tooSlow := context.Cause(ctx) == errSlow
	if lends { // the memory goes back to the caller
		cancel(nil)
		<-body.done
	}
	switch {
	case err == nil:
		return came, nil
	case tooSlow:
		return came, errSlow
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return came, fmt.Errorf("the server broke the connection off: %w", io.ErrUnexpectedEOF)
	}
	return came, err
}

// heard is an answer's body that tells of each sign of the server, and of each slowest bytes.
type heard struct {
	io.ReadCloser
	sign, enough func()
	bytes        int
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.sign()
	if h.bytes += n; h.bytes >= slowest {
		h.bytes = 0
		h.enough()
	}
	return n, err
}
