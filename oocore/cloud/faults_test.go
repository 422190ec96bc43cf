package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// hijack breaks a connection off, after n bytes of an answer where n is not 0.
func hijack(w http.ResponseWriter, n int) {
	if n > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(1<<30))
		w.Write(make([]byte, n))
		w.(http.Flusher).Flush()
	}
	panic(http.ErrAbortHandler)
}

// TestPassing makes every kind of request meet each failure that passes, twice,
// and then succeed.
func TestPassing(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	ctx := context.Background()
	data := noise(partBytes + 1000)
	status := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(code) }
	}
	failures := map[string]func(http.ResponseWriter){
		"429": status(429), "500": status(500), "502": status(502), "503": status(503), "504": status(504),
		"broken": func(w http.ResponseWriter) { hijack(w, 0) },
		"400 too slow": func(w http.ResponseWriter) {
			w.WriteHeader(400)
			fmt.Fprint(w, "<Error><Code>RequestTimeout</Code></Error>")
		},
	}
	operations := map[string]func() error{
		"open": func() error { _, err := b.Open(ctx, "x"); return err },
		"read": func() error {
			o, err := b.Open(ctx, "x")
			if err != nil {
				return err
			}
			got := make([]byte, len(data))
			if err := o.ReadAt(ctx, got, 0); err != nil || !bytes.Equal(got, data) {
				return fmt.Errorf("read: %w", err)
			}
			return nil
		},
		"get": func() error {
			got := make([]byte, len(data)+1)
			if e, err := blob.Get(ctx, b, "x", got); err != nil || !bytes.Equal(got[:e.Size], data) {
				return fmt.Errorf("got %d: %w", e.Size, err)
			}
			return nil
		},
		"write": func() error {
			u, err := b.Create(ctx, "y")
			if err == nil {
				err = errors.Join(u.Write(ctx, data), u.Close(ctx))
			}
			return err
		},
		"put":    func() error { _, err := blob.Put(ctx, b, "z", data); return err },
		"delete": func() error { return b.Delete(ctx, "gone") },
		"list": func() error {
			for _, err := range b.List(ctx, "") {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	put(t, b, "x", data)
	for name, fail := range failures {
		for op, run := range operations {
			var mu sync.Mutex
			tries := map[string]int{} // of each request by itself: those that run at once come in any order
			f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				mu.Lock()
				same := r.Method + r.URL.String() + r.Header.Get("Range")
				tries[same]++
				third := tries[same]%3 == 0
				mu.Unlock()
				if !third {
					io.Copy(io.Discard, r.Body)
					fail(w)
					return
				}
				next.ServeHTTP(w, r)
			})
			if err := run(); err != nil {
				t.Errorf("%s, %s: %v", op, name, err)
			}
		}
	}
	f.on(nil)
	for _, key := range []string{"y", "z"} {
		got := make([]byte, len(data))
		if _, err := blob.Get(ctx, b, key, got); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s differs after faults: %v", key, err)
		}
	}
}

// TestLasting makes failures last: no request is sent more often than it may be,
// and rejections are not repeated at all.
func TestLasting(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	put(t, b, "x", noise(100))
	for code, c := range map[int]struct {
		body  string
		tries int
		want  string
	}{
		403: {"<Error><Code>AccessDenied</Code><Message>no</Message></Error>", 1, "open s3://data/x: the server denies access (AccessDenied): the credentials from AWS_ACCESS_KEY_ID may not do this, or the object is missing"},
		404: {"<Error><Code>NoSuchKey</Code></Error>", 1, "open s3://data/x: there is no such object"},
		400: {"<Error><Code>ExpiredToken</Code></Error>", 1, "open s3://data/x: the server does not accept the credentials (ExpiredToken): renew those from AWS_ACCESS_KEY_ID"},
		409: {"<html>\n<b>strange</b>", 1, "open s3://data/x: the server answers 409 Conflict"},
		503: {"<Error><Code>SlowDown</Code><Message>Please reduce\nyour rate.</Message></Error>", 4, "open s3://data/x: the server answers 503 Service Unavailable (SlowDown: Please reduce your rate) (after 4 tries)"},
	} {
		f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			w.WriteHeader(code)
			io.WriteString(w, c.body)
		})
		_, err := b.Open(context.Background(), "x")
		if err == nil || err.Error() != c.want || f.seen() != c.tries {
			t.Errorf("%d after %d requests:\n%v\nwant\n%s", code, f.seen(), err, c.want)
		}
		if errors.Is(err, fs.ErrNotExist) != (code == 404) || errors.Is(err, fs.ErrPermission) != (code == 403) {
			t.Errorf("%d is of the wrong kind: %v", code, err)
		}
	}
}

