package cloud

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// settings say how to reach S3.
type settings struct {
	endpoint    *url.URL // nil is Amazon's
	region      string
	credentials *provider // nil asks without any
}

// settingsOf reads the environment and the files of profiles.
func settingsOf(files files) (*settings, error) {
	name := firstOf(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"))
	p, err := files.profile(name)
	if err != nil {
		return nil, err
	}
	s := &settings{region: firstOf(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), p["region"], "us-east-1")}
	if !validRegion(s.region) {
		return nil, fmt.Errorf("AWS_REGION %.40q is not the name of a region, such as eu-central-1", s.region)
	}
	if s.endpoint, err = endpoint(firstOf(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), p["endpoint_url"])); err != nil {
		return nil, err
	}
	if !yes(os.Getenv("AWS_NO_SIGN_REQUEST")) {
		s.credentials, err = credentialsOf(name, p)
	}
	return s, err
}

// validRegion keeps anything else out of servers' names.
func validRegion(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') })
}

// endpoint checks another server's URL; none is nil.
func endpoint(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("AWS_ENDPOINT_URL is not of the form https://HOST or http://HOST:PORT")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}, nil
}

// credentialsOf looks for credentials where Amazon's tools do, in their order:
// environment, profile, a container's role, the machine's role. The files' name
// is first where the user chose a profile.
func credentialsOf(name string, p map[string]string) (*provider, error) {
	if id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		return fixed("AWS_ACCESS_KEY_ID", keys{id: id, secret: secret, token: os.Getenv("AWS_SESSION_TOKEN")}), nil
	} else if id != "" || secret != "" {
		return nil, errors.New("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: set both")
	}
	profile := fmt.Sprintf("profile %s of the AWS files", firstOf(name, "default"))
	if id, secret := p["aws_access_key_id"], p["aws_secret_access_key"]; id != "" && secret != "" {
		return fixed(profile, keys{id: id, secret: secret, token: p["aws_session_token"]}), nil
	}
	for _, way := range []string{"sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file", "login_session"} {
		if p[way] != "" {
			return nil, fmt.Errorf("%s uses %s, which is not known here: run eval \"$(aws configure export-credentials --profile %s --format env)\" before", profile, way, firstOf(name, "default"))
		}
	}
	if os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		return nil, errors.New("AWS_WEB_IDENTITY_TOKEN_FILE is not known here: run eval \"$(aws configure export-credentials --format env)\" before")
	}
	if at := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); at != "" {
		return roles.of("http://169.254.170.2" + at), nil
	}
	if at := os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"); at != "" {
		return roles.of(at), nil
	}
	if yes(os.Getenv("AWS_EC2_METADATA_DISABLED")) {
		return nil, errNoCredentials
	}
	return roles.of(""), nil
}

// errNoCredentials is returned where none of the places has credentials.
var errNoCredentials = errors.New("no credentials are found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or AWS_NO_SIGN_REQUEST=true for a public bucket")

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func yes(s string) bool {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}
