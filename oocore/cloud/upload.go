package cloud

import (
	"context"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

const (
	// partBytes is the buffer that an upload takes of Go's heap, until it ends. Smaller
	// objects are put by one request, larger ones in parts of this size.
	partBytes = blob.UploadHeap
	// smallBuffer is up to where the buffer grows as it fills.
	smallBuffer = 256 << 10
	// maxParts is S3's own limit.
	maxParts = 10_000
	// markHeader keeps with an object made of parts by which upload that was.
	markHeader = "X-Amz-Meta-Gonbext-Upload"
)

// upload writes an object. It is there when Close has returned.
type upload struct {
	bucket *bucket
	key    string
	buffer []byte
	id     string   // of the multipart upload, "" before there is one
	mark   string   // that the object will have
	tags   []string // of the parts
	ended  bool
	entry  blob.Entry // what is stored, once it is closed
}

// Entry tells what was stored, once Close has returned.
func (u *upload) Entry() blob.Entry { return u.entry }

// Write appends. Its memory is the upload's buffer of at most partBytes.
func (u *upload) Write(ctx context.Context, p []byte) error {
	if u.ended {
		return u.bucket.fail("write", u.key, fs.ErrClosed)
	}
	u.entry.Key = u.key
	u.entry.Size += int64(len(p))
	for len(p) > 0 {
		if len(u.buffer) == partBytes {
			if err := u.part(ctx, u.buffer); err != nil {
				return u.bucket.fail("write", u.key, err)
			}
			u.buffer = u.buffer[:0]
		}
		if len(u.buffer) == 0 && len(p) > partBytes { // what follows makes it a part in any case
			if err := u.part(ctx, p[:partBytes]); err != nil {
				return u.bucket.fail("write", u.key, err)
			}
			p = p[partBytes:]
			continue
		}
		n := min(len(p), partBytes-len(u.buffer))
		u.buffer = append(u.grown(n), p[:n]...)
		p = p[n:]
	}
	return nil
}

// grown is the buffer with room for n more bytes: a small one that doubles, then
// one of a part.
func (u *upload) grown(n int) []byte {
	need := len(u.buffer) + n
	switch {
	case need <= cap(u.buffer):
		return u.buffer
	case need <= smallBuffer:
		return slices.Grow(u.buffer, n)
	}
	part, ok := parts.Get().(*[partBytes]byte)
	if !ok {
		part = new([partBytes]byte)
	}
	return part[:copy(part[:], u.buffer)]
}

// end gives the buffer to the next upload.
func (u *upload) end() {
	if cap(u.buffer) == partBytes {
		parts.Put((*[partBytes]byte)(u.buffer[:partBytes]))
	}
	u.ended, u.buffer = true, nil
}

// parts are buffers of uploads that have ended.
var parts sync.Pool

func (u *upload) WriteAt(context.Context, []byte, int64) error {
	return u.bucket.fail("write", u.key, blob.ErrRandom)
}

// part sends a part, and begins the multipart upload before the first.
func (u *upload) part(ctx context.Context, p []byte) error {
	if len(u.tags) == maxParts {
		return fmt.Errorf("the object is larger than %d parts of %d MiB: store smaller chunks or shards", maxParts, partBytes>>20)
	}
	if u.id == "" {
		var begun struct{ UploadId string }
		u.mark = rand.Text()
		err := u.bucket.send(ctx, request{
			method: http.MethodPost, key: u.key, body: []byte{},
			query:  url.Values{"uploads": {""}},
			header: http.Header{markHeader: {u.mark}},
			read:   func(resp *http.Response) error { return xml.NewDecoder(resp.Body).Decode(&begun) },
		})
		if err != nil {
			return err
		}
		u.id = begun.UploadId
	}
	query := url.Values{"partNumber": {strconv.Itoa(len(u.tags) + 1)}, "uploadId": {u.id}}
	return u.bucket.send(ctx, request{method: http.MethodPut, key: u.key, query: query, body: p, read: func(resp *http.Response) error {
		u.tags = append(u.tags, resp.Header.Get("ETag"))
		return nil
	}})
}

// Close puts the object, or completes its parts. Where it fails nothing is left.
func (u *upload) Close(ctx context.Context) error {
	if u.ended {
		return u.bucket.fail("close", u.key, fs.ErrClosed)
	}
	if err := u.finish(ctx, u.buffer); err != nil {
		u.Abort()
		return u.bucket.fail("close", u.key, err)
	}
	u.end()
	return nil
}

// finish ends the object with what has not been sent yet, at most a part.
func (u *upload) finish(ctx context.Context, rest []byte) error {
	if u.id == "" {
		if rest == nil {
			rest = []byte{}
		}
		return u.bucket.send(ctx, request{method: http.MethodPut, key: u.key, body: rest, read: func(resp *http.Response) error {
			u.entry.Version = resp.Header.Get("ETag")
			return nil
		}})
	}
	if len(rest) > 0 {
		if err := u.part(ctx, rest); err != nil {
			return err
		}
	}
	return u.complete(ctx)
}

// complete joins the parts. An answer that got lost makes the next try find no
// upload: then the object tells whether it worked.
func (u *upload) complete(ctx context.Context) error {
	type part struct {
		PartNumber int
		ETag       string
	}
	order := struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []part
	}{}
	for i, tag := range u.tags {
		order.Part = append(order.Part, part{i + 1, tag})
	}
	body, err := xml.Marshal(order)
	if err != nil {
		return err
	}
	query := url.Values{"uploadId": {u.id}}
	err = u.bucket.send(ctx, request{method: http.MethodPost, key: u.key, query: query, body: body, read: func(resp *http.Response) (err error) {
		u.entry.Version, err = completed(resp)
		return err
	}})
	if s, ok := errors.AsType[*statusError](err); ok && s.code == "NoSuchUpload" && u.isThere(ctx) {
		return nil
	}
	return err
}

// completed reads the answer to the joining of parts, which begins before the
// server knows whether it can.
func completed(resp *http.Response) (version string, err error) {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
	if err != nil {
		return "", err
	}
	var answer struct {
		XMLName             xml.Name
		Code, Message, ETag string
	}
	if err := xml.Unmarshal(text, &answer); err == nil && answer.XMLName.Local == "Error" {
		return "", &statusError{status: http.StatusInternalServerError, code: oneLine(answer.Code), message: oneLine(answer.Message)}
	}
	return answer.ETag, nil
}

// isThere reports that the object is what this upload sent: it has its mark.
func (u *upload) isThere(ctx context.Context) bool {
	there := false
	err := u.bucket.send(ctx, request{method: http.MethodHead, key: u.key, read: func(resp *http.Response) error {
		there = resp.Header.Get(markHeader) == u.mark
		u.entry.Version = resp.Header.Get("ETag")
		return nil
	}})
	return err == nil && there
}

// Abort gives the object up and removes its parts from the server.
func (u *upload) Abort() {
	if u.ended {
		return
	}
	u.end()
	if u.id == "" {
		return
	}
	// Its caller's context may have ended, which is why it aborts.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	u.bucket.send(ctx, request{method: http.MethodDelete, key: u.key, query: url.Values{"uploadId": {u.id}}, accept: gone})
}
