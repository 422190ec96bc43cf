package cloud

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Credentials that have to be fetched: a role that is assumed, with other credentials or
// with the token of a web identity, Amazon's single sign-on, and a program of the user's.
// What they ask of Amazon's servers is a request each, so that a cell, which is linked
// anew each time, need not hold Amazon's own module: this file adds 0.2 MB to a binary
// and 0.07 s to a link, aws-sdk-go-v2/config 3.1 MB and 0.42 s.

// chain resolves a profile's credentials.
type chain struct {
	files  files
	region string
	depth  int // of roles that are assumed by roles
}

// fetched is a provider that all buckets share, so that they ask once.
func fetched(place, of string, fetch func(context.Context) (keys, error)) *provider {
	roles.Lock()
	defer roles.Unlock()
	p := roles.held[of]
	if p == nil {
		p = &provider{place: place, fetch: fetch}
		roles.held[of] = p
	}
	return p
}

// of is the provider of a profile that fetches its keys; nil where it has none.
func (c chain) of(name string, p map[string]string) (*provider, error) {
	const most = 5
	if c.depth++; c.depth > most {
		return nil, fmt.Errorf("%s assumes roles in a circle: see its source_profile", placeOf(name))
	}
	key := func(parts ...string) string {
		return strings.Join(append(parts, name, c.files.config, c.files.credentials, c.region, os.Getenv("AWS_ENDPOINT_URL")), "\x00")
	}
	switch {
	case p["role_arn"] != "" && p["web_identity_token_file"] != "":
		return c.webIdentity(placeOf(name), p["role_arn"], p["web_identity_token_file"], p["role_session_name"]), nil
	case p["role_arn"] != "":
		source, err := c.source(name, p)
		if err != nil {
			return nil, err
		}
		return fetched(placeOf(name), key("role", p["role_arn"]), func(ctx context.Context) (keys, error) {
			k, err := source.get(ctx)
			if err != nil {
				return keys{}, err
			}
			form := url.Values{"Action": {"AssumeRole"}, "RoleArn": {p["role_arn"]}, "RoleSessionName": {sessionName(p["role_session_name"])}}
			if p["external_id"] != "" {
				form.Set("ExternalId", p["external_id"])
			}
			if p["duration_seconds"] != "" {
				form.Set("DurationSeconds", p["duration_seconds"])
			}
			return c.sts(ctx, form, &k)
		}), nil
	case p["sso_session"] != "" || p["sso_start_url"] != "":
		s, err := c.signOn(name, p)
		if err != nil {
			return nil, err
		}
		return fetched(placeOf(name), key("sso", p["sso_account_id"], p["sso_role_name"]), s.keys), nil
	case p["credential_process"] != "":
		return fetched(placeOf(name), key("process", p["credential_process"]), func(ctx context.Context) (keys, error) {
			return runProcess(ctx, placeOf(name), p["credential_process"])
		}), nil
	case p["login_session"] != "":
		return nil, fmt.Errorf("%s uses login_session, which is not known here: run eval \"$(aws configure export-credentials --profile %s --format env)\" before", placeOf(name), firstOf(name, "default"))
	}
	return nil, nil
}

func placeOf(name string) string {
	return fmt.Sprintf("profile %s of the AWS files", firstOf(name, "default"))
}

// source is who assumes the role of a profile.
func (c chain) source(name string, p map[string]string) (*provider, error) {
	if p["mfa_serial"] != "" {
		return nil, fmt.Errorf("%s wants the code of a device (mfa_serial), for which nobody is asked here: run eval \"$(aws configure export-credentials --profile %s --format env)\" before", placeOf(name), firstOf(name, "default"))
	}
	switch from := p["credential_source"]; {
	case p["source_profile"] != "":
		other, err := c.files.profile(p["source_profile"])
		if err != nil {
			return nil, fmt.Errorf("%s: source_profile: %w", placeOf(name), err)
		}
		if id, secret := other["aws_access_key_id"], other["aws_secret_access_key"]; id != "" && secret != "" {
			return fixed(placeOf(p["source_profile"]), keys{id: id, secret: secret, token: other["aws_session_token"]}), nil
		}
		if p["source_profile"] != name {
			source, err := c.of(p["source_profile"], other)
			if source != nil || err != nil {
				return source, err
			}
		}
		return nil, fmt.Errorf("%s: its source_profile %.40q has no credentials", placeOf(name), p["source_profile"])
	case from == "Environment":
		if k, ok, err := fromEnvironment(); ok || err != nil {
			return k, err
		}
		return nil, fmt.Errorf("%s: credential_source is Environment, and AWS_ACCESS_KEY_ID is not set", placeOf(name))
	case from == "Ec2InstanceMetadata":
		return roles.of(""), nil
	case from == "EcsContainer":
		if source := fromContainer(); source != nil {
			return source, nil
		}
		return nil, fmt.Errorf("%s: credential_source is EcsContainer, and this is none", placeOf(name))
	}
	return nil, fmt.Errorf("%s has a role_arn, and neither source_profile nor credential_source says who assumes it", placeOf(name))
}

