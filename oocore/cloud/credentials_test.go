package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// amazon answers as the services do that give credentials. What is asked of them is
// kept; requests that do not prove who asks are rejected.
type amazon struct {
	*faults
	asked   []string
	expires time.Time
}

func startAmazon(t *testing.T) *amazon {
	a := &amazon{expires: time.Now().Add(time.Hour)}
	n := 0
	a.faults = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		switch {
		case form.Get("Action") == "AssumeRole" && strings.Contains(r.Header.Get("Authorization"), "/us-east-1/sts/aws4_request"):
			id, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
			a.asked = append(a.asked, id+" "+form.Get("RoleArn")+" "+form.Get("ExternalId"))
		case form.Get("Action") == "AssumeRoleWithWebIdentity" && r.Header.Get("Authorization") == "":
			a.asked = append(a.asked, form.Get("WebIdentityToken")+" "+form.Get("RoleArn"))
		case r.URL.Path == "/federation/credentials" && r.Header.Get("X-Amz-Sso_bearer_token") == "very-secret-token":
			a.asked = append(a.asked, "sso "+r.URL.RawQuery)
			n++
			fmt.Fprintf(w, `{"roleCredentials": {"accessKeyId": "GOT%d", "secretAccessKey": "very-secret-key", "sessionToken": "t", "expiration": %d}}`, n, a.expires.UnixMilli())
			return
		case r.URL.Path == "/token":
			var m map[string]string
			if json.Unmarshal(body, &m) != nil || m["refreshToken"] != "very-secret-refresh" || m["clientId"] != "client" {
				w.WriteHeader(400)
				return
			}
			a.asked = append(a.asked, "renewed")
			fmt.Fprint(w, `{"accessToken": "very-secret-token", "expiresIn": 3600, "refreshToken": "very-secret-second"}`)
			return
		default:
			w.WriteHeader(403)
			fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>very-secret-key</Message></Error></ErrorResponse>`)
			return
		}
		n++
		result := form.Get("Action")
		fmt.Fprintf(w, `<%sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%sResult><Credentials><AccessKeyId>GOT%d</AccessKeyId><SecretAccessKey>very-secret-key</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></%sResult></%sResponse>`,
			result, result, n, a.expires.UTC().Format(time.RFC3339), result, result)
	}))
	for _, name := range []string{"STS", "SSO", "SSO_OIDC"} {
		t.Setenv("AWS_ENDPOINT_URL_"+name, a.url)
	}
	return a
}

const assumeConfig = `[default]
region = eu-central-1
[profile role]
role_arn = arn:aws:iam::1:role/x
source_profile = default
external_id = ext
[profile twice]
role_arn = arn:aws:iam::1:role/y
source_profile = role
[profile environment]
role_arn = arn:aws:iam::1:role/x
credential_source = Environment
[profile web]
role_arn = arn:aws:iam::1:role/w
web_identity_token_file = TOKENFILE
[sso-session my-sso]
sso_start_url = https://start.example
sso_region = eu-west-1
[profile sso]
sso_session = my-sso
sso_account_id = 12
sso_role_name = reader
[profile process]
credential_process = printf '{"Version": 1, "AccessKeyId": "PROCESS", "SecretAccessKey": "very-secret-key", "SessionToken": "%s", "Expiration": "2999-01-01T00:00:00Z"}' t
[profile other]
credential_process = echo very-secret-key
[profile none]
role_arn = arn:aws:iam::1:role/w
web_identity_token_file = /nowhere/token
[profile broken]
credential_process = echo very-secret-key; exit 3
[profile circle]
role_arn = arn:aws:iam::1:role/x
source_profile = circle2
[profile circle2]
role_arn = arn:aws:iam::1:role/x
source_profile = circle
[profile alone]
role_arn = arn:aws:iam::1:role/x
[profile mfa]
role_arn = arn:aws:iam::1:role/x
source_profile = default
mfa_serial = arn:aws:iam::1:mfa/me
`

// TestFetchedCredentials resolves profiles as Amazon's tools do.
func TestFetchedCredentials(t *testing.T) {
	noLeaks(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	token := filepath.Join(home, "token")
	if err := os.WriteFile(token, []byte("very-secret-web\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// SHA-1 of "my-sso", by which aws sso login names its file.
	cache := filepath.Join(home, ".aws", "sso", "cache", "0ad374308c5a4e22f723adf10145eafad7c4031c.json")
	sso := func(expires time.Time) {
		t.Helper()
		name := ssoFile(t, "my-sso")
		if err := os.MkdirAll(filepath.Dir(cache), 0o700); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"accessToken": "very-secret-token", "expiresAt": %q, "refreshToken": "very-secret-refresh", "clientId": "client", "clientSecret": "very-secret-client", "other": 1}`, expires.UTC().Format(time.RFC3339))
		if err := os.WriteFile(filepath.Join(filepath.Dir(cache), name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := startAmazon(t)
	config := strings.ReplaceAll(assumeConfig, "TOKENFILE", token)
	for name, c := range map[string]struct {
		id, asked, fails string
		env              map[string]string
		before           func()
	}{
		"role":    {id: "GOT", asked: "[DEFAULTID arn:aws:iam::1:role/x ext]"},
		"twice":   {id: "GOT", asked: "[DEFAULTID arn:aws:iam::1:role/x ext GOT arn:aws:iam::1:role/y ]"},
		"web":     {id: "GOT", asked: "[very-secret-web arn:aws:iam::1:role/w]"},
		"":        {id: "GOT", asked: "[very-secret-web arn:aws:iam::1:role/env]", env: map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:aws:iam::1:role/env"}},
		"sso":     {id: "GOT", asked: "[sso account_id=12&role_name=reader]", before: func() { sso(time.Now().Add(time.Hour)) }},
		"process": {id: "PROCESS", asked: "[]"},
		"broken":  {fails: "profile broken of the AWS files: its credential_process fails: exit status 3"},
		"circle":  {fails: "assumes roles in a circle"},
		"alone":   {fails: "neither source_profile nor credential_source"},
		"mfa":     {fails: "wants the code of a device"},
		"none":    {fails: `the role "arn:aws:iam::1:role/w" cannot be assumed: open /nowhere/token: `},
		"other":   {fails: "profile other of the AWS files: its credential_process prints something other than credentials of version 1"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			if c.before != nil {
				c.before()
			}
			a.asked = nil
			t.Setenv("AWS_PROFILE", name)
			profiles(t, config, testCredentials)
			s, err := settingsOf()
			var k aws.Credentials
			if err == nil {
				k, err = s.credentials.get(t.Context())
			}
			if c.fails != "" {
				if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "very-secret") || strings.Contains(err.Error(), "\n") {
					t.Error(err)
				}
				return
			}
			asked := fmt.Sprint(a.asked)
			for n := range 20 {
				asked = strings.ReplaceAll(asked, fmt.Sprintf("GOT%d ", n), "GOT ")
			}
			if err != nil || !strings.HasPrefix(k.AccessKeyID, c.id) || k.SecretAccessKey != "very-secret-key" || k.SessionToken != "t" || asked != c.asked {
				t.Errorf("%+v, %v, asked %s", k, err, asked)
			}
			if again, err := s.credentials.get(t.Context()); err != nil || again != k {
				t.Errorf("again %+v, %v", again, err)
			}
		})
	}
	t.Run("sso expired", func(t *testing.T) {
		sso(time.Now().Add(-time.Hour))
		a.asked = nil
		t.Setenv("AWS_PROFILE", "sso")
		profiles(t, config, testCredentials)
		s, err := settingsOf()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.credentials.get(t.Context()); err != nil || fmt.Sprint(a.asked) != "[renewed sso account_id=12&role_name=reader]" {
			t.Errorf("%v, asked %v", err, a.asked)
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(cache), ssoFile(t, "my-sso")))
		if err != nil || !strings.Contains(string(text), "very-secret-second") || !strings.Contains(string(text), `"other":1`) {
			t.Errorf("%s, %v", text, err)
		}
	})
	t.Run("sso never", func(t *testing.T) {
		t.Setenv("HOME", t.TempDir())
		t.Setenv("AWS_PROFILE", "sso")
		profiles(t, config, testCredentials)
		s, err := settingsOf()
		if err == nil {
			_, err = s.credentials.get(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), "nobody has signed on: run aws sso login --profile sso") {
			t.Error(err)
		}
	})
}

