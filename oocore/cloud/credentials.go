package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// metadata reaches servers of the machine itself, never by a proxy.
var metadata = &http.Client{Transport: &http.Transport{
	DialContext:       (&net.Dialer{Timeout: time.Second}).DialContext,
	DisableKeepAlives: true,
}}

// provider gives credentials, and fetches new ones before they expire. It is safe for
// concurrent use.
type provider struct {
	place string // where they come from, for messages
	mu    sync.Mutex
	held  aws.Credentials
	since time.Time                                      // they were fetched
	fetch func(context.Context) (aws.Credentials, error) // nil where those that are held never expire
}

// early is how long before their end credentials are replaced.
const early = 5 * time.Minute

// fetching is how long it may take to fetch credentials.
const fetching = 30 * time.Second

// errNoCredentials is returned where none of the places has credentials.
var errNoCredentials = errors.New("no credentials are found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_NO_SIGN_REQUEST=true for a public bucket")

// errAnswer is returned where a server or a program answers with something other than credentials.
var errAnswer = errors.New("the answer holds no credentials")

// providerOf is the provider of what Amazon's module has chosen.
func providerOf(name string, profile config.SharedConfig, source aws.CredentialsProvider) (*provider, error) {
	is := func(other aws.CredentialsProvider) bool { return aws.IsCredentialsProvider(source, other) }
	p := &provider{place: placeOf(name)}
	failed := func(err error) error {
		return fmt.Errorf("the role %.100q cannot be assumed: %w", profile.RoleARN, reasonOf(err))
	}
	switch {
	case is(credentials.StaticCredentialsProvider{}):
		var err error
		if p.held, err = source.Retrieve(context.Background()); p.held.Source == config.CredentialsSourceName {
			p.place = "AWS_ACCESS_KEY_ID"
		}
		return p, err
	case is(&ec2rolecreds.Provider{}):
		if isTrue(os.Getenv("AWS_EC2_METADATA_DISABLED")) {
			return nil, errNoCredentials
		}
		p.place, failed = "the machine's role", func(error) error { return errNoCredentials }
	case is(&endpointcreds.Provider{}):
		p.place, failed = "the container's role", func(err error) error {
			return fmt.Errorf("the container's role gives no credentials: %w", reasonOf(err))
		}
	case profile.RoleARN != "" && profile.Source == nil && profile.CredentialSource == "" && profile.WebIdentityTokenFile == "":
		return nil, fmt.Errorf("%s has a role_arn, and neither source_profile nor credential_source says who assumes it", p.place)
	case profile.RoleARN != "":
	case profile.SSOSession != nil || profile.SSOStartURL != "":
		failed = func(err error) error {
			reason := reasonOf(err)
			if errors.Is(err, fs.ErrNotExist) {
				reason = errors.New("nobody has signed on")
			}
			return fmt.Errorf("%s: %w: run aws sso login --profile %s", p.place, reason, name)
		}
	case profile.CredentialProcess != "":
		failed = func(err error) error {
			if reason := reasonOf(err); reason != errAnswer {
				return fmt.Errorf("%s: its credential_process fails: %w", p.place, reason)
			}
			return fmt.Errorf("%s: its credential_process prints something other than credentials of version 1", p.place)
		}
	default:
		p.place = "AWS_WEB_IDENTITY_TOKEN_FILE"
		profile.RoleARN = os.Getenv("AWS_ROLE_ARN")
	}
	p.fetch = func(ctx context.Context) (aws.Credentials, error) {
		if cached, ok := source.(*aws.CredentialsCache); ok {
			cached.Invalidate()
		}
		c, err := source.Retrieve(ctx)
		switch {
		case err == nil:
			return c, nil
		case errors.Is(ctx.Err(), context.Canceled):
			return c, ctx.Err()
		}
		return c, failed(err)
	}
	return shared(p, name), nil
}

func placeOf(profile string) string { return fmt.Sprintf("profile %s of the AWS files", profile) }

// reasonOf is why credentials could not be fetched, without anything that a server or a
// program said in words of its own: it may hold secrets.
func reasonOf(err error) error {
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && answer.Response != nil {
		said := fmt.Sprintf("the server answers %d %s", answer.HTTPStatusCode(), http.StatusText(answer.HTTPStatusCode()))
		if why, ok := errors.AsType[smithy.APIError](err); ok {
			said += " (" + oneLine(why.ErrorCode()) + ")"
		}
		return errors.New(said)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return errors.New(file.Error()) // what is missing is no object
	}
	if program, ok := errors.AsType[*exec.ExitError](err); ok {
		return program
	}
	return errAnswer
}

// providers are shared by all buckets, so that they ask once, as long as the settings that
// they come from are the same.
var providers sync.Map // of *provider

// shared is the provider that came from the same settings before, or p.
func shared(p *provider, name string) *provider {
	from := []string{name}
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "AWS_") || strings.HasPrefix(variable, "HOME=") {
			from = append(from, variable)
		}
	}
	slices.Sort(from)
	for _, file := range profileFiles() {
		if info, err := os.Stat(file); err == nil {
			from = append(from, fmt.Sprint(info.Size(), info.ModTime().UnixNano()))
		}
	}
	held, _ := providers.LoadOrStore(strings.Join(from, "\x00"), p)
	return held.(*provider)
}

func (p *provider) get(ctx context.Context) (aws.Credentials, error) {
	if p.fetch == nil {
		return p.held, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held.HasKeys() && (!p.held.CanExpire || time.Until(p.held.Expires) > early) {
		return p.held, nil
	}
	limited, cancel := context.WithTimeout(ctx, fetching)
	defer cancel()
	c, err := p.fetch(limited)
	if err != nil {
		if ctx.Err() == nil && p.held.HasKeys() && time.Now().Before(p.held.Expires) { // they still hold, and a later request asks again
			return p.held, nil
		}
		return aws.Credentials{}, err
	}
	p.held, p.since = c, time.Now()
	return c, nil
}

// drop gives up credentials that a server has rejected as expired, unless they were
// fetched just now. It reports whether the next get has others.
func (p *provider) drop() bool {
	if p.fetch == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.since) > time.Second {
		p.held = aws.Credentials{}
	}
	return true
}

// newSignature signs for S3, which wants paths that are escaped once. It serves one
// opening, since it remembers what it derives from a secret.
func newSignature() *v4.Signer {
	return v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
}

// sign signs a request as Amazon's Signature Version 4 describes, with the hash of the
// body, so that what is damaged under way is rejected.
func (s *source) sign(ctx context.Context, r *http.Request, body []byte) error {
	if s.credentials == nil {
		return nil
	}
	c, err := s.credentials.get(ctx)
	if err != nil {
		return err
	}
	hash := hashHex(body)
	r.Header.Set("X-Amz-Content-Sha256", hash)
	return s.signature.SignHTTP(ctx, c, r, hash, "s3", *s.region.name.Load(), clock())
}

// clock is when requests are signed.
var clock = time.Now

func hashHex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
