package zarr

import (
	"context"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// ahead is a bucket whose clock is an hour ahead, for a while.
type ahead struct {
	blob.Bucket
	listed *int
}

func (b ahead) List(ctx context.Context, prefix string) iter.Seq2[blob.Entry, error] {
	*b.listed++
	return func(yield func(blob.Entry, error) bool) {
		for e, err := range b.Bucket.List(ctx, prefix) {
			if *b.listed < 20 {
				e.Changed = time.Now().Add(time.Hour)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// A file system whose clock is ahead of this machine's, as a server's may be, is not waited for.
func TestDigestDoesNotWaitForAClockThatIsAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zarr")
	saveAll(t, path, smallMeta, smallData())
	listed := 0
	a, err := openIn(t.Context(), path, ahead{blob.Dir(path), &listed})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Digest(t.Context()); err != nil || listed > 2 {
		t.Errorf("it was listed %d times: %v", listed, err)
	}
}
