package remote

import (
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

// Ranges of a product are whole rows of tiles where these take less than a second, and
// fewer tiles where they take longer.
func TestRangesOfAProductEndWithinASecond(t *testing.T) {
	s := &size.Stage{Stage: &plan.Stage{Kind: plan.MatMulStage, Grid: grid.Grid{Shape: []int{200, 200}, Chunks: []int{10, 10}}}, Slots: 2}
	for _, c := range []struct {
		each time.Duration
		want int
	}{{10 * time.Millisecond, 20}, {100 * time.Millisecond, 10}, {3 * time.Second, 1}} {
		r := newRanges(s, 3, exec.Tasks{{First: 0, End: s.Tasks()}})
		if first, _ := r.take(); first.Len() > 2 {
			t.Errorf("the first range, of an unknown time, has %d tiles", first.Len())
		}
		r.took(1, c.each)
		done := 0
		for next, ok := r.take(); ok; next, ok = r.take() {
			if done += next.Len(); next.Len() > c.want {
				t.Errorf("tiles of %v: a range of %d, want at most %d", c.each, next.Len(), c.want)
			}
		}
		if done < s.Tasks()-2 {
			t.Errorf("%d of %d tasks were handed out", done, s.Tasks())
		}
	}
}
