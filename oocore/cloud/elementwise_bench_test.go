package cloud_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/cloud"
)

// slowFolder serves a folder as an S3 server does, each request later by delay. It
// checks no signatures and knows no multipart uploads.
type slowFolder struct {
	root  string
	delay time.Duration
}

func (s slowFolder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	time.Sleep(s.delay)
	name := filepath.Join(s.root, filepath.FromSlash(r.URL.Path))
	switch {
	case r.URL.Query().Get("list-type") == "2":
		s.list(w, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodPut:
		if err := s.put(name, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("ETag", etag(name))
	case r.Method == http.MethodDelete:
		os.Remove(name)
		w.WriteHeader(http.StatusNoContent)
	default:
		f, err := os.Open(name)
		if err != nil {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
			return
		}
		defer f.Close()
		w.Header().Set("ETag", etag(name))
		http.ServeContent(w, r, "", time.Time{}, f)
	}
}

func etag(name string) string {
	st, err := os.Stat(name)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%q", fmt.Sprint(st.ModTime().UnixNano(), st.Size()))
}

func (s slowFolder) put(name string, body io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(f, body)
	return err
}

func (s slowFolder) list(w io.Writer, prefix string) {
	type object struct {
		Key  string
		Size int64
		ETag string
	}
	var result struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []object
	}
	bucket := filepath.Join(s.root, "data")
	filepath.WalkDir(bucket, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		key, _ := filepath.Rel(bucket, name)
		if st, err := e.Info(); err == nil && strings.HasPrefix(filepath.ToSlash(key), prefix) {
			result.Contents = append(result.Contents, object{filepath.ToSlash(key), st.Size(), etag(name)})
		}
		return nil
	})
	xml.NewEncoder(w).Encode(result)
}

// BenchmarkElementwise computes sqrt from Zarr to Zarr, in a folder and by an S3
// server on this machine that takes 20 ms more for each request.
func BenchmarkElementwise(b *testing.B) {
	const rows, cols = 1 << 19, 1 << 10 // 2 GiB of float32
	ctx := context.Background()
	dir := b.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o777); err != nil {
		b.Fatal(err)
	}
	b.Setenv("GONBEXT_RUNS", b.TempDir())
	server := httptest.NewServer(slowFolder{dir, 20 * time.Millisecond})
	defer server.Close()
	b.Setenv("AWS_ENDPOINT_URL", server.URL)
	b.Setenv("AWS_ACCESS_KEY_ID", "id")
	b.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	opts := []oocore.Option{oocore.Memory("512MiB"), oocore.Fresh(), oocore.Chunks(1024, cols), oocore.Codec("zstd:1")}
	wave := oocore.Arange(0, rows*cols, 1).Reshape(rows, cols).AsType(oocore.Float32).Div(float32(1e5)).Sin().Add(float32(2))
	if _, err := wave.Save(ctx, filepath.Join(dir, "data", "x.zarr"), opts...); err != nil {
		b.Fatal(err)
	}
	for _, place := range []string{filepath.Join(dir, "data"), "s3://data"} {
		name, _, _ := strings.Cut(place, ":")
		b.Run(filepath.Base(name), func(b *testing.B) {
			b.SetBytes(2 * rows * cols * 4)
			for b.Loop() {
				if _, err := oocore.Open(place+"/x.zarr").Sqrt().Save(ctx, place+"/y.zarr", opts...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
