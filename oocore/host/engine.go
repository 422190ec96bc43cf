package host

import (
	"context"
	"io"
	"os"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/codec"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/exec/remote"
	"github.com/gonbext/gonbext/oocore/internal/format/gguf"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan/bill"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/rates"
	"github.com/gonbext/gonbext/oocore/internal/requests"
	"github.com/gonbext/gonbext/oocore/internal/simd"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// A plan as hosts compare it with others, and a stage of it.
type (
	Plan  = size.Plan
	Stage = size.Stage
)

// Sized returns the plan that an oocore.Plan shows.
func Sized(p *oocore.Plan) *Plan {
	if p == nil {
		return nil
	}
	return door.PlanOf(p)
}

// Predict says in a plan's header how long its stages and the run will take on this
// machine. Where no run has told, and of plans that wait for a network, it leaves the times
// out.
func Predict(h *record.Header) {
	if h != nil {
		rates.Predict(h, machine.Read())
	}
}

// Traffic returns what a plan asks object stores and web servers for, and why that may be somewhat more or less.
func Traffic(p *Plan) (all []record.Traffic, about string) {
	if p == nil {
		return nil, ""
	}
	return bill.Of(p)
}

// CountRequests returns a context whose requests to object stores and web servers are counted, and a function that returns the counts.
func CountRequests(ctx context.Context) (counting context.Context, asked func() []record.Traffic) {
	counting, tally := requests.Counting(ctx)
	return counting, tally.Sum
}

// Site is a line of the user's program.
type Site = graph.Site

// Caller returns the innermost line of the user's own program on the stack: see Site.
func Caller() Site { return graph.Caller() }

// Relocate sets how the lines of a program that was made of a user's text are named as he
// knows them.
func Relocate(f func(Site) Site) { graph.Relocate(f) }

// ResumableError says that what was computed is kept, and that the same run goes on with it.
type ResumableError = exec.ResumableError

// Tasks are the tasks of a stage from First up to End, which is not among them.
type Tasks = exec.Range

// Serve runs tasks of a plan that another process coordinates: a line of JSON for each range
// of tasks comes from in, and its report goes to out. It returns when in ends.
func Serve(ctx context.Context, plan string, budget int64, workers int, in io.Reader, out io.Writer) error {
	if in == nil || out == nil {
		return os.ErrInvalid
	}
	return remote.Serve(ctx, plan, budget, workers, in, out)
}

// Worker runs ranges of tasks of a plan in a file.
type Worker = exec.Worker

// NewWorker returns a worker within a budget of bytes, which computes workers tasks at once.
func NewWorker(plan string, budget int64, workers int) (*Worker, error) {
	return exec.NewWorker(plan, budget, workers)
}

// CheckCodec returns an error that names what may be given where the text is no codec.
func CheckCodec(text string) error {
	if _, ok := storage.TypesOf("x.gguf", text, nil); ok {
		return nil
	}
	_, err := codec.Parse(text, []int{1}, dtype.Uint8)
	return err
}

// GGUFTypes returns the types and the bytes that tensors have in a GGUF file which is written with a codec such as q4_k_m; ""
// is the type of one that stays as it is.
func GGUFTypes(codec string, names []string, as []store.Meta) (types []string, bytes []int64, err error) {
	return gguf.Sizes(codec, names, as)
}

// Remote reports whether a path names an object in an object store, and no file.
func Remote(path string) bool { return !blob.PlaceOf(path).Files }

// Instructions names the widest instructions of the processor that are used: "avx512", "avx2", or "go" for
// none of these. GONBEXT_CPU in the environment lowers them to those that it names. Where it names no such
// instructions, or wider ones than the processor has, that is an error, which every run returns too.
func Instructions() (level string, err error) { return kernel.Level(), simd.Err() }
