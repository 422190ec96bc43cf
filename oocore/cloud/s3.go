package cloud

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// bucket is a bucket of S3, or its keys that begin with a prefix.
type bucket struct{ source }

// openBucket opens s3://bucket/prefix.
func openBucket(text string) (blob.Bucket, error) {
	u, err := parseURL(text)
	if err != nil {
		return nil, err
	}
	name := "s3://" + u.Host + "/"
	set, err := settingsOf()
	if err != nil {
		return nil, failure("open", "s3://"+u.Host+u.Path, err, "")
	}
	at := &region{name: set.region}
	b := &bucket{source{
		client: clientOf(set.root(u.Host, "any").String(), noRedirects),
		root:   func() *url.URL { return set.root(u.Host, at.get()) },
		name:   name,
		signer: &awsSigner{region: at, credentials: set.credentials, signature: newSignature()},
	}}
	if below := strings.Trim(u.Path, "/"); below != "" {
		b.prefix = below + "/"
	}
	return b, nil
}

// noRedirects leaves it to the caller to follow, who has to sign anew.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// root is where a bucket's objects are: below a name of its own at Amazon, below
// a path at other servers and where the name would not fit a certificate.
func (s *settings) root(bucket, region string) *url.URL {
	if s.endpoint != nil {
		u := *s.endpoint
		u.Path = strings.TrimSuffix(u.Path, "/") + "/" + bucket + "/"
		return &u
	}
	host := "s3." + region + ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		host += ".cn"
	}
	if strings.Contains(bucket, ".") || bucket != strings.ToLower(bucket) {
		return &url.URL{Scheme: "https", Host: host, Path: "/" + bucket + "/"}
	}
	return &url.URL{Scheme: "https", Host: bucket + "." + host, Path: "/"}
}

// region is where a bucket is, shared by all that come from one opening.
type region struct {
	mu    sync.Mutex
	name  string
	fixed bool // by the server's answer
}

func (r *region) get() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.name
}

// learn takes the region that a server's rejection names, once. It reports whether
// another try is worth it, which it is also for those that were under way.
func (r *region) learn(name, tried string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !isRegion(name) || name == tried {
		return false
	}
	if !r.fixed {
		r.name, r.fixed = name, true
	}
	return r.name != tried
}

func (b *bucket) Open(ctx context.Context, key string) (blob.Object, error) {
	if err := checkKey(key); err != nil {
		return nil, b.fail("open", key, err)
	}
	o, err := b.open(ctx, key)
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (b *bucket) Create(_ context.Context, key string) (blob.Upload, error) {
	if err := checkKey(key); err != nil {
		return nil, b.fail("create", key, err)
	}
	return &upload{bucket: b, key: key}, nil
}

// Sync has nothing to do: what a server has confirmed is durable.
func (b *bucket) Sync(ctx context.Context) error { return ctx.Err() }

// gone are the answers, besides 200, to the removal of what may not be there.
var gone = []int{http.StatusNoContent, http.StatusNotFound}

func (b *bucket) Delete(ctx context.Context, key string) error {
	err := checkKey(key)
	if err == nil {
		err = b.send(ctx, request{method: http.MethodDelete, key: key, accept: gone})
	}
	return b.fail("delete", key, err)
}

// request is a request with what its answer may be.
type request struct {
	method, key string
	query       url.Values
	header      http.Header
	body        []byte
	accept      []int // besides 200
	read        func(*http.Response) error
}

// send sends a question and reads its answer.
func (b *bucket) send(ctx context.Context, q request) error {
	return b.do(ctx, call{
		bytes: int64(len(q.body)),
		build: func(ctx context.Context) (*http.Request, error) {
			u := b.address(q.key)
			u.RawQuery = strings.ReplaceAll(q.query.Encode(), "+", "%20") // as it is signed
			r := newRequest(ctx, q.method, u, q.body)
			maps.Copy(r.Header, q.header)
			return r, b.signer.sign(ctx, r, q.body)
		},
		read: func(resp *http.Response) error {
			if resp.StatusCode != http.StatusOK && !slices.Contains(q.accept, resp.StatusCode) {
				return rejected(resp)
			}
			if q.read == nil {
				return nil
			}
			return q.read(resp)
		},
	})
}

func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) { b.list(ctx, prefix, yield) }
}

func (b *bucket) Join(prefix string) blob.Bucket {
	return &bucket{b.join(prefix)}
}

func (b *bucket) Random() bool   { return false }
func (b *bucket) String() string { return strings.TrimSuffix(b.place(""), "/") }
