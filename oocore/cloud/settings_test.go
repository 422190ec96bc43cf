package cloud

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

const testConfig = `# a comment
[default]
region = eu-central-1
s3 =
    addressing_style = path
    region = indented-1
[profile lab]
region=eu-north-1 # cold
endpoint_url = https://store.lab.example
[profile sso]
sso_session = my-sso
[sso-session my-sso]
sso_start_url = https://start.example
[profile role]
role_arn = arn:aws:iam::1:role/x
[profile services]
services = mine
[services mine]
sts =
  endpoint_url = https://sts.mine.example
s3 =
  endpoint_url = https://s3.mine.example
`

const testCredentials = `[default]
aws_access_key_id = DEFAULTID
aws_secret_access_key = very-secret-key
[lab]
aws_access_key_id=LABID
AWS_SECRET_ACCESS_KEY=very-secret-key
aws_session_token=very-secret-token
`

// profiles writes the files of profiles, and has the environment name them.
func profiles(t *testing.T, config, credentials string) {
	t.Helper()
	for variable, text := range map[string]string{"AWS_CONFIG_FILE": config, "AWS_SHARED_CREDENTIALS_FILE": credentials} {
		name := filepath.Join(t.TempDir(), variable)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, name)
	}
}

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		env                             map[string]string
		region, endpoint, id, tok, root string
	}{
		"files":       {nil, "eu-central-1", "", "DEFAULTID", "", "https://b.s3.eu-central-1.amazonaws.com/"},
		"profile":     {map[string]string{"AWS_PROFILE": "lab"}, "eu-north-1", "https://store.lab.example", "LABID", "very-secret-token", "https://store.lab.example/b/"},
		"environment": {map[string]string{"AWS_ACCESS_KEY_ID": "ENVID", "AWS_SECRET_ACCESS_KEY": "very-secret-key", "AWS_REGION": "cn-north-1"}, "cn-north-1", "", "ENVID", "", "https://b.s3.cn-north-1.amazonaws.com.cn/"},
		"endpoints": {map[string]string{"AWS_ENDPOINT_URL": "http://one:9000", "AWS_ENDPOINT_URL_S3": "http://two:9000/below/", "AWS_DEFAULT_REGION": "x-1"},
			"x-1", "http://two:9000/below/", "DEFAULTID", "", "http://two:9000/below/b/"},
		"services": {map[string]string{"AWS_PROFILE": "services", "AWS_ACCESS_KEY_ID": "ENVID", "AWS_SECRET_ACCESS_KEY": "very-secret-key", "AWS_ENDPOINT_URL": "http://all:9000"},
			"us-east-1", "https://s3.mine.example", "ENVID", "", "https://s3.mine.example/b/"},
		"unsigned": {map[string]string{"AWS_NO_SIGN_REQUEST": "true"}, "eu-central-1", "", "", "", "https://b.s3.eu-central-1.amazonaws.com/"},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			profiles(t, testConfig, testCredentials)
			s, err := settingsOf()
			if err != nil {
				t.Fatal(err)
			}
			var k aws.Credentials
			if s.credentials != nil {
				k = s.credentials.held
			}
			endpoint := ""
			if s.endpoint != nil {
				endpoint = s.endpoint.String()
			}
			if s.region != c.region || endpoint != c.endpoint || k.AccessKeyID != c.id || k.SessionToken != c.tok || s.root("b", s.region).String() != c.root {
				t.Errorf("region %s, endpoint %s, %+v, root %s", s.region, endpoint, k, s.root("b", s.region))
			}
		})
	}
	if u := (&settings{}).root("with.dots", "us-east-1").String(); u != "https://s3.us-east-1.amazonaws.com/with.dots/" {
		t.Error(u)
	}
}

