package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode"

	"github.com/aws/smithy-go/encoding/httpbinding"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// source is where objects are read from: what s3:// and http:// have in common.
type source struct {
	client *client
	root   func() *url.URL // the bucket or server's folder; its path ends with a slash
	name   string          // of root for people, such as s3://bucket/
	prefix string          // of the keys
	signer signer
}

// signer adds to a request what lets the server know who asks.
type signer interface {
	sign(ctx context.Context, r *http.Request, body []byte) error
	// credentialSource names the place that the credentials come from, "" where there are none.
	credentialSource() string
	// currentRegion is the region that it signs for, and elsewhere takes another that an
	// answer named when one was tried; it reports whether to try again.
	currentRegion() string
	switchRegion(name, tried string) bool
	// expired drops keys that the server says have expired, and reports whether others
	// can be fetched.
	expired() bool
}

// do sends a call, and once more where the bucket turns out to be in another
// region.
func (s *source) do(ctx context.Context, c call) error {
	tried := s.signer.currentRegion()
	err := s.client.do(ctx, c)
	if e, ok := errors.AsType[*statusError](err); ok && s.signer.switchRegion(e.region, tried) {
		err = s.client.do(ctx, c)
	}
	if e, ok := errors.AsType[*statusError](err); ok && e.code == "ExpiredToken" && s.signer.expired() {
		err = s.client.do(ctx, c)
	}
	return err
}

// checkKey rejects what would lead out of the bucket.
func checkKey(key string) error {
	if strings.ContainsFunc(key, unicode.IsControl) {
		return fmt.Errorf("%q is not the name of an object: it has control characters", key)
	}
	return blob.CheckKey(key)
}

// place is an object's name for people.
func (s *source) place(key string) string { return s.name + s.prefix + key }

func (s *source) fail(op, key string, err error) error {
	return failure(op, s.place(key), err, s.signer.credentialSource())
}

// address is the URL of an object.
func (s *source) address(key string) *url.URL {
	u := *s.root()
	u.Path += s.prefix + key
	u.RawPath = httpbinding.EscapePath(u.Path, false) // as it is signed
	return &u
}

// join is the source of the keys that begin with a prefix.
func (s *source) join(prefix string) source {
	t := *s
	t.prefix += prefix
	return t
}

// newRequest is a request with a body that may be nil.
func newRequest(ctx context.Context, method string, u *url.URL, body []byte) *http.Request {
	r := &http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{"User-Agent": {"gonbext"}}}
	if body != nil {
		r.ContentLength = int64(len(body))
		r.Body = http.NoBody
		if len(body) > 0 {
			r.Body = &lent{rest: body, done: make(chan struct{})}
		}
	}
	return r.WithContext(ctx)
}

// lent is a body in the caller's memory. net/http may continue sending it after it
// has answered, and closes it then.
type lent struct {
	rest []byte
	sign func() // tells that some of it has gone
	once sync.Once
	done chan struct{}
}

func (l *lent) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	l.sign()
	return n, nil
}

// WriteTo writes piece by piece, from the caller's memory.
func (l *lent) WriteTo(w io.Writer) (n int64, err error) {
	const piece = 256 << 10
	for len(l.rest) > 0 && err == nil {
		var m int
		m, err = w.Write(l.rest[:min(piece, len(l.rest))])
		l.rest = l.rest[m:]
		n += int64(m)
		l.sign()
	}
	return n, err
}

func (l *lent) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}