// webIdentity assumes a role with the token of a file, which whoever runs the machine
// replaces from time to time.
func (c chain) webIdentity(place, role, file, session string) *provider {
	of := strings.Join([]string{"web", role, file, c.region, os.Getenv("AWS_ENDPOINT_URL")}, "\x00")
	return fetched(place, of, func(ctx context.Context) (keys, error) {
		token, err := os.ReadFile(file)
		if err != nil {
			return keys{}, fmt.Errorf("the token of the web identity: %w", err)
		}
		return c.sts(ctx, url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {role},
			"RoleSessionName": {sessionName(session)}, "WebIdentityToken": {strings.TrimSpace(string(token))}}, nil)
	})
}

func sessionName(given string) string {
	return firstOf(given, os.Getenv("AWS_ROLE_SESSION_NAME"), fmt.Sprintf("gonbext-%d", time.Now().Unix()))
}

// service is the address of one of Amazon's services.
func (c chain) service(variable, host, region string) string {
	if at := firstOf(os.Getenv("AWS_ENDPOINT_URL_"+variable), os.Getenv("AWS_ENDPOINT_URL")); at != "" {
		return strings.TrimSuffix(at, "/")
	}
	domain := ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain += ".cn"
	}
	return "https://" + host + "." + region + domain
}

