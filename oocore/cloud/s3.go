package cloud

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// bucket is a bucket of S3, or its keys that begin with a prefix.
type bucket struct {
	source
	can blob.Capabilities
}

// openBucket opens s3://bucket/prefix.
func openBucket(text string) (blob.Bucket, error) {
	set, err := settingsOf()
	return openIn(text, "s3", bucketCan, set, err)
}

// openIn opens the bucket of an address by settings, which were read with an error.
func openIn(text, scheme string, can blob.Capabilities, set *settings, unset error) (blob.Bucket, error) {
	u, err := parseURL(text)
	if err != nil {
		return nil, err
	}
	name := scheme + "://" + u.Host + "/"
	if unset != nil {
		return nil, failure("open", scheme+"://"+u.Host+u.Path, unset, "")
	}
	at := newRegion(set.region)
	b := &bucket{source{
		client: clientOf(set.root(u.Host, "any").String(), noRedirects),
		root:   func() *url.URL { return set.root(u.Host, *at.name.Load()) },
		name:   name,
		region: at, credentials: set.credentials, signature: newSignature(),
	}, can}
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

// region is where a bucket is, shared by all that come from one opening; a web server is
// in none.
type region struct{ name atomic.Pointer[string] }

func newRegion(name string) *region {
	r := new(region)
	r.name.Store(&name)
	return r
}

// learn takes the region that a server's rejection names, where the one that was tried
// was another. It reports whether another try may help, which it may also for those that
// were under way.
func (r *region) learn(name, tried string) bool {
	if known := r.name.Load(); *known == tried && tried != "" && isRegion(name) {
		r.name.CompareAndSwap(known, &name)
	}
	return *r.name.Load() != tried
}

func (b *bucket) Create(_ context.Context, key string) (blob.Upload, error) {
	if err := checkKey(key); err != nil {
		return nil, b.fail("create", key, err)
	}
	return &upload{bucket: b, key: key}, nil
}

// gone are the statuses, besides 200, of the removal of an object that may be missing.
var gone = []int{http.StatusNoContent, http.StatusNotFound}

func (b *bucket) Delete(ctx context.Context, key string) error {
	return b.fail("delete", key, b.send(ctx, request{method: http.MethodDelete, key: key, accept: gone}))
}

func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) { b.list(ctx, prefix, yield) }
}

// bucketCan is what S3 can do. Old servers of its kind store what has a condition in any case.
var bucketCan = blob.Capabilities{List: true, Conditional: true, Network: true}

func (b *bucket) Can() blob.Capabilities { return b.can }

func (b *bucket) Join(prefix string) blob.Bucket {
	return &bucket{b.join(prefix), b.can}
}

func init() {
	blob.Register("s3", bucketCan, openBucket)
	blob.Register("gs", googleCan, openGoogle)
	blob.Register("http", serverCan, openServer)
	blob.Register("https", serverCan, openServer)
}
