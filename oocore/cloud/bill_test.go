package cloud_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cloud"
	"github.com/gonbext/gonbext/oocore/record"
)

// countingServer counts requests by kind, and the bytes of objects.
type countingServer struct {
	http.Handler
	under sync.RWMutex // held by each request until it is counted
	mu    sync.Mutex
	all   record.Traffic
}

// counted sees the length of an answer.
type counted struct {
	http.ResponseWriter
	status int
}

func (c *counted) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *counted) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	return c.ResponseWriter.Write(p)
}

func (s *countingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.under.RLock()
	defer s.under.RUnlock()
	query := r.URL.Query()
	kind, body := r.Method, int64(0)
	switch {
	case query.Has("list-type"):
		kind = "LIST"
	case query.Has("delete"):
		kind = "DELETE"
	case query.Has("partNumber"):
		kind, body = "part", r.ContentLength
	case r.Method == http.MethodPut:
		body = r.ContentLength
	case r.Method == http.MethodGet && r.Header.Get("Range") != "":
		kind = "ranged GET"
	}
	c := &counted{ResponseWriter: w}
	s.Handler.ServeHTTP(c, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all.Requests == nil {
		s.all.Requests = map[string]int64{}
	}
	s.all.Requests[kind]++
	s.all.Written += body
	if strings.HasSuffix(kind, "GET") && c.status < 300 {
		var n int64
		fmt.Sscan(c.Header().Get("Content-Length"), &n)
		s.all.Read += n
	}
}

// seen returns what came since the last call.
func (s *countingServer) seen() record.Traffic {
	s.under.Lock()
	defer s.under.Unlock()
	t := s.all
	s.all = record.Traffic{}
	return t
}

// countS3 starts a counting server.
func countS3(t *testing.T, handler http.Handler) *countingServer {
	s := &countingServer{Handler: handler}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		cloud.CloseIdle()
		server.Close()
	})
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_NO_SIGN_REQUEST", "true")
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return s
}

