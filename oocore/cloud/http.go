package cloud

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"path"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// server is a folder of a web server. It can be read only.
type server struct{ source }

// openServer opens an http:// or https:// URL of a folder.
func openServer(text string) (blob.Bucket, error) {
	u, err := parseURL(text)
	if err != nil {
		return nil, err
	}
	if u.Path = path.Clean("/" + u.Path); u.Path != "/" {
		u.Path += "/"
	}
	u.RawPath = ""
	return &server{source{
		client: clientOf(u.Scheme+"://"+u.Host, noDowngrade),
		root:   func() *url.URL { return u },
		name:   u.Scheme + "://" + u.Host + u.Path,
		region: newRegion(""),
	}}, nil
}

// parseURL rejects URLs that hold secrets, since paths are shown and recorded.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil: // its text holds the URL
		return nil, errors.New("this is not a URL")
	case u.User != nil:
		return nil, fmt.Errorf("%s://%s: a URL that holds a user or password is rejected, since paths are shown and recorded", u.Scheme, u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s://%s%s: a URL with a query such as a signature is rejected, since paths are shown and recorded", u.Scheme, u.Host, u.Path)
	case u.Host == "":
		return nil, fmt.Errorf("%s: the name after %s:// is missing", u.Scheme, u.Scheme)
	}
	return u, nil
}

// noDowngrade follows where a server leads to, but not out of https.
func noDowngrade(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > 5:
		return errors.New("the server leads in a circle")
	case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
		return errors.New("the server leads from https to http")
	}
	return nil
}

func (s *server) Create(_ context.Context, key string) (blob.Upload, error) {
	return nil, s.fail("create", key, errReadOnly)
}

func (s *server) Delete(_ context.Context, key string) error {
	return s.fail("delete", key, errReadOnly)
}

func (s *server) List(_ context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	return func(yield func(blob.Entry, error) bool) {
		yield(blob.Entry{}, s.fail("list", prefix, fmt.Errorf("%w: web servers do not list what they have", errors.ErrUnsupported)))
	}
}

// serverCan is what web servers can do.
var serverCan = blob.Capabilities{Network: true}

func (s *server) Can() blob.Capabilities { return serverCan }

func (s *server) Join(prefix string) blob.Bucket { return &server{s.join(prefix)} }

// errReadOnly rejects writing to web servers.
var errReadOnly = fmt.Errorf("%w: http:// and https:// can only be read: write to this machine or to s3://", fs.ErrPermission)
