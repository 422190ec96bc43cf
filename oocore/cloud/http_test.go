package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
)

// withoutRanges answers as servers do that know no ranges.
func withoutRanges(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		next.ServeHTTP(w, r)
	})
}

func TestServer(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	data := noise(3<<20 + 17)
	for name, b := range map[string][]byte{"a/big": data, "a/empty": nil, "a/with space+%41": data[:10]} {
		os.MkdirAll(filepath.Join(dir, "a"), 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := serve(t, http.FileServer(http.Dir(dir)))
	ctx := context.Background()
	b := at(t, f.url+"/a/")
	if got := b.String(); got != f.url+"/a" {
		t.Error(got)
	}
	for name, want := range map[string][]byte{"big": data, "empty": nil, "with space+%41": data[:10]} {
		o, err := b.Open(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if err := o.ReadAt(ctx, got, 0); err != nil || !bytes.Equal(got, want) || o.Entry().Size != int64(len(want)) {
			t.Errorf("%s: %v, %+v", name, err, o.Entry())
		}
		got = make([]byte, len(want)+5)
		if e, err := blob.Get(ctx, b, name, got); err != nil || !bytes.Equal(got[:e.Size], want) {
			t.Errorf("Get %s: %v, %+v", name, err, e)
		}
	}
	if e, err := blob.Get(ctx, b, "big", make([]byte, 100)); err != blob.ErrLarge || e.Size != int64(len(data)) {
		t.Error(e, err)
	}
	if _, err := at(t, f.url).Join("a/").Open(ctx, "missing"); !errors.Is(err, fs.ErrNotExist) || err.Error() != "open "+f.url+"/a/missing: there is no such object" {
		t.Error(err)
	}
	o, err := b.Open(ctx, "big")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(dir, "a/big"), time.Now(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := o.ReadAt(ctx, make([]byte, 10), 0); !errors.Is(err, store.ErrChanged) {
		t.Errorf("a changed object is read: %v", err)
	}
	if _, err := b.Create(ctx, "x"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if err := b.Delete(ctx, "big"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	for _, err := range b.List(ctx, "") {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
}

// TestChangedByTag has a server that gives tags and knows If-Match.
func TestChangedByTag(t *testing.T) {
	noLeaks(t)
	tag, data := `"one"`, []byte("0123456789")
	f := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(data))
	}))
	ctx := context.Background()
	o, err := at(t, f.url).Open(ctx, "x")
	if err != nil || o.Entry().Version != tag {
		t.Fatal(o, err)
	}
	tag = `"two"`
	if err := o.ReadAt(ctx, make([]byte, 4), 0); !errors.Is(err, store.ErrChanged) {
		t.Error(err)
	}
	tag = `"one"`
	if err := o.ReadAt(ctx, make([]byte, 4), 6); err != nil {
		t.Error(err)
	}
}

func TestServerWithoutRanges(t *testing.T) {
	noLeaks(t)
	size := smallBytes
	f := serve(t, withoutRanges(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(make([]byte, size)))
	})))
	ctx := context.Background()
	b := at(t, f.url)
	if o, err := b.Open(ctx, "x"); err != nil || o.ReadAt(ctx, make([]byte, 10), int64(size-10)) != nil {
		t.Errorf("a small object: %v", err)
	}
	size++
	want := "open " + f.url + "/x: the server ignores ranges and sends the whole object: copy it to this machine, or serve it by a server that knows the Range header"
	if _, err := b.Open(ctx, "x"); err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	f.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush() // so that the size is not said
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	if _, err := b.Open(ctx, "x"); !errors.Is(err, errNoRanges) {
		t.Errorf("an endless object: %v", err)
	}
}

// TestWrongAnswers has servers that lie about what they send.
func TestWrongAnswers(t *testing.T) {
	noLeaks(t)
	f := serve(t, nil)
	b := at(t, f.url)
	ctx := context.Background()
	for _, v := range []string{"", "bytes */100", "bytes 0-0/*", "bytes 5-5/3", "bytes -1-0/10", "bytes 0-0/99999999999999999999", "items 0-0/10"} {
		f.on(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.Header().Set("Content-Range", v)
			w.WriteHeader(http.StatusPartialContent)
		})
		if o, err := b.Open(ctx, "x"); err == nil {
			t.Errorf("Content-Range %q gives %+v", v, o.Entry())
		}
	}
	f.on(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Content-Range", "bytes 0-0/100")
		w.WriteHeader(http.StatusPartialContent)
		w.Write([]byte("x"))
	})
	o, err := b.Open(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.ReadAt(ctx, make([]byte, 1), 50); err == nil || !strings.Contains(err.Error(), "from 0 of 100 on, those from 50") {
		t.Error(err)
	}
}