// TestBroken has a server that never answers.
func TestBroken(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) { hijack(w, 0) })
	_, err := at(t, "s3://data").Open(context.Background(), "x")
	if err == nil || err.Error() != "open s3://data/x: the server broke the connection off: unexpected EOF (after 4 tries)" || f.seen() < 4 {
		t.Errorf("%d requests: %v", f.seen(), err)
	}
}

// TestShortBodies breaks each answer off: what came is kept, and only the rest
// is asked for.
func TestShortBodies(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	data := noise(3 << 20)
	put(t, b, "x", data)
	ctx := context.Background()
	o, err := b.Open(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	var ranges []string
	f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		ranges = append(ranges, r.Header.Get("Range"))
		next.ServeHTTP(&short{ResponseWriter: w, left: 256 << 10}, r)
	})
	got := make([]byte, len(data))
	if err := o.ReadAt(ctx, got, 0); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("after short bodies: %v", err)
	}
	if len(ranges) != 12 || ranges[1] != fmt.Sprintf("bytes=%d-%d", 256<<10, len(data)-1) {
		t.Errorf("ranges asked for: %v", ranges)
	}
}

// short is an answer that breaks off.
type short struct {
	http.ResponseWriter
	left int
}

func (s *short) Write(p []byte) (int, error) {
	n, err := s.ResponseWriter.Write(p[:min(len(p), s.left)])
	if s.left -= n; s.left == 0 {
		s.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func TestRetryAfter(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	put(t, b, "x", noise(100))
	f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if f.seen() == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(503)
			return
		}
		next.ServeHTTP(w, r)
	})
	start := time.Now()
	if _, err := b.Open(context.Background(), "x"); err != nil || time.Since(start) < time.Second {
		t.Errorf("opened after %v: %v", time.Since(start), err)
	}
	f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(429)
	})
	if _, err := b.Open(context.Background(), "x"); err == nil || !strings.HasSuffix(err.Error(), "it asks to come back in 1h0m0s") || f.seen() != 1 {
		t.Errorf("%d requests: %v", f.seen(), err)
	}
}

// TestCancelledWhileWaiting ends a request that the server never answers, one
// that waits for its next try, and one that waits for others.
func TestCancelledWhileWaiting(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	end := make(chan struct{})
	defer close(end)
	asked := make(chan struct{}, 100)
	for name, do := range map[string]func(w http.ResponseWriter, r *http.Request, next http.Handler){
		"silent": func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			asked <- struct{}{}
			select {
			case <-r.Context().Done():
			case <-end:
			}
		},
		"busy": func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(503)
			asked <- struct{}{}
		},
	} {
		f.on(do)
		ctx, cancel := context.WithCancel(context.Background())
		go func() { <-asked; cancel() }()
		if _, err := blob.Put(ctx, b, "x", noise(1<<20)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := &client{slots: make(chan struct{}, 1)}
	c.slots <- struct{}{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.do(ctx, request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for others: %v", err)
	}
}

// TestNoOrphans makes each request of a multipart upload fail for good: the
// object stays as it was, and the server holds no parts.
func TestNoOrphans(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	ctx := context.Background()
	put(t, b, "x", []byte("old"))
	data := noise(2*partBytes + 5)
	for nth := 1; ; nth++ {
		n := 0
		begun, aborted := 0, 0
		f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			switch {
			case r.Method == http.MethodDelete:
				aborted++
			case r.URL.Query().Has("uploads"):
				begun++
			}
			if n++; n == nth {
				w.WriteHeader(403)
				return
			}
			next.ServeHTTP(w, r)
		})
		u, err := b.Create(ctx, "x")
		if err == nil {
			err = u.Write(ctx, data)
		}
		if err == nil {
			err = u.Close(ctx)
		} else {
			u.Abort()
		}
		f.on(nil)
		if err == nil {
			if nth != 6 { // begin, three parts, complete
				t.Errorf("the upload took %d requests", nth-1)
			}
			return
		}
		if nth > 1 && (begun != 1 || aborted != 1) {
			t.Errorf("request %d failed: %d uploads begun, %d aborted", nth, begun, aborted)
		}
		if o, err := b.Open(ctx, "x"); err != nil || o.Entry().Size != 3 {
			t.Errorf("request %d failed, and the object is %v, %v", nth, o, err)
		}
	}
}

// TestLostAnswer loses the answer that completes a multipart upload.
func TestLostAnswer(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	lost := false
	f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") && !lost {
			lost = true
			next.ServeHTTP(&short{ResponseWriter: w, left: 1}, r)
			return
		}
		next.ServeHTTP(w, r)
	})
	if _, err := blob.Put(context.Background(), b, "x", noise(partBytes+5)); err != nil || !lost {
		t.Errorf("lost %v: %v", lost, err)
	}
}