func TestRefusedSettings(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"AWS_PROFILE names \"none\", which is not in ":                   {"AWS_PROFILE": "none"},
		"only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set": {"AWS_SECRET_ACCESS_KEY": testSecret},
		"AWS_ENDPOINT_URL is not of the form":                            {"AWS_ENDPOINT_URL": "https://user:very-secret-key@host"},
		"AWS_REGION \"evil.example/\" is not the name of a region":       {"AWS_REGION": "evil.example/"},
	} {
		t.Run(want, func(t *testing.T) {
			for k, v := range env {
				t.Setenv(k, v)
			}
			profiles(t, testConfig+"[profile empty]\nregion=x\n", testCredentials)
			_, err := settingsOf()
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret-key") {
				t.Error(err)
			}
		})
	}
	for text, want := range map[string]string{
		"[default]\naws_access_key_id = very-secret-id": "profile default of the AWS files has only one of aws_access_key_id and aws_secret_access_key: set both",
		"[default\nx=1":              "line 1: a ] is missing",
		"[default]\nvery-secret-key": "line 2: it is not of the form name = value",
		"[default]\nx=" + strings.Repeat("very-secret-key", 10_000): "no credentials are found",
	} {
		profiles(t, "", text)
		if _, err := settingsOf(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "very-secret") {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func TestNoCredentials(t *testing.T) {
	if _, err := openBucket("s3://data/x"); err == nil || !strings.HasPrefix(err.Error(), "open s3://data/x: no credentials are found: set AWS_ACCESS_KEY_ID") {
		t.Error(err)
	}
	// A machine that is not at Amazon: nothing answers for its role.
	f := serve(t, http.NotFoundHandler())
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f.url)
	b := at(t, "s3://data")
	if _, err := b.Open(context.Background(), "x"); err == nil || !strings.HasPrefix(err.Error(), "open s3://data/x: no credentials are found") {
		t.Error(err)
	}
}

// The certificates of AWS_CA_BUNDLE vouch for the services that give credentials.
func TestCredentialsFromServerOfCABundle(t *testing.T) {
	noLeaks(t)
	s := httptest.NewTLSServer(startAmazon(t).faults)
	defer s.Close()
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Setenv("AWS_ENDPOINT_URL_STS", s.URL)
	t.Setenv("AWS_PROFILE", "role")
	profiles(t, assumeConfig, testCredentials)
	bundle := filepath.Join(t.TempDir(), "bundle.pem")
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, known := range []bool{true, false} {
		if t.Setenv("AWS_CA_BUNDLE", bundle); !known {
			t.Setenv("AWS_CA_BUNDLE", "")
		}
		set, err := settingsOf()
		if err == nil {
			_, err = set.credentials.get(t.Context())
		}
		if (err == nil) != known {
			t.Errorf("known %v: %v", known, err)
		}
	}
}

// TestUnsigned reads a public bucket.
func TestUnsigned(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	put(t, at(t, "s3://data"), "x", []byte("abc"))
	t.Setenv("AWS_NO_SIGN_REQUEST", "1")
	f.on(nil)
	if _, err := at(t, "s3://data").Open(context.Background(), "x"); err != nil || f.requests[0].Header.Get("Authorization") != "" {
		t.Error(err, f.requests[0].Header)
	}
}

// TestRoles has a machine's and a container's metadata server.
func TestRoles(t *testing.T) {
	noLeaks(t)
	fetched := 0
	expires := time.Now().Add(early / 2)
	answer := func(w http.ResponseWriter) {
		fetched++
		fmt.Fprintf(w, `{"Code": "Success", "AccessKeyId": "ROLE%d", "SecretAccessKey": "very-secret-key", "Token": "very-secret-token", "Expiration": %q}`, fetched, expires.Format(time.RFC3339Nano))
	}
	f := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case r.Method == http.MethodPut && path == "/latest/api/token" && r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") != "":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "21600")
			fmt.Fprint(w, "session")
		case path == "/container" && r.Header.Get("Authorization") == "Bearer t":
			answer(w)
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "session":
			w.WriteHeader(401)
		case path == "/latest/meta-data/iam/security-credentials/":
			fmt.Fprint(w, "my-role")
		case path == "/latest/meta-data/iam/security-credentials/my-role":
			answer(w)
		}
	}))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f.url)
	get := func(want string) {
		t.Helper()
		s, err := settingsOf()
		if err != nil {
			t.Fatal(err)
		}
		if k, err := s.credentials.get(context.Background()); err != nil || k.AccessKeyID != want {
			t.Errorf("%s, %v; want %s", k.AccessKeyID, err, want)
		}
	}
	get("ROLE1")
	expires = time.Now().Add(time.Hour)
	get("ROLE2") // the first keys were near their end
	get("ROLE2")
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f.url+"/container")
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer t")
	get("ROLE3")
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://10.1.2.3/container")
	if _, err := settingsOf(); err == nil || !strings.Contains(err.Error(), `"10.1.2.3", only loopback/ecs/eks hosts are allowed`) {
		t.Error(err)
	}
}

// TestRegions has a server whose bucket is elsewhere.
func TestRegions(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	put(t, b, "x", []byte("abc"))
	f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !strings.Contains(r.Header.Get("Authorization"), "/eu-west-3/s3/") {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-3")
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
	for range 2 {
		if _, err := b.Open(context.Background(), "x"); err != nil {
			t.Error(err)
		}
		if err := b.Join("y/").Delete(context.Background(), "x"); err != nil {
			t.Error(err)
		}
	}
	if f.seen() != 5 {
		t.Errorf("%d requests for four", f.seen())
	}
}

func FuzzProfiles(f *testing.F) {
	f.Add(testConfig)
	f.Add(testCredentials)
	f.Add("[a]\n[profile a]\nb=\n=c\n[]\n ]")
	f.Fuzz(func(t *testing.T, text string) {
		profiles(t, text, text)
		if _, err := settingsOf(); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q", err)
		}
	})
}
