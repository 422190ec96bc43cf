package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

// settings say how to reach S3.
type settings struct {
	endpoint    *url.URL // nil is Amazon's
	region      string
	credentials *provider // nil asks without any
}

// settingsOf reads the environment and the files of profiles, as Amazon's tools do.
func settingsOf() (*settings, error) {
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if (id == "") != (secret == "") {
		return nil, errors.New("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set: set both")
	}
	name := cmp.Or(os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"))
	session := os.Getenv("AWS_ROLE_SESSION_NAME")
	for _, file := range profileFiles() {
		if err := checkProfiles(file); err != nil {
			return nil, err
		}
	}
	options := []func(*config.LoadOptions) error{
		config.WithDefaultRegion("us-east-1"),
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTimeout(silence).WithTransportOptions(func(t *http.Transport) { t.DisableKeepAlives = true })),
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }),
		config.WithEC2RoleCredentialOptions(func(o *ec2rolecreds.Options) {
			o.Client = imds.New(imds.Options{HTTPClient: metadata, Retryer: aws.NopRetryer{}, EnableFallback: aws.FalseTernary})
		}),
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = metadata }),
		config.WithAssumeRoleCredentialOptions(func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = cmp.Or(o.RoleSessionName, session)
		}),
		config.WithWebIdentityRoleCredentialOptions(func(o *stscreds.WebIdentityRoleOptions) {
			o.RoleSessionName = cmp.Or(o.RoleSessionName, session)
			if file, ok := o.TokenRetriever.(stscreds.IdentityTokenFile); ok {
				o.TokenRetriever = tokenFile(file)
			}
		}),
	}
	if name != "" && id == "" { // a profile that is named comes before a web identity of the environment
		options = append(options, config.WithSharedConfigProfile(name))
	}
	unsigned := isTrue(os.Getenv("AWS_NO_SIGN_REQUEST"))
	if unsigned {
		options = append(options, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	c, err := config.LoadDefaultConfig(context.Background(), options...)
	if err != nil {
		return nil, adviseProfile(name, err)
	}
	s := &settings{region: c.Region}
	if !isRegion(s.region) {
		return nil, fmt.Errorf("AWS_REGION %.40q is not the name of a region, such as eu-central-1", s.region)
	}
	var profile config.SharedConfig
	at := ""
	for _, from := range c.ConfigSources {
		if p, ok := from.(config.SharedConfig); ok {
			profile = p
		}
		if e, ok := from.(interface {
			GetServiceBaseEndpoint(context.Context, string) (string, bool, error)
		}); ok && at == "" {
			at, _, _ = e.GetServiceBaseEndpoint(context.Background(), "S3")
		}
	}
	if s.endpoint, err = parseEndpoint("AWS_ENDPOINT_URL", cmp.Or(at, aws.ToString(c.BaseEndpoint))); err == nil && !unsigned {
		s.credentials, err = providerOf(cmp.Or(name, "default"), profile, c.Credentials)
	}
	return s, err
}

// profileFiles are those in which Amazon's tools keep profiles.
func profileFiles() []string {
	return []string{
		cmp.Or(os.Getenv("AWS_CONFIG_FILE"), config.DefaultSharedConfigFilename()),
		cmp.Or(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), config.DefaultSharedCredentialsFilename()),
	}
}

// checkProfiles rejects lines that Amazon's module passes over in silence. No message
// holds what a line says.
func checkProfiles(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		switch {
		case strings.TrimSpace(line) == "" || strings.IndexByte("#; \t", line[0]) >= 0:
		case line[0] == '[' && !strings.Contains(line, "]"):
			return fmt.Errorf("%s, line %d: a ] is missing", path, n)
		case line[0] != '[' && !strings.Contains(line, "="):
			return fmt.Errorf("%s, line %d: it is not of the form name = value", path, n)
		}
	}
	return err
}

// tokenFile has the token of a web identity, which whoever runs the machine replaces from
// time to time.
type tokenFile string

func (f tokenFile) GetIdentityToken() ([]byte, error) {
	text, err := os.ReadFile(string(f))
	return []byte(strings.TrimSpace(string(text))), err
}

// adviseProfile says what is wrong with a profile.
func adviseProfile(name string, err error) error {
	place := placeOf(cmp.Or(name, "default"))
	if source, ok := errors.AsType[config.SharedConfigAssumeRoleError](err); ok {
		return fmt.Errorf("%s: its source_profile %.40q has no credentials, or assumes roles in a circle", place, source.Profile)
	}
	if missing, ok := errors.AsType[config.SharedConfigProfileNotExistError](err); ok {
		return fmt.Errorf("AWS_PROFILE names %.40q, which is not in %s", missing.Profile, strings.Join(profileFiles(), " nor in "))
	}
	if _, ok := errors.AsType[config.AssumeRoleTokenProviderNotSetError](err); ok {
		return fmt.Errorf("%s wants the code of a device (mfa_serial), for which nobody is asked here: run eval \"$(aws configure export-credentials --profile %s --format env)\" before", place, name)
	}
	text := oneLine(err.Error())
	if strings.Contains(text, "partial credentials") { // an error without a type
		return fmt.Errorf("%s has only one of aws_access_key_id and aws_secret_access_key: set both", place)
	}
	return fmt.Errorf("the AWS settings of the environment or of %s are invalid: %s", place, text)
}

// isRegion keeps anything else out of servers' names.
func isRegion(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') })
}

// parseEndpoint checks another server's URL, which a variable names; none is nil.
func parseEndpoint(variable, text string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New(variable + " is not of the form https://HOST or http://HOST:PORT")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}, nil
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}
