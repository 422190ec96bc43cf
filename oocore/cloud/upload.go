package cloud

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/blob"
)

const (
	// partBytes is what an upload holds: it is the buffer of each upload that is under
	// way, taken as it fills. Smaller objects are put by one request, larger ones in
	// parts of this size.
	partBytes = 8 << 20
	// maxParts is S3's own limit.
	maxParts = 10_000
)

// upload writes an object. It is there when Close has returned.
type upload struct {
	bucket *bucket
	key    string
	buffer []byte
	size   int64
	id     string   // of the multipart upload, "" before there is one
	tags   []string // of the parts
	ended  bool
}

// Write appends. Its memory is the upload's buffer of at most partBytes.
func (u *upload) Write(ctx context.Context, p []byte) error {
	if u.ended {
		return u.bucket.fail("write", u.key, store.ErrClosed)
	}
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
			p, u.size = p[partBytes:], u.size+partBytes
			continue
		}
		n := min(len(p), partBytes-len(u.buffer))
		u.buffer = append(u.grown(n), p[:n]...)
		p, u.size = p[n:], u.size+int64(n)
	}
	return nil
}

// grown is the buffer with room for n more bytes. It doubles, up to a part.
func (u *upload) grown(n int) []byte {
	need := len(u.buffer) + n
	if need <= cap(u.buffer) {
		return u.buffer
	}
	b := make([]byte, len(u.buffer), min(max(need, 2*cap(u.buffer)), partBytes))
	copy(b, u.buffer)
	return b
}

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
		err := u.bucket.plain(ctx, http.MethodPost, u.key, url.Values{"uploads": {""}}, []byte{}, func(resp *http.Response) error {
			return xml.NewDecoder(resp.Body).Decode(&begun)
		}, http.StatusOK)
		if err != nil {
			return err
		}
		u.id = begun.UploadId
	}
	query := url.Values{"partNumber": {strconv.Itoa(len(u.tags) + 1)}, "uploadId": {u.id}}
	return u.bucket.plain(ctx, http.MethodPut, u.key, query, p, func(resp *http.Response) error {
		u.tags = append(u.tags, resp.Header.Get("ETag"))
		return nil
	}, http.StatusOK)
}

// Close puts the object, or completes its parts. Where it fails nothing is left.
func (u *upload) Close(ctx context.Context) error {
	if u.ended {
		return u.bucket.fail("close", u.key, store.ErrClosed)
	}
	var err error
	if u.id == "" {
		if u.buffer == nil {
			u.buffer = []byte{}
		}
		err = u.bucket.plain(ctx, http.MethodPut, u.key, nil, u.buffer, nil, http.StatusOK)
	} else {
		if len(u.buffer) > 0 {
			err = u.part(ctx, u.buffer)
		}
		if err == nil {
			err = u.complete(ctx)
		}
	}
	if err != nil {
		u.Abort()
		return u.bucket.fail("close", u.key, err)
	}
	u.ended, u.buffer = true, nil
	return nil
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
	err = u.bucket.plain(ctx, http.MethodPost, u.key, url.Values{"uploadId": {u.id}}, body, func(resp *http.Response) error {
		text := new(bytes.Buffer)
		if _, err := text.ReadFrom(http.MaxBytesReader(nil, resp.Body, maxMessage)); err != nil {
			return err
		}
		var failed struct {
			XMLName       xml.Name
			Code, Message string
		}
		if err := xml.Unmarshal(text.Bytes(), &failed); err == nil && failed.XMLName.Local == "Error" {
			return &statusError{status: http.StatusInternalServerError, code: oneLine(failed.Code), message: oneLine(failed.Message)}
		}
		return nil
	}, http.StatusOK)
	if s, ok := errors.AsType[*statusError](err); ok && s.code == "NoSuchUpload" && u.isThere(ctx) {
		return nil
	}
	return err
}

// isThere reports an object that is what this upload sent, by its size and the
// form of its tag: that of n parts ends in -n.
func (u *upload) isThere(ctx context.Context) bool {
	o, err := u.bucket.open(ctx, u.key)
	return err == nil && o.entry.Size == u.size && strings.HasSuffix(strings.Trim(o.etag, `"`), "-"+strconv.Itoa(len(u.tags)))
}

// Abort gives the object up and removes its parts from the server.
func (u *upload) Abort() {
	if u.ended {
		return
	}
	u.ended, u.buffer = true, nil
	if u.id == "" {
		return
	}
	// Its caller's context may have ended, which is why it aborts.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	u.bucket.plain(ctx, http.MethodDelete, u.key, url.Values{"uploadId": {u.id}}, nil, nil, http.StatusOK, http.StatusNoContent, http.StatusNotFound)
}
