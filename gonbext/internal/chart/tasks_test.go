package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// What is placed at one moment does not overlap, and nothing lies higher than it has to.
func TestBandsLieAboveEachOther(t *testing.T) {
	bands := []band{{from: 0, to: 10, bytes: 4}, {from: 1, to: 5, bytes: 2}, {from: 2, to: 12, bytes: 3}, {from: 5, to: 8, bytes: 1}, {from: 6, to: 9, bytes: 2}, {from: 12, to: 13, bytes: 5}}
	at, top := addresses(bands)
	if want := []int64{0, 4, 6, 4, 9, 0}; !slices.Equal(at, want) || top != 11 {
		t.Errorf("they lie at %v up to %d, want %v", at, top, want)
	}
}

// However many tasks and slots a run has, its bands are few, and each task is in one or counted.
func TestBandsAreFew(t *testing.T) {
	for _, slots := range []int{1, 6, 500} {
		h := record.Header{Title: "x", Stages: []record.Stage{{Name: "x", Kind: "map", Shape: []int{20_000}, Chunks: []int{1}, Tasks: 20_000, Slots: slots}}}
		w, err := record.Create(t.TempDir(), h)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20_000 {
			w.Task(&record.Task{Slot: uint16(i % slots), Chunk: int64(i), Start: time.Duration(i) * time.Millisecond, Duration: time.Millisecond, Reserved: record.Bytes{1 << 20}})
		}
		w.End(record.End{Status: record.Done, Duration: 20 * time.Second})
		s := summarize(open(t, w.Path()), 1)
		n := s.bandsLeft
		for _, b := range s.bands {
			n += b.n
		}
		if len(s.bands) > 2*maxBands || n != 20_000 || slots < 100 && s.bandsLeft > 0 {
			t.Errorf("%d slots: %d bands of %d tasks, %d are left out", slots, len(s.bands), n, s.bandsLeft)
		}
		if f := tasksFigure(s); len(f.Picture) > 12_000 || slots > 100 != strings.Contains(f.Caption, "tasks more nothing is drawn") {
			t.Errorf("%d slots: a picture of %d bytes, %q", slots, len(f.Picture), f.Caption)
		}
	}
}

// The flame view has the calls that lead to an allocation, from the cell's outermost line in, each with its share of what
// the line holds, and the runs that only show something by what they show.
func TestFlameViewHasStacksOfCalls(t *testing.T) {
	all := cellRecords(t, &record.End{Status: record.Done, Duration: 5 * time.Second, ProcessPeak: 200 * mib})
	shown := all[1].Header
	shown.Shown, shown.Output = "Hist", ""
	var sums []*summary
	for _, r := range append(all, made(t, shown, math.MaxInt, doneEnd())) {
		sums = append(sums, summarize(r, 3))
	}
	line := newTimeline(sums)
	held := map[string]int64{}
	last := len(line.samples) - 1
	for _, l := range line.flame {
		held[strings.Join(l.Path, " > ")] = l.at(last)
		if strings.Contains(strings.Join(l.Path, " > "), "Hist") {
			held["Hist"]++
		}
	}
	outer, inner := held["line 2 load() > line 4 kept = append(kept, x) > runtime.growslice"], held["line 4 kept = append(kept, x) > json.Unmarshal"]
	if inner == 0 || math.Abs(float64(outer)/float64(inner)-3) > 0.05 || held["Hist"] == 0 {
		t.Errorf("held are %v", held)
	}
}
