package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/blob/memblob"
	"github.com/gonbext/gonbext/oocore/internal/disk"
)

// checkClaims returns an error that says which capability the store of a place claims and does not have. content is what
// the object of a key has.
func checkClaims(ctx context.Context, p blob.Place, key string, content []byte) error {
	b, err := p.Bucket()
	if err != nil {
		return err
	}
	if b.Can() != p.Capabilities {
		return fmt.Errorf("%s is registered with %+v, and its bucket has %+v", p.Path, p.Capabilities, b.Can())
	}
	lacks := func(claim string, err error) error {
		return fmt.Errorf("%s claims %s and does not have it: %w", p.Path, claim, err)
	}
	part := make([]byte, 3)
	o, err := blob.OpenAt(ctx, b, key, part, -3)
	if err == nil {
		err = o.ReadAt(ctx, part[:1], 1)
	}
	if want := append([]byte{content[1]}, content[len(content)-2:]...); err != nil || !bytes.Equal(part, want) {
		return lacks("partial reads", fmt.Errorf("%q instead of %q, error %v", part, want, err))
	}
	if err := o.Close(); err != nil {
		return err
	}
	listed := false
	for e, failed := range b.List(ctx, key) {
		err = failed
		listed = listed || e.Key == key && e.Size == int64(len(content))
	}
	switch {
	case p.List && (err != nil || !listed):
		return lacks("List", fmt.Errorf("an object is not listed, error %v", err))
	case !p.List && !errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("%s does not claim List, and lists: %v", p.Path, err)
	}
	if p.Random {
		if err := writeFromTheEnd(ctx, b); err != nil {
			return lacks("Random", err)
		}
	}
	if p.Conditional {
		if err := replaceOnCondition(ctx, b); err != nil {
			return lacks("Conditional", err)
		}
	}
	if p.Files {
		if err := mapFile(filepath.Join(b.String(), key), content); err != nil {
			return lacks("Files", fmt.Errorf("an object is no file of this machine that is mapped and locked: %w", err))
		}
	}
	if p.Replace {
		if err := exchangeFolders(ctx, b); err != nil {
			return lacks("Replace", err)
		}
	}
	return nil
}

func writeFromTheEnd(ctx context.Context, b blob.Bucket) error {
	u, err := b.Create(ctx, "random")
	if err != nil {
		return err
	}
	defer u.Abort()
	if err := errors.Join(u.WriteAt(ctx, []byte("def"), 3), u.WriteAt(ctx, []byte("abc"), 0), u.Close(ctx), b.Sync(ctx)); err != nil {
		return err
	}
	got := make([]byte, 6)
	if _, err := blob.Get(ctx, b, "random", got); err != nil || string(got) != "abcdef" {
		return fmt.Errorf("what was written from its end is %q, error %v", got, err)
	}
	return nil
}

func replaceOnCondition(ctx context.Context, b blob.Bucket) error {
	if _, ok := b.(blob.Conditional); !ok {
		return errors.New("its bucket has no PutIf")
	}
	first, err := blob.PutIf(ctx, b, "conditional", []byte("first"), "")
	if err != nil {
		return err
	}
	if _, err := blob.PutIf(ctx, b, "conditional", []byte("second"), ""); !errors.Is(err, blob.ErrReplaced) {
		return fmt.Errorf("a second create has the error %v", err)
	}
	if _, err := blob.PutIf(ctx, b, "conditional", []byte("third"), first.Version); err != nil {
		return err
	}
	if _, err := blob.PutIf(ctx, b, "conditional", []byte("fourth"), first.Version); !errors.Is(err, blob.ErrReplaced) {
		return fmt.Errorf("replacing a version that is gone has the error %v", err)
	}
	return nil
}

func mapFile(name string, content []byte) error {
	f, _, err := disk.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := f.Map(0, len(content))
	if err != nil {
		return err
	}
	if !bytes.Equal(m, content) {
		err = fmt.Errorf("it shows %q", m)
	}
	return errors.Join(err, m.Unmap(), f.Lock())
}