// sts asks the security token service, signed where keys are given.
func (c chain) sts(ctx context.Context, form url.Values, signed *keys) (keys, error) {
	form.Set("Version", "2011-06-15")
	body := []byte(form.Encode())
	r, err := serviceRequest(ctx, http.MethodPost, c.service("STS", "sts", c.region)+"/", body)
	if err != nil {
		return keys{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if signed != nil {
		signed.sign(r, body, "sts", c.region, time.Now())
	}
	text, err := answerOf(r)
	if err != nil {
		return keys{}, fmt.Errorf("the role %.100q cannot be assumed: %w", form.Get("RoleArn"), err)
	}
	type credentials struct {
		AccessKeyID     string `xml:"AccessKeyId"`
		SecretAccessKey string
		SessionToken    string
		Expiration      time.Time
	}
	var answer struct {
		Assumed credentials `xml:"AssumeRoleResult>Credentials"`
		Web     credentials `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	if xml.Unmarshal(text, &answer) != nil {
		return keys{}, errNoKeys
	}
	got := answer.Assumed
	if got.AccessKeyID == "" {
		got = answer.Web
	}
	return checked(keys{id: got.AccessKeyID, secret: got.SecretAccessKey, token: got.SessionToken, expires: got.Expiration})
}

// errNoKeys is an answer that is something else.
var errNoKeys = errors.New("the answer holds no credentials")

func checked(k keys) (keys, error) {
	if k.id == "" || k.secret == "" {
		return keys{}, errNoKeys
	}
	return k, nil
}

func serviceRequest(ctx context.Context, method, at string, body []byte) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the service is not a URL")
	}
	if r.URL.Path == "" {
		r.URL.Path = "/"
	}
	return r, nil
}

// answerOf sends a request to a service. Its errors hold nothing of the request.
func answerOf(r *http.Request) ([]byte, error) {
	c := http.Client{Transport: transport, CheckRedirect: noRedirects, Timeout: silence}
	resp, err := c.Do(r)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		var why struct {
			Error struct{ Code string } `xml:"Error"`
		}
		if xml.Unmarshal(text, &why) == nil && why.Error.Code != "" {
			return nil, fmt.Errorf("the server answers %s (%s)", resp.Status, oneLine(why.Error.Code))
		}
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	return text, nil
}

// signOn is a profile of Amazon's single sign-on. Who signs on is aws sso login; the
// token that it leaves in a file is used here, and renewed where it can be.
type signOn struct {
	chain
	place, profile, region string
	account, role          string
	file                   string
}

func (c chain) signOn(name string, p map[string]string) (*signOn, error) {
	s := &signOn{chain: c, place: placeOf(name), profile: firstOf(name, "default"), region: p["sso_region"], account: p["sso_account_id"], role: p["sso_role_name"]}
	cached := p["sso_start_url"]
	if session := p["sso_session"]; session != "" {
		all, err := readProfiles(c.files.config, "sso-session ")
		if err != nil {
			return nil, err
		}
		if all[session] == nil {
			return nil, fmt.Errorf("%s: its sso_session %.40q is not in %s", s.place, session, c.files.config)
		}
		cached, s.region = session, all[session]["sso_region"]
	}
	if s.region == "" || s.account == "" || s.role == "" || !validRegion(s.region) {
		return nil, fmt.Errorf("%s: sso_region, sso_account_id and sso_role_name are wanted for single sign-on", s.place)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(cached)) // the name that Amazon's tools give the file
	s.file = filepath.Join(home, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json")
	return s, nil
}

// login is what to do where there is no token.
func (s *signOn) login(err error) error {
	return fmt.Errorf("%s: %w: run aws sso login --profile %s", s.place, err, s.profile)
}

func (s *signOn) keys(ctx context.Context) (keys, error) {
	token, err := s.token(ctx)
	if err != nil {
		return keys{}, s.login(err)
	}
	at := s.service("SSO", "portal.sso", s.region) + "/federation/credentials?" +
		canonicalQuery(url.Values{"account_id": {s.account}, "role_name": {s.role}})
	r, err := serviceRequest(ctx, http.MethodGet, at, nil)
	if err != nil {
		return keys{}, err
	}
	r.Header.Set("X-Amz-Sso_bearer_token", token)
	text, err := answerOf(r)
	if err != nil {
		return keys{}, s.login(err)
	}
	var answer struct {
		Role struct {
			AccessKeyID     string `json:"accessKeyId"`
			SecretAccessKey string `json:"secretAccessKey"`
			SessionToken    string `json:"sessionToken"`
			Expiration      int64  `json:"expiration"` // milliseconds
		} `json:"roleCredentials"`
	}
	if json.Unmarshal(text, &answer) != nil {
		return keys{}, errNoKeys
	}
	got := answer.Role
	return checked(keys{id: got.AccessKeyID, secret: got.SecretAccessKey, token: got.SessionToken, expires: time.UnixMilli(got.Expiration)})
}

// token reads the token of aws sso login, and renews one that has expired.
func (s *signOn) token(ctx context.Context) (string, error) {
	text, err := os.ReadFile(s.file)
	if err != nil {
		return "", errors.New("nobody has signed on")
	}
	var saved map[string]any // the members that are not known here stay
	if json.Unmarshal(text, &saved) != nil {
		return "", errors.New("what the sign-on has left cannot be read")
	}
	get := func(name string) string { v, _ := saved[name].(string); return v }
	until, err := time.Parse(time.RFC3339, get("expiresAt"))
	if err == nil && time.Until(until) > time.Minute && get("accessToken") != "" {
		return get("accessToken"), nil
	}
	if get("refreshToken") == "" || get("clientId") == "" {
		return "", errors.New("the sign-on has expired")
	}
	body, _ := json.Marshal(map[string]string{"grantType": "refresh_token", "clientId": get("clientId"),
		"clientSecret": get("clientSecret"), "refreshToken": get("refreshToken")})
	r, err := serviceRequest(ctx, http.MethodPost, s.service("SSO_OIDC", "oidc", s.region)+"/token", body)
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	if text, err = answerOf(r); err != nil {
		return "", fmt.Errorf("the sign-on has expired: %w", err)
	}
	var answer struct {
		AccessToken  string `json:"accessToken"`
		RefreshToken string `json:"refreshToken"`
		ExpiresIn    int64  `json:"expiresIn"`
	}
	if json.Unmarshal(text, &answer) != nil || answer.AccessToken == "" {
		return "", errNoKeys
	}
	saved["accessToken"] = answer.AccessToken
	saved["expiresAt"] = time.Now().Add(time.Duration(answer.ExpiresIn) * time.Second).UTC().Format(time.RFC3339)
	if answer.RefreshToken != "" {
		saved["refreshToken"] = answer.RefreshToken
	}
	s.save(saved) // where that fails, the token serves this process only
	return answer.AccessToken, nil
}

// save replaces the file of the token, which only its user can read.
func (s *signOn) save(token map[string]any) {
	text, err := json.Marshal(token)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(s.file), ".token-") // for its user only
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// runProcess has a program of the user's print credentials. What it prints is in no
// message.
func runProcess(ctx context.Context, place, command string) (keys, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = time.Second
	text, err := cmd.Output()
	if err != nil {
		return keys{}, fmt.Errorf("%s: its credential_process fails: %w", place, err)
	}
	var answer struct {
		Version         int
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		SessionToken    string
		Expiration      string
	}
	if json.Unmarshal(text, &answer) != nil || answer.Version != 1 {
		return keys{}, fmt.Errorf("%s: its credential_process prints something other than credentials of version 1", place)
	}
	k := keys{id: answer.AccessKeyID, secret: answer.SecretAccessKey, token: answer.SessionToken}
	if answer.Expiration != "" {
		if k.expires, err = time.Parse(time.RFC3339, answer.Expiration); err != nil {
			return keys{}, fmt.Errorf("%s: its credential_process prints %.40q for a time", place, strconv.Quote(answer.Expiration))
		}
	}
	return checked(k)
}
