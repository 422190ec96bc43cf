package remote

import (
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
)

const (
	// rangeTime is how long a worker process is to be busy with one range of tasks: much longer
	// than asking for it takes, and much shorter than the stage.
	rangeTime = 150 * time.Millisecond
	// rowTime is how long it is to be busy with a whole row of a product's tiles at most:
	// nothing of a range is done before all of it is.
	rowTime = time.Second
	// maxRange bounds a range, and with it the rows of the record in one answer.
	maxRange = 1024
)

// ranges cuts the tasks of a stage for worker processes, by the time that tasks take.
type ranges struct {
	workers int
	row     int // tiles in a row of a product; 0 for other stages

	mu   sync.Mutex
	left exec.Tasks
	each int           // tasks of the next range, until a time is known
	time time.Duration // of one task of a worker
}

func newRanges(s *size.Stage, workers int, tasks exec.Tasks) *ranges {
	r := &ranges{workers: workers, left: slices.Clone(tasks), each: max(s.Slots/workers, 1)}
	if s.Kind == plan.MatMulStage {
		dims := len(s.Grid.Shape)
		// A range of whole rows of tiles reads its part of the first operand once.
		if rows := s.Tasks() / max(s.Grid.Count(dims-1), 1); rows >= workers {
			r.row = s.Grid.Count(dims - 1)
		}
	}
	return r
}

// take returns the next range.
func (r *ranges) take() (exec.Range, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) == 0 {
		return exec.Range{}, false
	}
	n, row := r.each, 0
	if r.time > 0 {
		n, row = int(rangeTime/r.time), min(r.row, int(rowTime/r.time))
	}
	n = min(n, maxRange, (r.left.Len()+2*r.workers-1)/(2*r.workers))
	n = max(n, 1, row)
	if next := r.left[0]; r.row > 0 {
		if whole := min(next.First+n, next.End) / r.row * r.row; whole > next.First {
			n = whole - next.First
		}
	}
	return r.left.Take(n), true
}

// took notes how long a worker was busy with tasks.
func (r *ranges) took(tasks int, spent time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	each := max(spent/time.Duration(max(tasks, 1)), 1)
	if r.time == 0 {
		r.time = each
	}
	r.time = (r.time + each) / 2
}

// A coordinator and its worker processes exchange lines of JSON: requests on a worker's
// standard input, reports on its standard output. A worker reports once when it is
// ready, and then once for each request; while it is busy, lines between say that it lives. A
// closed standard input ends what it does: it reports what is done of the present request, and
// exits.

// request asks a worker for tasks of its plan, to open another plan, or to leave the one
// that it has.
type request struct {
	Stage int         `json:"stage"`
	Tasks exec.Range  `json:"tasks"`
	Open  *assignment `json:"open,omitempty"`
	Leave bool        `json:"leave,omitempty"`
}

// assignment is a plan that a worker serves, with its budget of memory and so many tasks
// that compute at once.
type assignment struct {
	Plan    string `json:"plan"`
	Budget  int64  `json:"budget"`
	Workers int    `json:"workers"`
}

// lines writes and reads messages.
type lines struct {
	*json.Encoder
	*json.Decoder
}

func newLines(r io.Reader, w io.Writer) lines {
	l := lines{json.NewEncoder(w), json.NewDecoder(r)}
	l.DisallowUnknownFields()
	return l
}
