package run

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Job is a plan on its way through the layers, which add to it what the inner ones need.
type Job struct {
	Site  graph.Site
	Roots []*graph.Node // of the plan's outputs
	Plan  *size.Plan

	limits   machine.Limits
	pool     *budget.Pool
	share    budget.Share
	overhead int64 // of the run; in a pool the share has that of the process
	env      exec.Env
	allocate func(n int) []byte // for what is returned; nil where it is saved

	print     plan.Fingerprint                                                             // the zero Fingerprint where versions are not known
	functions string                                                                       // stands for the Go functions that take part
	inputs    map[int]storage.Version                                                      // before they were read
	read      []string                                                                     // versions of files that Go functions read
	reads     []string                                                                     // their paths
	infos     map[string]store.Info                                                        // of outputs in object stores whose version was read, by their places
	earlier   *resultcache.Entry                                                           // of what is in the output's place, where only the inputs were others, or shorter; nil elsewhere
	receipt   func(ctx context.Context, e *resultcache.Entry) (rest func(io.Writer) error) // completes the output's entry; nil for a run without traces
	repair    func(ctx context.Context) error                                              // begins with what is not damaged; nil for what is no repair
	reason    string                                                                       // why what was saved before is not used
	folder    error                                                                        // why it is not known where the staging folders are
	elsewhere bool                                                                         // the tasks run in processes that outlive this one

	describe []func(*record.Header) // what layers add to the record's header
	predict  func(*record.Header)   // adds what workers of a cluster are asked for; nil where there are none
	create   func(dir string, h record.Header) (*record.Writer, error)
	begin    func() *record.Writer // begins the record; nil where there is none
}

// Runner runs a job.
type Runner func(ctx context.Context, j *Job) (Result, error)

// Layer adds something to what a Runner does.
type Layer func(next Runner) Runner

// Result is what a Runner did.
type Result struct {
	End       *record.End    // nil where nothing ran, and nothing is said of it
	Header    *record.Header // of a plan only; nil: that of the run
	Run       string         // the name of the record; "" for none
	Foreseen  []store.Info   // what the outputs would be; nil where they are made
	recorded  bool           // the record is whole
	attempted bool           // the plan was executed, and its checkpoint is closed
}

// compute executes the plan.
func compute(ctx context.Context, j *Job) (Result, error) {
	slog.DebugContext(ctx, "gonbext: run", "title", j.Plan.Title, "output", j.Plan.Arrays[j.Plan.Output].Path,
		"budget", j.Plan.Budget, "predicted", j.Plan.Peak.Host(), "stages", len(j.Plan.Stages), "chunks", j.Plan.Tasks())
	if j.allocate != nil {
		j.env.Into = j.allocate(grid.Size(j.Roots[0].Shape))
	}
	if j.begin != nil {
		j.env.Record = j.begin()
	}
	end, err := exec.Run(ctx, j.Plan, j.env)
	if errors.Is(err, exec.ErrLeft) { // it continues in other processes, which record it
		return Result{attempted: true}, err
	}
	return Result{End: &end, Run: j.env.Record.Run(), recorded: true, attempted: true}, err
}

// onCheck adds what is checked before outputs are put in their places: what was added last is checked first.
func (j *Job) onCheck(f func(context.Context) error) {
	before := j.env.Check
	j.env.Check = func(ctx context.Context) error {
		err := f(ctx)
		if err == nil && before != nil {
			err = before(ctx)
		}
		return err
	}
}

// onCommitted adds what is called for an output that is in its place: see exec.Env.
func (j *Job) onCommitted(f func(ctx context.Context, output int, earlier bool)) {
	before := j.env.Committed
	j.env.Committed = func(ctx context.Context, output int, earlier bool) {
		if before != nil {
			before(ctx, output, earlier)
		}
		f(ctx, output, earlier)
	}
}

// appends reports a job that appends to a stored array.
func (j *Job) appends() bool { return j.Plan.Arrays[j.Plan.Output].Grow }

// output is the path of the array, or of the collection, that the run is named after.
func (j *Job) output() string { return j.Plan.WholePath(j.Plan.Output) }

// storedInfos are the arrays in which the outputs are then, without what only their files tell: all of an
// array where the output is a region of it, or is appended.
func (j *Job) storedInfos() (all []store.Info) {
	for i := range j.Plan.Outputs() {
		a := &j.Plan.Arrays[i]
		path, m := j.stored(i)
		all = append(all, store.Info{Path: path, Shape: m.Shape, DType: m.DType, Chunks: a.Layout.Chunks(), Work: a.Layout.Work})
	}
	return all
}

// stored returns the path of the array in which an output is then, and that array's shape and type.
func (j *Job) stored(output int) (path string, m store.Meta) {
	a := &j.Plan.Arrays[output]
	m = store.Meta{Shape: a.Shape, DType: a.DType}
	if a.Whole != nil {
		m.Shape = a.Whole
	}
	return storage.Stored(a.Path, m), m
}
