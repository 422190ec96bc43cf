package cloud

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/sync/errgroup"
)

const (
	// deleting is how many objects are deleted at once by requests of their own.
	deleting = 16
	// maxAnswer bounds what is read of what failed: at most blob.MaxDelete keys.
	maxAnswer = 4 << 20
)

// DeleteAll deletes at most blob.MaxDelete objects by one request, S3's DeleteObjects.
// What that leaves, as with servers that do not know it, is deleted one by one.
func (b *bucket) DeleteAll(ctx context.Context, keys []string) (err error) {
	left := keys
	if b.can.Conditional { // Google's does not know the request either
		left, err = b.deleteMany(ctx, keys)
	}
	if err != nil {
		return b.fail("delete", "", err)
	}
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(deleting)
	for _, key := range left {
		if running.Err() != nil {
			break
		}
		group.Go(func() error { return b.Delete(running, key) })
	}
	err = group.Wait()
	return cmp.Or(context.Cause(ctx), err)
}

// deleteMany asks for the deletion of all keys that XML can name, and returns those
// that were not deleted: all of them where the server rejects.
func (b *bucket) deleteMany(ctx context.Context, keys []string) (left []string, err error) {
	type object struct{ Key string }
	order := struct {
		XMLName xml.Name `xml:"Delete"`
		Quiet   bool     // says only what failed
		Object  []object
	}{Quiet: true}
	for _, key := range keys {
		if checkKey(key) != nil || strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII }) {
			left = append(left, key)
			continue
		}
		order.Object = append(order.Object, object{b.prefix + key})
	}
	if len(order.Object) < 2 {
		return keys, nil
	}
	body, err := xml.Marshal(order)
	if err != nil {
		return nil, err
	}
	sum := md5.Sum(body) // S3 wants this, or a checksum that older servers do not know
	var answer struct {
		XMLName xml.Name `xml:"DeleteResult"`
		Error   []object
	}
	var other error // why the answer is no DeleteResult: not all servers know the request
	err = b.send(ctx, request{
		ofBucket: true, method: http.MethodPost, body: body,
		query:  url.Values{"delete": {""}},
		header: http.Header{"Content-Md5": {base64.StdEncoding.EncodeToString(sum[:])}, "Content-Type": {"application/xml"}},
		read: func(resp *http.Response) error {
			text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
			answer.Error = nil // of a try before
			other = xml.Unmarshal(text, &answer)
			return err
		},
	})
	if _, ok := errors.AsType[*statusError](err); ok || err == nil && other != nil {
		return keys, nil // each by itself says what is wrong
	}
	for _, o := range answer.Error {
		left = append(left, strings.TrimPrefix(o.Key, b.prefix))
	}
	return left, err
}
