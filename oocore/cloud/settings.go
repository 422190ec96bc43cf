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
		s.credentials, err = chain{files: files, region: s.region}.credentialsOf(name, p)
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
// environment, a role with a web identity, profile, a container's role, the machine's
// role.
func (c chain) credentialsOf(name string, p map[string]string) (*provider, error) {
	if k, ok, err := fromEnvironment(); ok || err != nil {
		return k, err
	}
	if file := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"); file != "" && os.Getenv("AWS_ROLE_ARN") != "" && name == "" {
		return c.webIdentity("AWS_WEB_IDENTITY_TOKEN_FILE", os.Getenv("AWS_ROLE_ARN"), file, ""), nil
	}
	if p["role_arn"] == "" {
		if id, secret := p["aws_access_key_id"], p["aws_secret_access_key"]; id != "" && secret != "" {
			return fixed(placeOf(name), keys{id: id, secret: secret, token: p["aws_session_token"]}), nil
		}
	}
	if found, err := c.of(name, p); found != nil || err != nil {
		return found, err
	}
	if found := fromContainer(); found != nil {
		return found, nil
	}
	if yes(os.Getenv("AWS_EC2_METADATA_DISABLED")) {
		return nil, errNoCredentials
	}
	return roles.of(""), nil
}

// fromEnvironment are the keys of the environment, where it has some.
func fromEnvironment() (*provider, bool, error) {
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	switch {
	case id != "" && secret != "":
		return fixed("AWS_ACCESS_KEY_ID", keys{id: id, secret: secret, token: os.Getenv("AWS_SESSION_TOKEN")}), true, nil
	case id != "" || secret != "":
		return nil, false, errors.New("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: set both")
	}
	return nil, false, nil
}

// fromContainer is the role of the container that this runs in; nil where it is none.
func fromContainer() *provider {
	if at := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); at != "" {
		return roles.of("http://169.254.170.2" + at)
	}
	if at := os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI"); at != "" {
		return roles.of(at)
	}
	return nil
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
