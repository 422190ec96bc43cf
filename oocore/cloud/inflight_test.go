package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cloud"
)

// gate is a server whose answers to requests for chunks wait until so many are under way at once:
// as with a network that is slow to answer. It opens once for all.
type gate struct {
	http.Handler
	mu       sync.Mutex
	under    int
	wanted   int // 0 when it is open
	most     int // at once
	before   int // at once before it opened
	opened   chan struct{}
	patience time.Duration
}

// gated starts such a server, which is open, with a bucket that is named data.
func gated(t *testing.T) *gate {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	g := &gate{Handler: gofakes3.New(backend).Server(), opened: make(chan struct{}), patience: time.Minute}
	close(g.opened)
	s := httptest.NewServer(g)
	t.Cleanup(func() {
		cloud.CloseIdle()
		s.Close()
	})
	t.Setenv("AWS_ENDPOINT_URL", s.URL)
	t.Setenv("AWS_NO_SIGN_REQUEST", "true")
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // runs that are unfinished elsewhere are none of these
	return g
}

// shut has it wait for so many requests.
func (g *gate) shut(wanted int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted, g.most, g.before, g.opened = wanted, 0, 0, make(chan struct{})
}

// open opens it, once.
func (g *gate) open() {
	if g.wanted > 0 {
		g.wanted, g.before = 0, g.most
		close(g.opened)
	}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/c/") {
		g.mu.Lock()
		g.under++
		if g.most = max(g.most, g.under); g.under == g.wanted {
			g.open()
		}
		opened := g.opened
		g.mu.Unlock()
		select {
		case <-opened:
		case <-time.After(g.patience):
			g.mu.Lock()
			g.open()
			g.mu.Unlock()
		}
		defer func() {
			g.mu.Lock()
			g.under--
			g.mu.Unlock()
		}()
	}
	g.Handler.ServeHTTP(w, r)
}

// Requests in flight are as many as the budget has room for, up to a bound: with a fixed number,
// a network that takes long to answer would not reach its rate.
func TestRequestsInFlightAreThoseOfTheBudget(t *testing.T) {
	g := gated(t)
	log := t.TempDir()
	t.Setenv("GONBEXT_RUNS", log)
	const n, chunk = 160, 1 << 16 // of 512 KiB
	ramp := oocore.Arange(0, n*chunk, 1).AsType(oocore.Float64)
	if _, err := ramp.Save(t.Context(), "s3://data/x.zarr", oocore.Chunks(chunk), oocore.Codec("none"), oocore.Memory("512MiB")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		room        int64 // bytes of the budget above what the process holds
		least, most int   // requests at once
	}{{1 << 30, 128, 128}, {192 << 20, 8, 100}} {
		budget := within(t, c.room)
		g.shut(c.least)
		if _, err := oocore.Open("s3://data/x.zarr").Sqrt().Save(t.Context(), filepath.Join(t.TempDir(), "y.zarr"), oocore.Chunks(chunk), oocore.Codec("none"), budget, oocore.Fresh()); err != nil {
			t.Fatal(err)
		}
		run := latest(t, log)
		h, end := &run.Header, run.End
		if g.most < c.least || g.most > c.most {
			t.Errorf("%d MiB: %d requests at once, want %d to %d", c.room>>20, g.most, c.least, c.most)
		}
		if end.Peak > h.Predicted.Host() || end.Peak < h.Predicted.Host()*8/10 {
			t.Errorf("%d MiB: buffers took %d bytes, predicted are %d", c.room>>20, end.Peak, h.Predicted.Host())
		}
		t.Logf("%d MiB: %d requests at once, buffers of %d MiB, predicted %d MiB, process %d MiB", c.room>>20, g.most, end.Peak>>20, h.Predicted.Host()>>20, end.ProcessPeak>>20)
	}
}

// A copy from an object store to one begins with a part of its reads, so that the link is used in both
// directions from then on.
func TestCopiesBeginInTurns(t *testing.T) {
	g := gated(t)
	g.patience = time.Second
	const n, chunk = 140, 1 << 17 // of 1 MiB
	ramp := oocore.Arange(0, n*chunk, 1).AsType(oocore.Float64)
	if _, err := ramp.Save(t.Context(), "s3://data/x.zarr", oocore.Chunks(chunk), oocore.Codec("none"), oocore.Memory("512MiB")); err != nil {
		t.Fatal(err)
	}
	x := oocore.Open("s3://data/x.zarr")
	g.shut(n + 1) // never opened by requests
	y, err := x.Save(t.Context(), "s3://data/y.zarr", oocore.Chunks(chunk), oocore.Codec("none"), oocore.Memory("1GiB"))
	if err != nil {
		t.Fatal(err)
	}
	if g.before > 64 {
		t.Errorf("%d chunks of 1 MiB are read at first", g.before)
	}
	if different, err := oocore.Collect[int64](t.Context(), y.NotEqual(ramp).CountNonzero(), oocore.Memory("1GiB")); err != nil || different[0] != 0 {
		t.Errorf("%d elements differ: %v", different, err)
	}
}
