package cloud

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// TestSignature compares with the examples in Amazon's description of Signature
// Version 4 for S3.
func TestSignature(t *testing.T) {
	who := &provider{held: aws.Credentials{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}}
	clock = func() time.Time { return time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC) }
	t.Cleanup(func() { clock = time.Now })
	for _, c := range []struct {
		method, key string
		query       url.Values
		header      http.Header
		body, want  string
	}{
		{"GET", "test.txt", nil, http.Header{"Range": {"bytes=0-9"}}, "", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT", "test$file.text", nil, http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"}, "X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}},
			"Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET", "", url.Values{"lifecycle": {""}}, nil, "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"GET", "", url.Values{"max-keys": {"2"}, "prefix": {"J"}}, nil, "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		s := source{region: newRegion("us-east-1"), credentials: who, signature: newSignature(), root: func() *url.URL {
			return &url.URL{Scheme: "https", Host: "examplebucket.s3.amazonaws.com", Path: "/"}
		}}
		u := s.address(c.key)
		u.RawQuery = c.query.Encode()
		r := newRequest(context.Background(), c.method, u, []byte(c.body))
		for name, v := range c.header {
			r.Header[name] = v
		}
		r.ContentLength = 0 // which the examples do not sign
		if err := s.sign(t.Context(), r, []byte(c.body)); err != nil {
			t.Error(err)
		}
		if got := r.Header.Get("Authorization"); !strings.HasSuffix(got, "Signature="+c.want) {
			t.Errorf("%s %s: %s, want %s", c.method, c.key, got, c.want)
		}
	}
}