// TestBounded counts the requests that a bucket has under way.
func TestBounded(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	data := noise(6*pieceBytes + 1)
	if _, err := blob.Put(context.Background(), b, "x", data); err != nil {
		t.Fatal(err)
	}
	o, err := b.Open(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	var now, most atomic.Int64
	f.on(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		next.ServeHTTP(w, r)
	})
	got := make([]byte, len(data))
	if err := o.ReadAt(context.Background(), got, 0); err != nil || !bytes.Equal(got, data) {
		t.Fatal(err)
	}
	if n := most.Load(); n < 2 || n > inFlight+1 { // a server may still be ending the one before
		t.Errorf("%d requests of one read at once", n)
	}
}

// TestNoSecrets makes everything fail in many ways, with a server that repeats
// what it was sent, and looks for secrets in what is said.
func TestNoSecrets(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	ctx := context.Background()
	put(t, b, "x", noise(10))
	o, err := b.Open(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	said := []string{fmt.Sprint(b), fmt.Sprintf("%+v %#v", b, b), fmt.Sprintf("%+v", o)}
	for _, code := range []int{301, 400, 401, 403, 404, 409, 412, 416, 418, 500, 503} {
		for _, name := range []string{"AccessDenied", "SignatureDoesNotMatch", "Odd"} {
			f.on(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				w.WriteHeader(code)
				fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s %s</Message></Error>", name, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"))
			})
			_, openError := b.Open(ctx, "x")
			_, getError := blob.Get(ctx, b, "x", make([]byte, 10))
			var listError error
			for _, listError = range b.List(ctx, "") {
			}
			for _, err := range []error{openError, getError, listError, b.Delete(ctx, "x"), o.ReadAt(ctx, make([]byte, 10), 0), putError(b, nil), putError(b, noise(partBytes+1))} {
				said = append(said, fmt.Sprintf("%v %+v", err, err))
			}
		}
	}
	for _, text := range said {
		for _, secret := range []string{testSecret, testToken, "Signature=", "\n"} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is in %s", secret, text)
			}
		}
	}
}

// TestStream reads an object in small pieces that follow one another, with
// others in between, and answers that break off.
func TestStream(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	b := at(t, "s3://data")
	data := noise(10<<20 + 77)
	put(t, b, "x", data)
	ctx := context.Background()
	for name, c := range map[string]struct {
		do   func(w http.ResponseWriter, r *http.Request, next http.Handler)
		most int // requests
	}{
		"whole":  {nil, 10}, // two of a piece, then 0.1, 0.4, 1.2, 3.5 and 10 MiB
		"broken": {func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(&short{w, 200_000}, r) }, 200},
		"busy": {func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if f.seen()%2 == 0 {
				w.WriteHeader(503)
				return
			}
			next.ServeHTTP(w, r)
		}, 600},
	} {
		f.on(nil)
		o, err := b.Open(ctx, "x")
		if err != nil {
			t.Fatal(err)
		}
		f.on(c.do)
		piece, got := 40_000, make([]byte, len(data))
		for at := 0; at < len(data); at += piece {
			p := got[at:min(at+piece, len(data))]
			if err := o.ReadAt(ctx, p, int64(at)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if at == 100*piece && c.do != nil { // which ends the stream
				if err := o.ReadAt(ctx, make([]byte, 10), 5); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		if !bytes.Equal(got, data) || f.seen() > c.most {
			t.Errorf("%s: %d requests, right %v", name, f.seen(), bytes.Equal(got, data))
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	f.on(nil)
	o, err := b.Open(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range 10 {
		if i == 8 {
			cancel()
		}
		if err := o.ReadAt(ctx, make([]byte, 1000), int64(i)*1000); (err != nil) != (i >= 8) || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("read %d: %v", i, err)
		}
	}
	ctx = context.Background()
	put(t, b, "x", data[1:])
	if err := o.ReadAt(ctx, make([]byte, 1000), 100); err == nil {
		t.Error("a replaced object is read")
	}
}

// TestListEndsTooEarly lets a server say that more follows, and not how to get it.
func TestListEndsTooEarly(t *testing.T) {
	noLeaks(t)
	f := fakeS3(t)
	f.next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a</Key><Size>1</Size></Contents></ListBucketResult>`)
	})
	n := 0
	var err error
	for _, err = range at(t, "s3://data").List(t.Context(), "") {
		n++
	}
	if n != 2 || err == nil || !strings.Contains(err.Error(), "not complete") {
		t.Errorf("%d entries, and the error %v", n, err)
	}
}

func putError(b blob.Bucket, p []byte) error {
	_, err := blob.Put(context.Background(), b, "x", p)
	return err
}