// A random plan asks for what its bill says: the server counts the same.
func TestBillIsWhatTheServerSees(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	s := countS3(t, gofakes3.New(backend).Server())
	web := &countingServer{}
	folder := t.TempDir()
	web.Handler = http.FileServer(http.Dir(folder))
	server := httptest.NewServer(web)
	t.Cleanup(server.Close)
	r := rand.New(rand.NewPCG(7, 7))
	exact, abouts := 0, map[string]int{}
	plans := 100
	if os.Getenv("GONBEXT_TEST") == "full" {
		plans = 300
	}
	for n := range plans {
		dims := 1 + r.IntN(3)
		shape, chunks, shards := make([]int, dims), make([]int, dims), make([]int, dims)
		most := []int{0, 200_000, 500, 70}[dims]
		for d := range shape {
			shape[d] = 1 + r.IntN(most)
			chunks[d] = 1 + r.IntN(shape[d])
			chunks[d] = max(chunks[d], shape[d]/12)
			shards[d] = chunks[d] * (1 + r.IntN(4))
		}
		codec := []string{"none", "none", "zstd:1"}[r.IntN(3)]
		layout := func() (opts []oocore.Option) {
			opts = []oocore.Option{oocore.Chunks(chunks...), oocore.Codec(codec)}
			if r.IntN(3) == 0 {
				opts = append(opts, oocore.Shards(shards...))
			}
			return opts
		}
		size := 1
		for _, k := range shape {
			size *= k
		}
		place, read := "s3://data", "s3://data"
		if r.IntN(3) == 0 {
			place, read = folder, server.URL
		}
		in := fmt.Sprintf("%s/in%d.zarr", place, n)
		if _, err := oocore.Arange(1, float64(size+1), 1).Reshape(shape...).Save(t.Context(), in, layout()...); err != nil {
			t.Fatal(err)
		}
		other, flat := fmt.Sprintf("%s/other%d.zarr", place, n), layout()
		if place == folder && r.IntN(2) == 0 {
			other, flat = fmt.Sprintf("%s/other%d.npy", place, n), nil
		}
		if _, err := oocore.Arange(1, float64(size+1), 1).Reshape(shape...).Save(t.Context(), other, flat...); err != nil {
			t.Fatal(err)
		}
		s.seen()
		in, other = strings.Replace(in, place, read, 1), strings.Replace(other, place, read, 1)
		kind, what := r.IntN(6), "copy"
		if kind == 5 {
			in = other
		}
		x := oocore.Open(in)
		switch kind {
		case 0:
			x, what = x.Add(1), "add"
		case 1:
			axis := r.IntN(dims)
			x, what = x.Sum(axis), fmt.Sprint("sum ", axis)
		case 2:
			var spec []string
			for _, k := range shape {
				from := r.IntN(k)
				spec = append(spec, fmt.Sprintf("%d:%d:%d", from, from+1+r.IntN(k-from), 1+r.IntN(3)))
			}
			what = strings.Join(spec, ",")
			x = x.Slice(what)
		case 3:
			x, what = x.Sub(x.Mean(0)), "centre"
		case 4:
			x, what = x.Mul(oocore.Open(other)), "product"
		case 5:
			x, what = x.Add(1), "add to "+other
		}
		out, to := fmt.Sprintf("s3://data/out%d.zarr", n), []oocore.Option{oocore.Memory([]string{"1GiB", "512MiB"}[r.IntN(2)])}
		if slices.Equal(x.Shape(), shape) {
			to = append(to, layout()...)
		} else {
			to = append(to, oocore.Codec(codec))
		}
		switch r.IntN(3) {
		case 0:
			out = filepath.Join(t.TempDir(), "out.zarr")
		case 1:
			out = ""
			to = to[:1]
		}
		name := fmt.Sprintf("%d: %s of %v, chunks %v, %s, to %q", n, what, shape, chunks, codec, out)
		p, err := x.Plan(out, to...)
		if err != nil {
			t.Fatal(name, err)
		}
		if out == "" {
			_, err = oocore.Collect[float64](t.Context(), x, to...)
		} else {
			_, err = x.Save(t.Context(), out, to...)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		seen := map[string]record.Traffic{"s3://data": s.seen(), server.URL: web.seen()}
		told := map[string]record.Traffic{}
		for _, of := range p.Traffic {
			told[of.Place] = of
		}
		if p.TrafficAbout == "" {
			exact++
		} else {
			abouts[p.TrafficAbout]++
		}
		order := strings.Contains(p.TrafficAbout, "slots") || strings.Contains(p.TrafficAbout, "decoded")
		for place, seen := range seen {
			told := told[place]
			if !order && !maps.Equal(told.Requests, seen.Requests) {
				t.Errorf("%s: %s: %v are told, %v were seen (%s)\n%v", name, place, told.Requests, seen.Requests, p.TrafficAbout, p)
			}
			if p.TrafficAbout == "" && (told.Read != seen.Read || told.Written != seen.Written) {
				t.Errorf("%s: %s: %d bytes to read and %d to write are told, %d and %d were seen\n%v", name, place, told.Read, told.Written, seen.Read, seen.Written, p)
			}
		}
	}
	if exact < plans/3 {
		t.Errorf("only %d plans were exact: %v", exact, abouts)
	}
}

// Objects of several parts, and more of them than one listing has, are counted too.
func TestBillCountsPartsAndPages(t *testing.T) {
	s := countS3(t, cloud.Handler())
	for name, c := range map[string]struct {
		n      int
		layout []oocore.Option
	}{
		"parts":  {5 << 20, []oocore.Option{oocore.Chunks(2<<20 + 1)}},
		"even":   {4 << 20, []oocore.Option{oocore.Chunks(2 << 20)}},
		"shards": {5 << 20, []oocore.Option{oocore.Chunks(1 << 20), oocore.Shards(3 << 20)}},
		"pages":  {2100, []oocore.Option{oocore.Chunks(1)}},
	} {
		opts := append(c.layout, oocore.Codec("none"), oocore.Memory("1GiB"))
		first := "s3://data/" + name + "0.zarr"
		for i, open := range []func() *oocore.Array{
			func() *oocore.Array { return oocore.Arange(1, float64(c.n+1), 1) },
			func() *oocore.Array { return oocore.Open(first) },
		} {
			s.seen()
			x, out := open(), fmt.Sprintf("s3://data/%s%d.zarr", name, i)
			p, err := x.Plan(out, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := x.Save(t.Context(), out, opts...); err != nil {
				t.Fatal(err)
			}
			seen, told := s.seen(), p.Traffic[0]
			if !maps.Equal(told.Requests, seen.Requests) || told.Read != seen.Read || told.Written != seen.Written {
				t.Errorf("%s: %+v is told (%s), %+v was seen", out, told, p.TrafficAbout, seen)
			}
		}
	}
}
