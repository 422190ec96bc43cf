package cloud

import (
	"cmp"
	"errors"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// googleCan is what Google's server can do of S3's requests. Its conditions of an upload are other headers, which a request with
// Amazon's signature may not have.
var googleCan = blob.Capabilities{List: true, Network: true}

// openGoogle opens gs://bucket/prefix by the interface of Google Cloud Storage that takes S3's requests, with HMAC keys.
func openGoogle(text string) (blob.Bucket, error) {
	set, err := googleSettings()
	return openIn(text, "gs", googleCan, set, err)
}

// googleSettings reads the environment under the names that GDAL gives the variables.
func googleSettings() (s *settings, err error) {
	key := aws.Credentials{AccessKeyID: os.Getenv("GS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("GS_SECRET_ACCESS_KEY")}
	s = &settings{region: "auto"}
	s.endpoint, err = parseEndpoint("CPL_GS_ENDPOINT", cmp.Or(os.Getenv("CPL_GS_ENDPOINT"), "https://storage.googleapis.com"))
	switch {
	case err != nil || isTrue(os.Getenv("GS_NO_SIGN_REQUEST")):
	case key.AccessKeyID == "" && key.SecretAccessKey == "":
		err = errors.New("no credentials are found: set GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY to an HMAC key, which gcloud storage hmac create makes, or GS_NO_SIGN_REQUEST=true for a public bucket")
	case !key.HasKeys():
		err = errors.New("only one of GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY is set: set both")
	default:
		s.credentials = &provider{place: "GS_ACCESS_KEY_ID", held: key}
	}
	return s, err
}
