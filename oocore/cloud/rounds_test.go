package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cloud"
)

// roundServer answers the requests of a round when all of them are under way, and no others. Chunks
// are read and stored at any time.
type roundServer struct {
	http.Handler
	t        *testing.T
	patience time.Duration

	mu     sync.Mutex
	rounds [][]string    // still to come, each without what is under way
	whole  chan struct{} // closed when the present round is under way
	failed bool          // whatever comes is answered
}

// expect sets the rounds that come next.
func (s *roundServer) expect(rounds ...[]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds, s.whole = rounds, make(chan struct{})
}

// ended fails the test where rounds are missing.
func (s *roundServer) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.rounds) > 0 && !s.failed {
		s.t.Errorf("no requests came for %q", s.rounds)
	}
}

func (s *roundServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/data/")
	if query := r.URL.Query(); query.Has("list-type") {
		name = "LIST " + query.Get("prefix")
	} else if query.Has("delete") {
		name = "DELETE many"
	}
	if folder, file := path.Split(name); r.URL.RawQuery != "" || !strings.HasSuffix(folder, "/c/") && !strings.HasPrefix(file, "c.") {
		s.await(name)
	}
	s.Handler.ServeHTTP(w, r)
}

// await returns when the round that a request belongs to is under way.
func (s *roundServer) await(name string) {
	s.mu.Lock()
	if s.failed {
		s.mu.Unlock()
		return
	}
	var present []string
	if len(s.rounds) > 0 {
		present = s.rounds[0]
	}
	i := slices.Index(present, name)
	if i < 0 {
		s.fail("%s came while %q is waited for", name, present)
		s.mu.Unlock()
		return
	}
	s.rounds[0] = slices.Delete(present, i, i+1)
	whole := s.whole
	if len(s.rounds[0]) == 0 {
		s.rounds, s.whole = s.rounds[1:], make(chan struct{})
		close(whole)
	}
	s.mu.Unlock()
	select {
	case <-whole:
	case <-time.After(s.patience):
		s.mu.Lock()
		s.fail("%s waits for %q, which do not come before its answer", name, s.rounds[0])
		s.mu.Unlock()
	}
}

// fail fails the test, once, and lets everything through.
func (s *roundServer) fail(format string, args ...any) {
	if !s.failed {
		s.failed = true
		s.t.Errorf(format, args...)
		close(s.whole)
	}
}

// A network that takes 100 ms to answer makes each request that waits for the one before cost as much as
// 10 MB: those that do not depend on each other are sent at once.
func TestSaveSendsRequestsAtOnce(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	s := &roundServer{Handler: gofakes3.New(backend).Server(), t: t, patience: time.Minute}
	server := httptest.NewServer(s)
	defer func() {
		cloud.CloseIdle()
		server.Close()
	}()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_NO_SIGN_REQUEST", "true")
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())

	const owner = "/.gonbext-run.json"
	note := func(a string) string { return "GET .gonbext/" + a + ".json" }
	version := func(a string) []string { return []string{"GET " + a + "/zarr.json", "LIST " + a + "/"} }
	begin := func(a, chunks string) [][]string {
		return [][]string{
			append(version(a), "GET "+a+"/.zarray", "GET "+a+"/.zgroup", "GET "+a+owner),
			{"PUT " + a + owner},
			{"GET " + a + owner, "LIST " + a + chunks},
		}
	}
	commit := func(a, chunks string) [][]string {
		return [][]string{{"GET " + a + owner, "LIST " + a + chunks}, {"PUT " + a + "/zarr.json"}}
	}
	end := func(a string) []string { return append(version(a), "DELETE "+a+owner) }
	save := func(name string, x *oocore.Array, path string, rounds ...[][]string) {
		t.Helper()
		s.expect(slices.Concat(rounds...)...)
		if _, err := x.Save(t.Context(), path, oocore.Chunks(1<<10), oocore.Codec("none")); err != nil {
			t.Error(name, err)
		}
		s.ended()
	}
	x := oocore.Arange(0, 4<<10, 1)
	save("a new array", x, "s3://data/x.zarr",
		[][]string{{note("x.zarr")}}, begin("x.zarr", "/c/"), commit("x.zarr", "/c/"), [][]string{end("x.zarr")})
	save("the same again", x, "s3://data/x.zarr",
		[][]string{{note("x.zarr")}, version("x.zarr")})
	save("another in its place", x.Add(1), "s3://data/x.zarr",
		[][]string{{note("x.zarr")}, version("x.zarr")}, begin("x.zarr", "/c."), commit("x.zarr", "/c."),
		[][]string{{"LIST x.zarr/"}, {"DELETE many"}, end("x.zarr")})
	s.expect([]string{"GET x.zarr/zarr.json"})
	x = oocore.Open("s3://data/x.zarr")
	s.ended()
	save("a copy", x, "s3://data/y.zarr",
		[][]string{append(version("x.zarr"), note("y.zarr"))}, begin("y.zarr", "/c/"),
		[][]string{version("x.zarr")}, commit("y.zarr", "/c/"), [][]string{end("y.zarr")})
}
