package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"unicode"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/requests"
)

// source is where objects are read from: what s3:// and http:// have in common.
type source struct {
	client *client
	root   func() *url.URL // the bucket or server's folder; its path ends with a slash
	name   string          // of root for people, such as s3://bucket/
	prefix string          // of the keys
	// What requests are signed for and with: nothing where there are no credentials.
	region      *region
	credentials *provider
	signature   *v4.Signer
}

// send sends a request, and once more where the bucket turns out to be in another
// region, or the credentials to have expired.
func (s *source) send(ctx context.Context, q request) error {
	if !q.ofBucket {
		if err := checkKey(q.key); err != nil {
			return err
		}
	}
	q.build = func(ctx context.Context) (*http.Request, error) { return s.build(ctx, q) }
	tried := *s.region.name.Load()
	err := s.do(ctx, q)
	if e, ok := errors.AsType[*statusError](err); ok && s.region.learn(e.region, tried) {
		err = s.do(ctx, q)
	}
	if e, ok := errors.AsType[*statusError](err); ok && e.code == "ExpiredToken" && s.credentials != nil && s.credentials.drop() {
		err = s.do(ctx, q)
	}
	return err
}

// do sends a request, and counts it.
func (s *source) do(ctx context.Context, q request) error {
	came, err := s.client.do(ctx, q)
	kind, written := q.kind(), int64(0)
	if kind != requests.Get && kind != requests.RangedGet || err != nil {
		came = 0
	}
	if kind == requests.Put || kind == requests.Part {
		written = int64(len(q.body))
	}
	requests.Count(ctx, blob.PlaceOf(s.name).Server(), kind, came, written)
	return err
}

// kind is what the request counts as.
func (q *request) kind() string {
	switch {
	case q.query.Has("list-type"):
		return requests.List
	case q.query.Has("delete") || q.method == http.MethodDelete:
		return requests.Delete
	case q.method == http.MethodPost:
		return requests.Post
	case q.query.Has("partNumber"):
		return requests.Part
	case q.method == http.MethodPut:
		return requests.Put
	case q.method == http.MethodHead:
		return requests.Head
	case q.header.Get("Range") != "":
		return requests.RangedGet
	}
	return requests.Get
}

// build makes a request for one try.
func (s *source) build(ctx context.Context, q request) (*http.Request, error) {
	u := s.address(s.prefix + q.key)
	if q.ofBucket {
		u = s.address("")
	}
	u.RawQuery = strings.ReplaceAll(q.query.Encode(), "+", "%20") // as it is signed
	r := newRequest(ctx, cmp.Or(q.method, http.MethodGet), u, q.body)
	maps.Copy(r.Header, q.header)
	return r, s.sign(ctx, r, q.body)
}

// ranged are the headers that ask for bytes of a version; either may be empty.
func ranged(bytes, etag string) http.Header {
	h := http.Header{}
	if bytes != "" {
		h.Set("Range", bytes)
	}
	if etag != "" && !isWeak(etag) { // weak ones never match
		h.Set("If-Match", etag)
	}
	return h
}

// Sync has nothing to do: what a server has confirmed is durable.
func (s *source) Sync(ctx context.Context) error { return ctx.Err() }

func (s *source) String() string { return strings.TrimSuffix(s.place(""), "/") }

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
	who := ""
	if s.credentials != nil {
		who = s.credentials.place
	}
	return failure(op, s.place(key), err, who)
}

// address is the URL of a key below the root, where no prefix is added.
func (s *source) address(key string) *url.URL {
	u := *s.root()
	u.Path += key
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
