package chart

import (
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// The chart grows beside the bar, within a size that does not; a short run has none.
func TestProgressDrawsMemorySoFar(t *testing.T) {
	h := rootsHeader()
	live := NewLive()
	p := &record.Progress{Tasks: []int64{10, 0}, Read: 1e8}
	picture := func(elapsed time.Duration) string {
		t.Helper()
		pictures := svgs(t, Progress(&h, p, elapsed, live, Place{}).HTML)
		if len(pictures) == 0 {
			return ""
		}
		return pictures[0]
	}
	if picture(2*time.Second) != "" {
		t.Error("a chart without samples")
	}
	for i := range 100_000 {
		live.Add(&record.Sample{At: time.Duration(i) * time.Millisecond, Arena: record.Bytes{int64(i%1000) << 18}, Anonymous: 300 * mib})
		if i == 50 && (picture(500*time.Millisecond) != "" || !strings.Contains(picture(2*time.Second), "budget 512 MiB")) {
			t.Error("the chart has to come after a second")
		}
	}
	out := Progress(&h, p, 100*time.Second, live, Place{})
	if n := len(out.HTML); n > 20_000 || !strings.Contains(picture(100*time.Second), "input") || !strings.Contains(out.HTML, `role=progressbar`) {
		t.Errorf("%d bytes: %.2000s", n, out.HTML)
	}
	process := record.Header{Process: true, Budget: 512 * mib}
	if pictures := svgs(t, Progress(&process, p, 2*time.Second, live, Place{}).HTML); len(pictures) != 1 {
		t.Errorf("a cell without runs: %d charts", len(pictures))
	}
	if len(svgs(t, Progress(&h, p, 2*time.Second, nil, Place{}).HTML)) != 0 {
		t.Error("a chart that was not asked for")
	}
}
