package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// provider gives keys, and fetches new ones before they expire. It is safe for
// concurrent use.
type provider struct {
	place string // for people
	mu    sync.Mutex
	keys  keys
	since time.Time                           // they were fetched
	fetch func(context.Context) (keys, error) // nil where keys are there from the start
}

// fixed gives keys that don't change.
func fixed(place string, k keys) *provider { return &provider{place: place, keys: k} }

// early is how long before their end keys are replaced.
const early = 5 * time.Minute

// fetching is how long it may take to fetch keys.
const fetching = 30 * time.Second

func (p *provider) get(ctx context.Context) (keys, error) {
	if p.fetch == nil {
		return p.keys, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keys.id != "" && (p.keys.expires.IsZero() || time.Until(p.keys.expires) > early) {
		return p.keys, nil
	}
	limited, cancel := context.WithTimeout(ctx, fetching)
	defer cancel()
	k, err := p.fetch(limited)
	if err != nil {
		if ctx.Err() == nil && p.keys.id != "" && time.Now().Before(p.keys.expires) { // they still hold, and a later request asks again
			return p.keys, nil
		}
		return keys{}, err
	}
	p.keys, p.since = k, time.Now()
	return k, nil
}

// drop gives up keys that a server has rejected as expired, unless they were fetched just
// now. It reports whether the next get has others.
func (p *provider) drop() bool {
	if p.fetch == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.since) > time.Second {
		p.keys = keys{}
	}
	return true
}

// roles keeps what machines and containers were given, for all buckets.
var roles = roleCache{held: map[string]*provider{}}

type roleCache struct {
	sync.Mutex
	held map[string]*provider
}

// of is the provider of a container's URL, or of the machine where it is empty.
func (c *roleCache) of(at string) *provider {
	c.Lock()
	defer c.Unlock()
	name := firstOf(at, metadataServer())
	p := c.held[name]
	if p == nil {
		p = &provider{place: "the machine's role", fetch: func(ctx context.Context) (keys, error) { return machineRole(ctx, name) }}
		if at != "" {
			p = &provider{place: "the container's role", fetch: func(ctx context.Context) (keys, error) { return containerRole(ctx, at) }}
		}
		c.held[name] = p
	}
	return p
}

// metadataServer tells a machine at Amazon about itself.
func metadataServer() string {
	return strings.TrimSuffix(firstOf(os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), "http://169.254.169.254"), "/")
}

// metadata reaches servers of the machine itself, never by a proxy.
var metadata = http.Client{Transport: &http.Transport{
	DialContext:       (&net.Dialer{Timeout: time.Second}).DialContext,
	DisableKeepAlives: true,
}}

// machineRole asks for the keys of the machine's role, by IMDSv2.
func machineRole(ctx context.Context, server string) (keys, error) {
	token, err := ask(ctx, http.MethodPut, server+"/latest/api/token", http.Header{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": {"21600"}})
	if err != nil {
		if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
			return keys{}, ctx.Err()
		}
		return keys{}, errNoCredentials // this machine is not at Amazon
	}
	h := http.Header{"X-Aws-Ec2-Metadata-Token": {string(token)}}
	const path = "/latest/meta-data/iam/security-credentials/"
	role, err := ask(ctx, http.MethodGet, server+path, h)
	if err != nil {
		return keys{}, errNoCredentials // it has no role
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(role)), "\n")
	body, err := ask(ctx, http.MethodGet, server+path+url.PathEscape(name), h)
	if err != nil {
		return keys{}, fmt.Errorf("the machine's role gives no credentials: %w", err)
	}
	return parseRole(body)
}

// containerRole asks for the keys of a container's role. Only servers of the
// machine itself, or those that prove who they are, get to know the token.
func containerRole(ctx context.Context, at string) (keys, error) {
	u, err := url.Parse(at)
	if err != nil {
		return keys{}, errors.New("AWS_CONTAINER_CREDENTIALS_FULL_URI is not a URL")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme != "https" && !(u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.Equal(net.ParseIP("fd00:ec2::23"))))) {
		return keys{}, fmt.Errorf("AWS_CONTAINER_CREDENTIALS_FULL_URI leads to %s, which is neither this machine nor https", u.Hostname())
	}
	h := http.Header{}
	token := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
	if file := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return keys{}, err
		}
		token = strings.TrimSpace(string(b))
	}
	if token != "" {
		h.Set("Authorization", token)
	}
	body, err := ask(ctx, http.MethodGet, at, h)
	if err != nil {
		return keys{}, fmt.Errorf("the container's role gives no credentials: %w", err)
	}
	return parseRole(body)
}

func parseRole(body []byte) (keys, error) {
	var r struct {
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		Token           string
		Expiration      time.Time
	}
	if json.Unmarshal(body, &r) != nil || r.AccessKeyID == "" || r.SecretAccessKey == "" {
		return keys{}, errors.New("the role's server answers something other than credentials")
	}
	return keys{id: r.AccessKeyID, secret: r.SecretAccessKey, token: r.Token, expires: r.Expiration}, nil
}

// ask sends one request to a metadata server. Its errors hold no URL and no
// header.
func ask(ctx context.Context, method, at string, h http.Header) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, nil)
	if err != nil {
		return nil, errors.New("its address is not a URL")
	}
	r.Header = h
	resp, err := metadata.Do(r)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxMessage))
}
