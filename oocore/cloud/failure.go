package cloud

import (
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// maxMessage bounds what is read of a server's explanation.
const maxMessage = 64 << 10

// statusError is an answer that rejects.
type statusError struct {
	status  int
	code    string // S3's, such as NoSuchBucket
	message string // the server's, in one line
	region  string // where the bucket is, if the server says so
	after   time.Duration
}

func (e *statusError) Error() string {
	s := fmt.Sprintf("the server answers %d %s", e.status, http.StatusText(e.status))
	switch {
	case e.code != "" && e.message != "":
		s += fmt.Sprintf(" (%s: %s)", e.code, e.message)
	case e.code != "":
		s += " (" + e.code + ")"
	}
	return s
}

// Is makes what is missing or forbidden known by the errors of package fs.
func (e *statusError) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e.status == http.StatusNotFound || e.status == http.StatusGone
	case fs.ErrPermission:
		return e.status == http.StatusForbidden || e.status == http.StatusUnauthorized
	}
	return false
}

// rejected reads the reason for which a request was rejected.
func rejected(resp *http.Response) error {
	e := &statusError{status: resp.StatusCode, region: resp.Header.Get("X-Amz-Bucket-Region"), after: retryAfter(resp.Header)}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	var body struct{ Code, Message, Region string }
	if xml.Unmarshal(text, &body) == nil { // servers without reasons say anything else
		if !repeats(body.Code+body.Message, resp.Request) {
			e.code, e.message = oneLine(body.Code), oneLine(body.Message)
		}
		if e.region == "" {
			e.region = body.Region
		}
	}
	return e
}

// repeats reports whether a server's text holds a secret that the request was sent with.
func repeats(text string, r *http.Request) bool {
	for _, name := range []string{"Authorization", "X-Amz-Security-Token"} {
		if v := r.Header.Get(name); v != "" && strings.Contains(text, v) {
			return true
		}
	}
	return false
}

// oneLine makes a server's text fit into a message.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return strings.TrimRight(s, ".")
}

// advised is an error with what to do about it.
type advised struct {
	text string
	err  error
}

func (e *advised) Error() string { return e.text }
func (e *advised) Unwrap() error { return e.err }

// failure says in one line what went wrong and what to do. It holds nothing that
// a request was made of but the object's place.
func failure(op, place string, err error, who string) error {
	if err == nil {
		return nil
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // its own text has the URL, which may be a signed one that the server led to
	}
	return &fs.PathError{Op: op, Path: place, Err: advise(err, who)}
}

// advise adds what to do. who is whose credentials were used, "" for nobody's.
func advise(err error, who string) error {
	if s, ok := errors.AsType[*statusError](err); ok {
		return adviseStatus(err, s, who)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return &advised{fmt.Sprintf("the server's name %s cannot be resolved: check the path, the endpoint (AWS_ENDPOINT_URL, CPL_GS_ENDPOINT) and the network", dns.Name), err}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return &advised{fmt.Sprintf("no connection to %v: check the path, the endpoint (AWS_ENDPOINT_URL, CPL_GS_ENDPOINT) and the network (%v)", op.Addr, op.Err), err}
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return &advised{"the server's certificate is signed by nobody that this machine knows: install its authority's certificate", err}
	}
	return err
}

func adviseStatus(err error, s *statusError, who string) error {
	var text string
	switch {
	case s.code == "NoSuchBucket":
		text = "there is no such bucket: check its name, the endpoint (AWS_ENDPOINT_URL, CPL_GS_ENDPOINT) and AWS_REGION"
	case s.status == http.StatusNotFound:
		text = "there is no such object"
	case s.code == "RequestTimeTooSkewed":
		text = "the server rejects because this machine's clock is wrong: set it"
	case s.code == "InvalidAccessKeyId", s.code == "SignatureDoesNotMatch", s.code == "ExpiredToken", s.code == "InvalidToken":
		text = fmt.Sprintf("the server does not accept the credentials (%s): renew those from %s", s.code, who)
	case s.status == http.StatusForbidden || s.status == http.StatusUnauthorized:
		if text = "the server denies access"; s.code != "" {
			text += " (" + s.code + ")"
		}
		if who == "" {
			text += ": it may want credentials, or the object may be missing"
		} else {
			text += fmt.Sprintf(": the credentials from %s may not do this, or the object is missing", who)
		}
	default:
		return err
	}
	return &advised{text, err}
}