func exchangeFolders(ctx context.Context, b blob.Bucket) error {
	for _, key := range []string{"old/x", "new/x"} {
		if _, err := blob.Put(ctx, b, key, []byte(key)); err != nil {
			return err
		}
	}
	if err := b.Sync(ctx); err != nil {
		return err
	}
	if err := disk.Exchange(filepath.Join(b.String(), "new"), filepath.Join(b.String(), "old")); err != nil {
		return err
	}
	got := make([]byte, 5)
	if _, err := blob.Get(ctx, b, "old/x", got); err != nil || string(got) != "new/x" {
		return fmt.Errorf("the folder that took the name has %q, error %v", got, err)
	}
	return nil
}

// conditions lets a server know If-None-Match and If-Match of what is stored, as S3 has since 2024.
func conditions(next http.Handler) http.Handler {
	var mu sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		none, tag := r.Header.Get("If-None-Match"), r.Header.Get("If-Match")
		if r.Method != http.MethodPut || none == "" && tag == "" {
			next.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		head := httptest.NewRecorder()
		next.ServeHTTP(head, httptest.NewRequest(http.MethodHead, r.URL.String(), nil))
		if there := head.Code == http.StatusOK; none != "" && there || tag != "" && head.Header().Get("ETag") != tag {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func TestStoresHaveWhatTheyClaim(t *testing.T) {
	content := []byte("0123456789")
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	s3 := httptest.NewServer(conditions(gofakes3.New(backend).Server()))
	defer s3.Close()
	t.Setenv("AWS_ENDPOINT_URL", s3.URL)
	t.Setenv("AWS_NO_SIGN_REQUEST", "true")
	dir := t.TempDir()
	web := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer web.Close()
	defer CloseIdle()
	memory := memblob.New()
	blob.Register("claims", memory.Can(), func(string) (blob.Bucket, error) { return memory, nil })
	for _, path := range []string{dir, "claims://x", "s3://data/below", web.URL, blob.Mount(fstest.MapFS{"x": {Data: content}})} {
		p := blob.PlaceOf(path)
		if b, err := p.Bucket(); err != nil {
			t.Fatal(err)
		} else if p.List && !strings.HasPrefix(path, "fs:") {
			put(t, b, "x", content)
			if err := b.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := checkClaims(t.Context(), p, "x", content); err != nil {
			t.Error(err)
		}
	}
	if can := blob.PlaceOf("none://x").Capabilities; can != (blob.Capabilities{Network: true}) {
		t.Errorf("a store that is not registered can do %+v", can)
	}
}

// claimant is a bucket in memory that claims what it is told to.
type claimant struct {
	blob.Bucket
	can blob.Capabilities
}

func (c claimant) Can() blob.Capabilities { return c.can }

func TestFalseClaimIsOneSentence(t *testing.T) {
	memory := memblob.New()
	memory.Put("x", []byte("0123456789"))
	for want, can := range map[string]blob.Capabilities{
		"claims Conditional and does not have it: its bucket has no PutIf":                                  {List: true, Conditional: true},
		"claims Files and does not have it: an object is no file of this machine that is mapped and locked": {List: true, Files: true},
		"claims Replace and does not have it":                                                               {List: true, Replace: true},
		"does not claim List, and lists":                                                                    {},
		"is registered with {Files:false Random:true Replace:false List:true Conditional:false":             {Random: true, List: true},
	} {
		bucket := claimant{memory, can}
		if can.Random {
			bucket.can = blob.Capabilities{}
		}
		blob.Register("liar", can, func(string) (blob.Bucket, error) { return bucket, nil })
		err := checkClaims(t.Context(), blob.PlaceOf("liar://x"), "x", []byte("0123456789"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", can, err, want)
		}
	}
}
