package cloud

import (
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// page is an answer to ListObjectsV2: at most 1000 objects.
type page struct {
	Contents []struct {
		Key, ETag string
		Size      int64
	}
	EncodingType          string // url where the keys are encoded: not all servers do as they are asked
	IsTruncated           bool
	NextContinuationToken string
}

// list asks for page after page. It holds one of them.
func (b *bucket) list(ctx context.Context, prefix string, yield func(blob.Entry, error) bool) {
	query := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "prefix": {b.prefix + prefix}}
	for {
		var p page
		err := b.send(ctx, request{ofBucket: true, query: query, read: func(resp *http.Response) error {
			p = page{}
			return xml.NewDecoder(resp.Body).Decode(&p)
		}})
		if err != nil {
			yield(blob.Entry{}, b.fail("list", prefix, err))
			return
		}
		for _, c := range p.Contents {
			key := c.Key
			if plain, err := url.QueryUnescape(key); err == nil && p.EncodingType == "url" {
				key = plain
			}
			if !yield(blob.Entry{Key: strings.TrimPrefix(key, b.prefix), Size: c.Size, Version: c.ETag}, nil) {
				return
			}
		}
		switch {
		case !p.IsTruncated:
			return
		case p.NextContinuationToken == "":
			yield(blob.Entry{}, b.fail("list", prefix, errors.New("the server ends a listing that it says is not complete")))
			return
		}
		query.Set("continuation-token", p.NextContinuationToken)
	}
}
