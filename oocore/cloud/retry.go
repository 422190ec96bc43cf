package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

// policy is how often and after how long a request is sent again.
type policy struct {
	tries       int
	first, most time.Duration // the pause doubles from first to most
	longest     time.Duration // that a server may ask to wait
	total       time.Duration // without getting nearer to the end, after which no try begins
}

// defaultRetry bridges about ten seconds in which a server can't answer, and ends after a
// minute with one that says nothing.
var defaultRetry = policy{tries: 7, first: 100 * time.Millisecond, most: 5 * time.Second, longest: time.Minute, total: time.Minute}

// errSlow ends a try that takes too long.
var errSlow = errors.New("the server took too long to answer")

// pause waits before the next try. It returns an error where there is none.
func (p policy) pause(ctx context.Context, failed int, since time.Duration, err error) error {
	wait := min(p.first<<min(max(failed-1, 0), 30), p.most)
	wait = wait/2 + rand.N(wait/2+1)
	if s, ok := errors.AsType[*statusError](err); ok && s.after > 0 {
		if wait = s.after; wait > p.longest {
			return fmt.Errorf("%w: it asks to come back in %v", err, wait)
		}
	}
	if asked := errors.Is(err, errSlow) && since+wait+time.Second > p.total; asked || failed >= p.tries {
		return fmt.Errorf("%w (after %d tries)", err, failed)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isRetryable reports a failure that may not happen again: the server has too much
// to do, or the connection broke.
func isRetryable(err error) bool {
	if s, ok := errors.AsType[*statusError](err); ok {
		switch s.status {
		case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
			http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
			return true
		}
		return s.code == "RequestTimeout" || s.code == "SlowDown" || s.code == "InternalError"
	}
	for _, target := range []error{errSlow, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.EPIPE, net.ErrClosed} {
		if errors.Is(err, target) {
			return true
		}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsTemporary && !dns.IsNotFound
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		return true
	}
	// What net/http says of a connection that the server closed has no type.
	u, ok := errors.AsType[*url.Error](err)
	return ok && u.Err.Error() == "http: server closed idle connection"
}

// retryAfter is how long a server asks to wait; 0 where it does not say.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n >= 0 && n < 1<<31 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(time.Until(t), 0)
	}
	return 0
}
