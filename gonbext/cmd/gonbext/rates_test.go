package main

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gonbext/gonbext/oocore/record"
)

// rateFile writes a rate card.
func rateFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rates.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRatesPriceRequestsAndBytes(t *testing.T) {
	card, err := readRates(rateFile(t, `# a cloud
currency EUR
GET 0.4 per 1000
PUT 5 per 1000 # and LIST
ranged GET 0.8 per 1000
read 0.09 per GB
written 1 per GiB
worker 3.6 per hour
`))
	if err != nil {
		t.Fatal(err)
	}
	got := card.cost([]record.Traffic{
		{Requests: map[string]int64{"GET": 10, "ranged GET": 100, "PUT": 2, "LIST": 3, "part": 1, "HEAD": 5, "DELETE": 7}, Read: 2e9, Written: 1 << 29},
		{Requests: map[string]int64{"GET": 10}},
	}, 100)
	want := 20*.0004 + 100*.0008 + 6*.005 + 5*.0004 + 2*.09 + .5 + 100*.001
	if got.Currency != "EUR" || math.Abs(got.Amount-want) > 1e-12 {
		t.Errorf("%+v, want %v EUR", got, want)
	}
}

// The rate cards of the documents are such.
func TestRatesOfTheDocumentsAreRead(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "oocore", "OPERATING.md"))
	if err != nil {
		t.Fatal(err)
	}
	cards := 0
	for block := range strings.SplitSeq(string(text), "\n\n") {
		if strings.HasPrefix(block, "    # ") {
			if card, err := readRates(rateFile(t, block)); err != nil || len(card.prices) != 3 {
				t.Errorf("%s: %v, %v", block, card, err)
			}
			cards++
		}
	}
	if cards != 3 {
		t.Errorf("%d rate cards", cards)
	}
}

func TestRatesOfNonsenseAreOneSentence(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "it has no price",
		"# nothing\n":                    "it has no price",
		"GET":                            `line 1: "GET" is not a price`,
		"\nGET cheap per 1000":           `line 2: "cheap" is not an amount`,
		"GET -1 per 1000":                `"-1" is not an amount`,
		"GET NaN per 1000":               `"NaN" is not an amount`,
		"GET 1 per 0":                    `per "0"`,
		"GET 1 per GB":                   "GET has no price per GB",
		"read 1 per 1000":                "read has no price per 1000",
		"FETCH 1 per 1000":               `"FETCH" is no kind of request`,
		"GET 1 per 1000\nGET 2 per 1000": "line 2: GET has a price already",
		strings.Repeat("x", 1<<17):       "token too long",
		"\x00\x01\x02":                   "is not a price",
		`{"GET": 0.0004}`:                "is not a price",
		"<html><body>404 not found</body></html>": "is not a price",
	} {
		_, err := readRates(rateFile(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := readRates("missing.txt"); err == nil {
		t.Error("a missing rate card is no error")
	}
}

// The command's plan counts what a run asks a server for, which counts it too, and prices it.
func TestPlanCountsRequestsAndRunAsksForThem(t *testing.T) {
	dir := t.TempDir()
	served := filepath.Join(dir, "served")
	if err := os.Mkdir(served, 0o700); err != nil {
		t.Fatal(err)
	}
	floats(t, filepath.Join(dir, "x.npy"), "(60, 50)", 3000)
	succeed(t, dir, "convert", "x.npy", "served/x.zarr", "--chunks", "7x50", "--codec", "none")
	var asked atomic.Int64
	files := http.FileServer(http.Dir(served))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	type told struct {
		Requests map[string]int64
		Traffic  []record.Traffic
		Cost     *cost
	}
	get := func(args ...string) (f told) {
		t.Helper()
		out := succeed(t, dir, append([]string{"compute", "x + 1", "x=" + server.URL + "/x.zarr", "-o", "y.npy", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	plan := get("--plan", "--rates", rateFile(t, "GET 1 per 1\n"))
	asked.Store(0)
	run := get()
	n := plan.Requests["ranged GET"]
	if len(plan.Requests) != 1 || n < 9 || run.Requests["ranged GET"] != n || asked.Load() != n {
		t.Errorf("%v are planned, %v were sent, %d came", plan.Requests, run.Requests, asked.Load())
	}
	if plan.Cost == nil || plan.Cost.Amount != float64(n) {
		t.Errorf("the plan of %d requests costs %+v", n, plan.Cost)
	}
	if len(plan.Traffic) != 1 || plan.Traffic[0].Place != server.URL || plan.Traffic[0].Read != run.Traffic[0].Read {
		t.Errorf("%+v is planned, %+v was", plan.Traffic, run.Traffic)
	}
	text := succeed(t, dir, "compute", "x + 1", "x="+server.URL+"/x.zarr", "-o", "z.npy", "--plan", "--rates", rateFile(t, "GET 1 per 1\n"))
	for _, want := range []string{"ranged GET", "cost: ", " USD"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	rejected(t, dir, command(dir, "compute", "x + 1", "x=x.npy", "-o", "z.npy", "--rates", "r.txt"), exitUsage, "--rates is for --plan")
}
