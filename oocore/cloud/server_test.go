package cloud

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// What no message may hold.
const (
	testID     = "AKIDEXAMPLEID"
	testSecret = "very-secret-key"
	testToken  = "very-secret-token"
)

func TestMain(m *testing.M) {
	if delay := os.Getenv(slowVariable); delay != "" {
		if err := serveSlow(delay); err != nil {
			log.Fatal(err)
		}
		return
	}
	flag.Set("rapid.checks", "20") // each is many requests; what they draw is drawn for local arrays too
	flag.Parse()
	defaultRetry = policy{tries: 4, first: time.Millisecond, most: 4 * time.Millisecond, longest: 2 * time.Second, total: time.Minute}
	for _, name := range os.Environ() { // the settings of whoever runs the tests
		if name, _, _ := bytes.Cut([]byte(name), []byte("=")); bytes.HasPrefix(name, []byte("AWS_")) {
			os.Unsetenv(string(name))
		}
	}
	os.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	os.Setenv("AWS_CONFIG_FILE", os.DevNull)
	os.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	os.Exit(m.Run())
}

// noLeaks fails a test after which goroutines are left.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		for wait := time.Millisecond; goleak.Find(before) != nil && wait < 10*time.Second; wait *= 2 {
			time.Sleep(wait)
		}
		goleak.VerifyNone(t, before)
	})
}

// faults is a server in front of another. Tests change what it does with
// requests.
type faults struct {
	url  string
	next http.Handler

	mu       sync.Mutex
	requests []*http.Request
	do       func(w http.ResponseWriter, r *http.Request, next http.Handler)
}

func (f *faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests = append(f.requests, r.Clone(context.Background()))
	do := f.do
	f.mu.Unlock()
	if do == nil {
		f.next.ServeHTTP(w, r)
		return
	}
	do(w, r, f.next)
}

// on sets what is done with requests from now on, and forgets those before.
func (f *faults) on(do func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.do, f.requests = do, nil
}

// seen is the number of requests since on.
func (f *faults) seen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.requests)
}

// serve puts a server with faults before a handler.
func serve(t testing.TB, next http.Handler) *faults {
	f := &faults{next: next}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.url = s.URL
	return f
}

// fakeS3 is an S3 server with the bucket "data", and the settings to reach it.
func fakeS3(t testing.TB) *faults {
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	f := serve(t, gofakes3.New(backend).Server())
	t.Setenv("AWS_ENDPOINT_URL", f.url)
	t.Setenv("AWS_ACCESS_KEY_ID", testID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", testSecret)
	t.Setenv("AWS_SESSION_TOKEN", testToken)
	return f
}

func at(t testing.TB, url string) blob.Bucket {
	t.Helper()
	b, err := blob.At(url)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t testing.TB, b blob.Bucket, key string, data []byte) {
	t.Helper()
	ctx := context.Background()
	u, err := b.Create(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Write(ctx, data); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func noise(n int) []byte {
	b := make([]byte, n)
	io.ReadFull(rand.Reader, b)
	return b
}
