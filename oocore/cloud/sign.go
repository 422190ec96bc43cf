package cloud

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// awsSigner signs requests as Amazon's Signature Version 4 describes, with the
// hash of the body, so that what is damaged under way is rejected.
type awsSigner struct {
	region      *region
	credentials *provider // nil signs nothing
}

func (s *awsSigner) switchRegion(name, tried string) bool { return s.region.learn(name, tried) }
func (s *awsSigner) currentRegion() string                { return s.region.get() }

// expired drops keys that the server says are no longer valid.
func (s *awsSigner) expired() bool { return s.credentials != nil && s.credentials.drop() }

func (s *awsSigner) credentialSource() string {
	if s.credentials == nil {
		return ""
	}
	return s.credentials.place
}

func (s *awsSigner) sign(ctx context.Context, r *http.Request, body []byte) error {
	if s.credentials == nil {
		return nil
	}
	k, err := s.credentials.get(ctx)
	if err != nil {
		return err
	}
	k.sign(r, body, "s3", s.region.get(), time.Now())
	return nil
}

// keys are what requests are signed with.
type keys struct {
	id, secret, token string
	expires           time.Time // zero: never
}

// sign adds the headers of a signature to a request for a service, such as s3.
func (k keys) sign(r *http.Request, body []byte, service, region string, now time.Time) {
	const algorithm = "AWS4-HMAC-SHA256"
	stamp := now.UTC().Format("20060102T150405Z")
	scope := stamp[:8] + "/" + region + "/" + service + "/aws4_request"
	hash := hashHex(body)
	r.Header.Set("X-Amz-Date", stamp)
	r.Header.Set("X-Amz-Content-Sha256", hash)
	if k.token != "" {
		r.Header.Set("X-Amz-Security-Token", k.token)
	}
	signed := map[string]string{"host": r.Host}
	for name, values := range r.Header {
		if name = strings.ToLower(name); name != "user-agent" {
			signed[name] = strings.Join(strings.Fields(strings.Join(values, ",")), " ")
		}
	}
	names := slices.Sorted(maps.Keys(signed))
	var headers strings.Builder
	for _, name := range names {
		headers.WriteString(name + ":" + signed[name] + "\n")
	}
	list := strings.Join(names, ";")
	request := strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, headers.String(), list, hash}, "\n")
	text := strings.Join([]string{algorithm, stamp, scope, hashHex([]byte(request))}, "\n")
	key := []byte("AWS4" + k.secret)
	for _, part := range []string{stamp[:8], region, service, "aws4_request", text} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	r.Header.Set("Authorization", algorithm+" Credential="+k.id+"/"+scope+", SignedHeaders="+list+", Signature="+hex.EncodeToString(key))
}

func hashHex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// canonicalQuery writes a query in the only form that can be signed.
func canonicalQuery(q url.Values) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(q)) {
		parts = append(parts, escape(name, false)+"="+escape(q.Get(name), false))
	}
	return strings.Join(parts, "&")
}