func TestRefusedURLs(t *testing.T) {
	for url, want := range map[string]string{
		"https://user:very-secret-key@host/x":            "https://host: a URL that holds a user",
		"https://host/x?X-Amz-Signature=very-secret-key": "https://host/x: a URL with a query",
		"https://host/x#frag":                            "https://host/x: a URL with a query",
		"s3://very-secret:very-secret-key@bucket/x":      "s3://bucket: a URL that holds a user",
		"s3:///x":                          "s3: the name after s3:// is missing",
		"https://ho\x7fst/very-secret-key": "this is not a URL",
	} {
		_, err := blob.At(url)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	noLeaks(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for url, want := range map[string]string{
		"http://no-such-host.invalid": "the server's name no-such-host.invalid cannot be resolved: check the path, the endpoint (AWS_ENDPOINT_URL, CPL_GS_ENDPOINT) and the network",
		"http://" + l.Addr().String(): "no connection to " + l.Addr().String() + ": check",
		secure.URL:                    "the server's certificate is signed by nobody",
	} {
		_, err := at(t, url).Open(context.Background(), "x")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	noLeaks(t)
	data := noise(1000)
	end := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("sig") != "very-secret-key" {
			w.WriteHeader(403)
			return
		}
		http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(data))
	}))
	f := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "circle") {
			http.Redirect(w, r, r.URL.Path+"?sig=very-secret-key", http.StatusFound)
			return
		}
		http.Redirect(w, r, end.url+"/y?sig=very-secret-key", http.StatusFound)
	}))
	ctx := context.Background()
	o, err := at(t, f.url).Open(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 10)
	if err := o.ReadAt(ctx, got, 90); err != nil || !bytes.Equal(got, data[90:100]) {
		t.Error(err)
	}
	for _, key := range []string{"circle", "x"} {
		end.on(func(w http.ResponseWriter, r *http.Request, _ http.Handler) { hijack(w, 0) })
		_, err := at(t, f.url).Open(ctx, key)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", key, err)
		}
	}
	end.on(func(w http.ResponseWriter, r *http.Request, _ http.Handler) { w.WriteHeader(403); fmt.Fprint(w, "no") })
	if _, err := at(t, f.url).Open(ctx, "x"); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

// TestSilentServerIsGivenUp asks servers that say nothing, at any point of an answer. The
// time without a sign of them is bounded, also over all tries, and a cancelled context
// ends the waiting at once.
func TestSilentServerIsGivenUp(t *testing.T) {
	noLeaks(t)
	before, most := silence, defaultRetry
	silence, defaultRetry = 40*time.Millisecond, policy{tries: 100, first: time.Millisecond, most: time.Millisecond, longest: time.Second, total: 4 * time.Second} // a first try that a busy machine holds up for seconds is not the last
	t.Cleanup(func() { silence, defaultRetry = before, most })
	hang := func(r *http.Request) { <-r.Context().Done() }
	for name, do := range map[string]http.HandlerFunc{
		"before the header": func(w http.ResponseWriter, r *http.Request) { hang(r) },
		"in the body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-99/100")
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusPartialContent)
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			hang(r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := serve(t, do)
			read := func(ctx context.Context) error {
				_, err := blob.Get(ctx, at(t, f.url), "x", make([]byte, 100))
				return err
			}
			if err := read(t.Context()); !errors.Is(err, errSlow) || f.seen() < 2 {
				t.Errorf("%v, after %d requests", err, f.seen())
			}
			silence = time.Hour
			ctx, cancel := context.WithCancel(t.Context())
			f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				cancel()
				next.ServeHTTP(w, r)
			})
			if err := read(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			silence = 40 * time.Millisecond
		})
	}
}

func TestServerThatDripsIsGivenUp(t *testing.T) {
	noLeaks(t)
	before, retry := leastTime, defaultRetry
	leastTime, defaultRetry = 50*time.Millisecond, policy{tries: 2, first: time.Millisecond, most: time.Millisecond, longest: time.Second, total: time.Minute}
	t.Cleanup(func() { leastTime, defaultRetry = before, retry })
	f := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "bytes 0-999999/1000000")
		w.Header().Set("Content-Length", "1000000")
		w.WriteHeader(http.StatusPartialContent)
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	}))
	if _, err := blob.Get(t.Context(), at(t, f.url), "x", make([]byte, 1_000_000)); !errors.Is(err, errSlow) || f.seen() != 2 {
		t.Errorf("%v, after %d requests", err, f.seen())
	}
}

// TestSlowServerIsNotGivenUp has a server answer byte by byte, for longer in
// all than it may be silent.
func TestSlowServerIsNotGivenUp(t *testing.T) {
	noLeaks(t)
	before := silence
	silence = time.Second
	t.Cleanup(func() { silence = before })
	f := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "30")
		for range 30 {
			time.Sleep(50 * time.Millisecond)
			w.Write([]byte("x"))
			w.(http.Flusher).Flush()
		}
	}))
	e, err := blob.Get(t.Context(), at(t, f.url), "x", make([]byte, 100))
	if err != nil || e.Size != 30 {
		t.Errorf("%+v, %v, after %d requests", e, err, f.seen())
	}
}

// The range that an object is opened by is read on where its answer breaks off, and is one request where not.
func TestOpeningRangeIsReadOn(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	data := noise(3 << 20)
	b := at(t, "s3://data/")
	put(t, b, "x", data)
	for breaks, requests := range map[bool]int{false: 1, true: 2} {
		first := breaks
		f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if first {
				first = false
				w = &cutWriter{w, 1 << 20}
			}
			next.ServeHTTP(w, r)
		})
		got := make([]byte, 2<<20)
		o, err := blob.OpenAt(t.Context(), b, "x", got, 1<<20)
		if err != nil || !bytes.Equal(got, data[1<<20:]) {
			t.Fatalf("broken off %v: other bytes, %v", breaks, err)
		}
		if f.seen() != requests {
			t.Errorf("broken off %v: %d requests, want %d", breaks, f.seen(), requests)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

// cutWriter breaks an answer off after so many bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}
