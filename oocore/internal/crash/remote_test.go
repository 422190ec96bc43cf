package crash

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/cloud" // s3:// and http://
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// A server answers for a bucket, or for the inputs' folder. One of its requests fails.
type server struct {
	*httptest.Server

	mu    sync.Mutex
	next  http.Handler
	count int
	n     int    // the request that fails, from 1
	mode  string // how
}

// refusedFromThenOn is all requests from one on.
const refusedFromThenOn = "403 from then on"

// modes are the ways in which requests fail. The last four are sent again.
var modes = []string{"403", refusedFromThenOn, "503", "reset", "short", "late"}

func newServer(t *testing.T) *server {
	t.Helper()
	s := new(server)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// fail sets the handler and what fails.
func (s *server) fail(next http.Handler, n int, mode string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next, s.count, s.n, s.mode = next, 0, n, mode
}

func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.count++
	next, mode := s.next, ""
	if s.count == s.n || s.n > 0 && s.count > s.n && s.mode == refusedFromThenOn {
		mode = s.mode
	}
	s.mu.Unlock()
	switch mode {
	case "403", refusedFromThenOn:
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusForbidden)
		return
	case "503":
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case "reset":
		panic(http.ErrAbortHandler)
	case "short":
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(max(answer.Body.Len(), 1)))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		panic(http.ErrAbortHandler)
	case "late":
		time.Sleep(time.Millisecond)
	}
	next.ServeHTTP(w, r)
}

// claim is the object by which a run keeps others out of the array.
const claim = "o.zarr/.gonbext-run.json"

// expire takes away the claim of a run that could not do so itself, as the time does.
func expire(t *testing.T) {
	t.Helper()
	b, err := blob.At("s3://data")
	check(t, err)
	check(t, b.Delete(context.Background(), claim))
}

// objects are what is in the bucket, by key.
func objects(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	b, err := blob.At("s3://data")
	check(t, err)
	for e, err := range b.List(context.Background(), "") {
		check(t, err)
		text := make([]byte, e.Size)
		_, err := blob.Get(context.Background(), b, e.Key, text)
		check(t, err)
		all[e.Key] = string(text)
	}
	return all
}

// remote are saves to a bucket, and of inputs that a server has. Their inputs and outputs
// are named by the addresses of folders.
func remote() (all []save) {
	grid := []oocore.Option{oocore.Chunks(30, 35)}
	add := func(name, expr, input, output string, opts ...oocore.Option) {
		all = append(all, save{name: name, outputs: []string{output}, run: func(in, out string) error {
			names := oocore.Names{"x": oocore.Open(in + "/" + input)}
			return put(oocore.EvalContext(context.Background(), expr, names, options()...), out+"/"+output, opts...)
		}})
	}
	for _, input := range []string{"x.npy", "x.zarr", "v2.zarr"} {
		add("map of "+input+" to chunks", "sqrt(x)", input, "o.zarr", grid...)
		add("centred of "+input+" to shards", "x - mean(x, 0)", input, "o.zarr", oocore.Chunks(30, 35), oocore.Shards(60, 70))
	}
	add("sort to chunks", "sort(x, 0)", "x.npy", "o.zarr", grid...)
	add("product to chunks", "matmul(transpose(x), x)", "x.npy", "o.zarr", oocore.Chunks(35, 35))
	s := all[0]
	s.name, s.prepare = "replacing chunks", func(_, out string) error {
		return put(oocore.Ones(oocore.Float32, rows, columns), out+"/o.zarr", grid...)
	}
	all = append(all, s)
	return all
}

// Every request of every kind of save to a bucket fails once, or a sample of them: the run
// gives an error, or makes the same objects as one without a fault and no others. No array
// in the bucket ever has a part of the elements, and after the next run it has all. Nothing
// stays on this machine.
func TestEveryRequestFails(t *testing.T) {
	r := newRoom(t)
	s3, web := newServer(t), newServer(t)
	t.Setenv("AWS_ENDPOINT_URL", s3.URL)
	t.Setenv("AWS_NO_SIGN_REQUEST", "true")
	pages := http.FileServer(http.Dir(r.in))
	r.in, r.out = web.URL, "s3://data"
	requests, errs := 0, 0
	for _, s := range remote() {
		t.Run(s.name, func(t *testing.T) {
			begin := func() http.Handler {
				backend := s3mem.New()
				check(t, backend.CreateBucket("data"))
				bucket := gofakes3.New(backend).Server()
				s3.fail(bucket, 0, "")
				web.fail(pages, 0, "")
				check(t, os.RemoveAll(r.runs))
				if s.prepare != nil {
					check(t, s.prepare(r.in, r.out))
				}
				return bucket
			}
			bucket := begin()
			before, old := r.elements(t, &s), objects(t)
			s3.fail(bucket, 0, "")
			web.fail(pages, 0, "")
			check(t, s.run(r.in, r.out))
			type failing struct {
				server *server
				n      int
				mode   string
			}
			var all []failing
			for _, from := range []*server{s3, web} {
				for n := range from.requests() {
					for _, mode := range modes {
						all = append(all, failing{from, n + 1, mode})
					}
				}
			}
			after, want, left := r.elements(t, &s), objects(t), files(t, filepath.Dir(r.temp))
			each := 1 // of a mode
			if testcases.Full() {
				each = 2
			}
			for _, c := range testcases.Sample(t, all, each, func(c failing) []string { return []string{fmt.Sprint(c.server == s3, c.mode)} }) {
				what := fmt.Sprintf("request %d, %s, of the bucket: %v", c.n, c.mode, c.server == s3)
				bucket := begin()
				s3.fail(bucket, 0, "")
				web.fail(pages, 0, "")
				next := pages
				if c.server == s3 {
					next = bucket
				}
				c.server.fail(next, c.n, c.mode)
				err := s.run(r.in, r.out)
				if c.server.requests() >= c.n {
					requests++
				}
				s3.fail(bucket, 0, "")
				web.fail(pages, 0, "")
				if wrong := r.whole(&s, before, after); wrong != nil {
					t.Fatalf("%s: %v (the run gave %v)", what, wrong, err)
				}
				if err == nil {
					now := objects(t)
					// A claim that cannot be taken away ends by itself, and a chunk of the array before takes room
					// only. What else the run asks for then may be answered before.
					if c.mode == "403" || c.mode == refusedFromThenOn {
						delete(now, claim)
						for key, content := range old {
							if _, ours := want[key]; !ours && now[key] == content {
								delete(now, key)
							}
						}
					}
					if wrong := differ(want, now); wrong != "" {
						t.Fatalf("%s: %s", what, wrong)
					}
				} else {
					errs++
					if c.mode == refusedFromThenOn {
						expire(t)
					}
					if err := r.again(&s, after); err != nil {
						t.Fatalf("%s: the next run gave %v", what, err)
					}
					if wrong := r.whole(&s, after, after); wrong != nil {
						t.Fatalf("%s: %v (the run gave %v)", what, wrong, err)
					}
				}
				check(t, os.RemoveAll(r.runs))
				now := files(t, filepath.Dir(r.temp))
				for name := range now {
					if _, ok := left[name]; !ok {
						t.Fatalf("%s: %s is left (the run gave %v)", what, name, err)
					}
				}
			}
		})
	}
	t.Logf("%d requests failed or were late, %d runs gave an error", requests, errs)
}
