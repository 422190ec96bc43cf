package chart

import (
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// chromiumScript uses the charts of the page that it is in, and posts what it saw.
//
//go:embed testdata/chromium.js
var chromiumScript string

// untrustedScript shows reports as pages do that trust nobody.
//
//go:embed testdata/untrusted.js
var untrustedScript string

// Reports are readable where style sheets, scripts and most attributes are dropped.
func TestUntrustedReportsInChromium(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out without GONBEXT_TEST=full: reports in Chromium")
	}
	var page strings.Builder
	page.WriteString(`<!doctype html><html lang="en"><meta charset=utf-8><title>x</title><script>` + untrustedScript + `</script><body>`)
	runs := cases(t)
	for name, r := range runs {
		page.WriteString(`<template id="` + name + `">` + report(t, Options{}, r).HTML + `</template>`)
	}
	seen := inChromium(t, page.String())
	for _, fault := range seen.Faults {
		t.Error(fault)
	}
	if seen.Charts != len(runs) {
		t.Errorf("%d reports of %d", seen.Charts, len(runs))
	}
}

// TestChartsInChromium uses charts with the library that reports carry: no error may be said,
// and no chart may fall back to its picture.
func TestChartsInChromium(t *testing.T) {
	if !testcases.Full() {
		t.Skip("left out without GONBEXT_TEST=full: charts in Chromium")
	}
	var page strings.Builder
	page.WriteString(`<!doctype html><html lang="en"><meta charset=utf-8><title>x</title><script>` + chromiumScript + `</script><body>`)
	add := func(out Output, err error) {
		if err != nil {
			t.Fatal(err)
		}
		page.WriteString(out.HTML)
	}
	runs := cases(t)
	for i, name := range []string{"done", "planned", "device", "hostile", "one"} {
		add(Report([]*record.Run{runs[name]}, Options{Library: i == 0}))
	}
	cell := cellRecords(t, &record.End{Status: record.Done, Duration: 5 * time.Second, ProcessPeak: 200 * mib})
	add(Report(cell, Options{}))
	add(Report(cell[2:], Options{})) // again, as %report shows it
	add(tiles(t, 12, 30, 64).Output(Options{}))
	add(Compare(runs["done"], runs["over"], [2]string{"first", "second"}, Options{}))
	cards := dataCards()
	for _, name := range slices.Sorted(maps.Keys(cards)) {
		add(Card(cards[name], Options{}))
	}

	seen := inChromium(t, page.String())
	for _, fault := range seen.Faults {
		t.Error(fault)
	}
	if seen.Charts < 25 {
		t.Errorf("%d charts", seen.Charts)
	}
	tooltips := strings.Join(seen.Tooltips, "\n\n")
	for _, bad := range []string{"NaN", "undefined", "Infinity", "[object"} {
		if strings.Contains(tooltips, bad) {
			t.Errorf("%q in a tooltip of %s", bad, tooltips)
		}
	}
	for _, want := range []string{"toString", "chunk", "input", "MiB", " ms"} {
		if !strings.Contains(tooltips, want) {
			t.Errorf("no tooltip says %q: %s", want, tooltips)
		}
	}
	for _, tip := range seen.Tooltips {
		sizes := slices.DeleteFunc(strings.Split(tip, "\n"), func(line string) bool { return !strings.HasSuffix(line, "iB") })
		slices.Sort(sizes)
		if n := len(sizes); len(slices.Compact(sizes)) < n {
			t.Errorf("a tooltip says a line twice: %s", tip)
		}
	}
}

// seen is what a script in a page posted.
type seen struct {
	Faults   []string
	Charts   int
	Tooltips []string
}

// inChromium opens a page whose script posts what it saw.
func inChromium(t *testing.T, page string) (seen seen) {
	t.Helper()
	posted := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, page)
		case "/seen":
			body, _ := io.ReadAll(r.Body)
			posted <- body
		default:
			w.WriteHeader(http.StatusNoContent) // the icon
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	exited := make(chan struct{})
	cmd := exec.CommandContext(ctx, chromium(t), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1100,900", "--user-data-dir="+t.TempDir(), server.URL)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait(); close(exited) }()
	defer func() { cancel(); <-exited }()

	select {
	case body := <-posted:
		if err := json.Unmarshal(body, &seen); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
	case <-exited:
		t.Fatalf("Chromium posted nothing: %s", said.String())
	}
	return seen
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium")
	return ""
}
