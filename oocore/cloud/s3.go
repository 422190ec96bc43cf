package cloud

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gonbext/gonbext/oocore/store/blob"
)

// bucket is a bucket of S3, or its keys below a prefix.
type bucket struct {
	source
	region *region
}

// region is where a bucket is, shared by all that come from one opening.
type region struct {
	sync.Mutex
	name  string
	fixed bool // by the server's answer
}

func (r *region) get() string {
	r.Lock()
	defer r.Unlock()
	return r.name
}

// learn takes the region that a server's refusal names; it reports whether that
// is news.
func (r *region) learn(name string) bool {
	r.Lock()
	defer r.Unlock()
	if name == "" || name == r.name || r.fixed {
		return false
	}
	r.name, r.fixed = name, true
	return true
}

// openBucket opens s3://bucket/prefix.
func openBucket(text string) (blob.Bucket, error) {
	u, err := parseURL(text)
	if err != nil {
		return nil, err
	}
	set, err := settingsOf(profileFiles())
	if err != nil {
		return nil, failure("open", "s3://"+u.Host, err, "")
	}
	r := &region{name: set.region}
	b := &bucket{region: r, source: source{
		root:   set.root(u.Host),
		name:   "s3://" + u.Host + "/",
		signer: &awsSigner{region: r, credentials: set.credentials},
	}}
	b.client = clientOf(b.root.String(), func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse })
	if below := strings.Trim(u.Path, "/"); below != "" {
		b.prefix = below + "/"
	}
	return b, nil
}

// root is where a bucket's objects are: below a name of its own at Amazon, below
// a path at other servers and where the name would not fit a certificate.
func (s *settings) root(name string) *url.URL {
	if s.endpoint != nil {
		u := *s.endpoint
		u.Path = strings.TrimSuffix(u.Path, "/") + "/" + name + "/"
		return &u
	}
	suffix := "amazonaws.com"
	if strings.HasPrefix(s.region, "cn-") {
		suffix += ".cn"
	}
	host := "s3." + s.region + "." + suffix
	if strings.Contains(name, ".") || name != strings.ToLower(name) {
		return &url.URL{Scheme: "https", Host: host, Path: "/" + name + "/"}
	}
	return &url.URL{Scheme: "https", Host: name + "." + host, Path: "/"}
}

// do sends a call, and once more where the bucket turns out to be in another
// region.
func (b *bucket) do(ctx context.Context, c call) error {
	err := b.client.do(ctx, c)
	if s, ok := errors.AsType[*statusError](err); ok && b.region.learn(s.region) {
		err = b.client.do(ctx, c)
	}
	return err
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

func (b *bucket) Delete(ctx context.Context, key string) error {
	err := checkKey(key)
	if err == nil {
		err = b.plain(ctx, http.MethodDelete, key, nil, nil, nil, http.StatusOK, http.StatusNoContent, http.StatusNotFound)
	}
	return b.fail("delete", key, err)
}

// plain sends a request with a body and hands its answer to read, which may be
// nil.
func (b *bucket) plain(ctx context.Context, method, key string, query url.Values, body []byte, read func(*http.Response) error, accept ...int) error {
	return b.do(ctx, call{
		bytes: int64(len(body)),
		build: func(ctx context.Context) (*http.Request, error) {
			u := b.address(key)
			u.RawQuery = canonicalQuery(query)
			r := newRequest(ctx, method, u, body)
			return r, b.signer.sign(ctx, r, body)
		},
		read: func(resp *http.Response) error {
			for _, status := range accept {
				if resp.StatusCode == status {
					if read == nil {
						return nil
					}
					return read(resp)
				}
			}
			return refused(resp)
		},
	})
}

func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) { b.list(ctx, prefix, yield) }
}

func (b *bucket) Join(prefix string) blob.Bucket {
	return &bucket{source: b.join(prefix), region: b.region}
}

func (b *bucket) Random() bool   { return false }
func (b *bucket) String() string { return strings.TrimSuffix(b.place(""), "/") }
