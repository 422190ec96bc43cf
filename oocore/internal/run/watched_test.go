package run

import (
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
)

func TestProgressIsToldWhereItChangesAndAtMostFourTimesASecond(t *testing.T) {
	var told []time.Duration
	var seldom throttle
	for at := time.Duration(0); at < 2*time.Second; at += 20 * time.Millisecond {
		e := exec.Progress{Elapsed: at, Computed: int64(at / (10 * time.Millisecond))}
		if at > time.Second { // nothing happens any more
			e.Computed = 100
		}
		if seldom.passes(e) {
			told = append(told, at)
		}
	}
	if len(told) < 3 || len(told) > 5 {
		t.Errorf("told at %v", told)
	}
	for i := range told[1:] {
		if told[i+1]-told[i] < perUpdate {
			t.Errorf("told at %v", told)
		}
	}
}