// ssoFile is the name of a sign-on's file: the SHA-1 of its session's name, as
// printf my-sso | sha1sum says.
func ssoFile(t *testing.T, session string) string {
	t.Helper()
	if session != "my-sso" {
		t.Fatal("only that one is known")
	}
	return "0ad374308c5a4e22f723adf10145eafad7c4031c.json"
}

// TestExpiredKeysAreFetchedAnew has keys that end while they are in use: near the end
// they are replaced before, and where the server says that they have expired, then.
func TestExpiredKeysAreFetchedAnew(t *testing.T) {
	noLeaks(t)
	fakeS3(t)
	put(t, at(t, "s3://data"), "x", []byte("abc"))
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	n := 0
	p := &provider{place: "test", fetch: func(context.Context) (aws.Credentials, error) {
		n++
		return aws.Credentials{AccessKeyID: fmt.Sprint("KEY", n), SecretAccessKey: testSecret, CanExpire: true, Expires: time.Now().Add(time.Hour)}, nil
	}}
	f := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), "KEY1/") {
			w.WriteHeader(400)
			fmt.Fprint(w, `<Error><Code>ExpiredToken</Code></Error>`)
			return
		}
		fmt.Fprint(w, "abc")
	}))
	u, _ := url.Parse(f.url + "/data/")
	b := &bucket{source{client: clientOf(f.url, noRedirects), root: func() *url.URL { return u }, name: "s3://data/", region: newRegion("x"), credentials: p, signature: newSignature()}, bucketCan}
	if _, err := p.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.since = p.since.Add(-time.Minute)
	read := func() error { _, err := blob.Get(t.Context(), b, "x", make([]byte, 10)); return err }
	if err := read(); err != nil || n != 2 {
		t.Errorf("%v, %d keys", err, n)
	}
	p.held.Expires = time.Now().Add(early / 2)
	if err := read(); err != nil || n != 3 {
		t.Errorf("%v, %d keys", err, n)
	}
	p.held.Expires = time.Now().Add(early / 2)
	p.fetch = func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errAnswer }
	if err := read(); err != nil {
		t.Errorf("keys that still hold: %v", err)
	}
}
