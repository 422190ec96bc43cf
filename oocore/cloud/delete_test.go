package cloud

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// checkClear deletes more objects than one request names, with names that are hard to
// spell, and none beside them.
func checkClear(t *testing.T, b blob.Bucket) {
	ctx := context.Background()
	below := b.Join("clear/")
	for i := range blob.MaxDelete + 3 {
		put(t, below, fmt.Sprint("gone/", i), nil)
	}
	for _, key := range []string{"gone/a & <b> \"c\"+%41", "gone/ä\uFFFD", "gone", "stays"} {
		put(t, below, key, []byte(key))
	}
	put(t, b, "gone/beside", nil)
	if err := blob.Clear(ctx, below, func(key string) bool { return strings.HasPrefix(key, "gone/") }); err != nil {
		t.Fatal(err)
	}
	var left []string
	for e, err := range below.List(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, e.Key)
	}
	slices.Sort(left)
	if !slices.Equal(left, []string{"gone", "stays"}) {
		t.Errorf("%d objects are left, such as %q", len(left), left[:min(len(left), 5)])
	}
	if _, err := b.Open(ctx, "gone/beside"); err != nil {
		t.Error(err)
	}
}

// methods counts the requests since on.
func (f *faults) methods() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := map[string]int{}
	for _, r := range f.requests {
		n[r.Method]++
	}
	return n
}

func TestDeleteAll(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data/folder")
	ctx := context.Background()
	keys := []string{"a", "b", "c/d"}
	answer := func(status int, text string) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if !r.URL.Query().Has("delete") {
				next.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(status)
			io.WriteString(w, text)
		}
	}
	for _, c := range []struct {
		name    string
		do      func(http.ResponseWriter, *http.Request, http.Handler)
		deletes int // by requests of their own
	}{
		{"by one request", nil, 0},
		{"by a server that does not know it", answer(http.StatusNotImplemented, "<Error><Code>NotImplemented</Code></Error>"), 3},
		{"by a server that takes it for something else", answer(http.StatusOK, ""), 3},
		{"with one left", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.URL.Query().Has("delete") {
				for _, key := range []string{"a", "b"} {
					if err := b.Delete(ctx, key); err != nil {
						t.Error(err)
					}
				}
				answer(http.StatusOK, "<DeleteResult><Error><Key>folder/c/d</Key><Code>InternalError</Code></Error></DeleteResult>")(w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, key := range keys {
				put(t, b, key, nil)
			}
			f.on(c.do)
			if err := b.(blob.Deleter).DeleteAll(ctx, keys); err != nil {
				t.Fatal(err)
			}
			if n := f.methods(); n["POST"] != 1 || n["DELETE"] != c.deletes {
				t.Errorf("there were %v", n)
			}
			f.on(nil)
			for e, err := range b.List(ctx, "") {
				t.Errorf("%q is left, %v", e.Key, err)
			}
		})
	}
	t.Run("rejected", func(t *testing.T) {
		f.on(func(w http.ResponseWriter, r *http.Request, _ http.Handler) { w.WriteHeader(http.StatusForbidden) })
		err := b.(blob.Deleter).DeleteAll(ctx, keys)
		if err == nil || !strings.Contains(err.Error(), "s3://data/folder/") || !strings.Contains(err.Error(), "the server denies access") {
			t.Error(err)
		}
	})
}
