// Package decomp decomposes tensors that do not fit into memory: CP (parallel factors)
// by alternating least squares, and Tucker by HOSVD and HOOI.
//
// Both read the tensor twice an iteration, whatever its number of modes. A product with
// one mode's factor makes a tensor that is smaller by that mode's length over the rank,
// and from it all other modes are brought up to date; a second one serves the mode that
// was left out (a dimension tree of two branches: Phan, Tichavský and Cichocki 2013). No
// Khatri–Rao product is ever formed. The working set is one such smaller tensor, kept in
// memory up to a sixteenth of the budget and 64 MiB, and in a temporary file beyond, and
// what a matrix product takes.
//
// The state of each decomposition is kept in the user's run log, at most every second and
// at the end. The same decomposition of unchanged inputs is then not computed again, and
// one that was killed resumes. oocore.Fresh computes anew. Of Go functions without an
// oocore.Version nothing is kept.
//
// A budget that is too small for one of the runs is an *oocore.MemoryError before the
// first.
//
// A program that imports this package has cp, tucker and hosvd in the expressions of
// oocore.Eval too: tucker(x, 8, 8, 8) is the tensor that the parts stand for, and
// tucker(x, 8, 8, 8, "core") one of those.
package decomp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// internals plan and group the runs of a decomposition.
var internals = door.Get(oocore.Plan{})

// tensor is an array that is read many times over.
type tensor struct {
	ctx      context.Context
	opts     []oocore.Option
	dir      *storage.StagingDir // of temporary files; nil until there is one
	x        *oocore.Array
	shape    []int
	norm     float64       // Frobenius
	given    *oocore.Array // x in floats, which outlives temporary files
	heap     int64         // bytes that Go's heap is kept within between runs
	inMemory int64         // bytes up to which an array between two steps is collected
	gram     int           // the longest mode whose Gram matrix is formed
	solve    int64         // bytes that a matrix whose singular vectors are computed may take
	dry      bool          // runs are planned and not made: numbers are zeros, and not to be computed with
	files    int           // arrays that were put in files, or would be, where dry
	held     int64         // bytes that the package holds between runs
	kept     int64         // bytes that it holds besides until drop
}

// runs are the options of the next run.
func (t *tensor) runs() []oocore.Option {
	return append(t.opts[:len(t.opts):len(t.opts)], internals.Holding(t.held+t.kept))
}

// newTensor brings an array to where it can be read many times: floats in a file
// without chunks, or in memory. Its norm takes a pass.
func newTensor(ctx context.Context, x *oocore.Array, rank func(mode int) int, opts []oocore.Option) (t *tensor, err error) {
	t = &tensor{ctx: ctx, opts: opts, shape: x.Shape(), dry: internals.DryRun(opts)}
	defer func() {
		if err != nil {
			t.done(&err)
		}
	}()
	t.given = floats(x)
	if err := t.share(rank); err != nil {
		return t, err
	}
	if t.x = t.given; t.given.DType() != x.DType() || !stored(x) {
		if t.x, err = t.keep(t.given); err != nil {
			return t, err
		}
		t.held, t.kept = t.held+t.kept, 0
	}
	v, err := t.collect(t.x.Square().Reduce(oocore.ReduceSum, oocore.ReduceOptions{DType: oocore.Float64}))
	if err != nil {
		return t, err
	}
	t.norm = math.Sqrt(v[0])
	switch {
	case t.dry:
	case math.IsNaN(t.norm) || math.IsInf(t.norm, 0):
		return t, errors.New("the tensor has NaN or infinite elements, or overflows: replace them with Where first")
	case t.norm == 0:
		return t, errors.New("all elements of the tensor are zero")
	}
	return t, nil
}

// mostInMemory bounds what is collected between two steps, whatever the budget.
const mostInMemory = 64 << 20

// runOn runs an algorithm on a tensor as one group of runs, which is planned before the first: see
// oocore.internals.Fits.
func runOn[R any](ctx context.Context, title string, x *oocore.Array, rank func(mode int) int, opts []oocore.Option, algorithm func(t *tensor, note func(string, float64)) (R, error)) (out R, err error) {
	runs := func(opts []oocore.Option, note func(string, float64)) (err error) {
		t, err := newTensor(ctx, x, rank, opts)
		if err != nil {
			return err
		}
		defer t.done(&err)
		out, err = algorithm(t, note)
		return err
	}
	opts, err = internals.Fits(opts, func(opts []oocore.Option) error { return runs(opts, func(string, float64) {}) })
	if err == nil {
		err = internals.RunGroup(title, opts, runs)
	}
	return out, err
}

// floats is an array in the type that it is decomposed in.
func floats(x *oocore.Array) *oocore.Array {
	switch x.DType() {
	case oocore.Float32, oocore.Float64:
		return x
	case oocore.Int32, oocore.Uint32, oocore.Int64, oocore.Uint64:
		return x.AsType(oocore.Float64)
	}
	return x.AsType(oocore.Float32)
}

// share divides the budget: what this package holds itself is not in the plans of its
// runs. Factors that take more than half of it, each with its product, its solution and the
// copy that is stored, and matrices of rank by rank, need a budget that is twice as large.
func (t *tensor) share(rank func(mode int) int) error {
	p, err := t.given.Sum().Plan("", t.opts...)
	if err != nil {
		return err
	}
	t.heap = p.Budget / 4 * 3 // what is held is half at most; the rest is what a run keeps of its arena, and the program
	t.inMemory = min(p.Budget/16, mostInMemory)
	t.solve = t.inMemory
	t.gram = min(int(math.Sqrt(float64(p.Budget/48))), 2048) // six of them in float64
	bytes := 0.0
	for m, n := range t.shape {
		r := float64(rank(m))
		bytes += 8 * r * (4*float64(n) + 3*r)
	}
	switch {
	case bytes > 1<<60: // no budget can be given that is enough
		return fmt.Errorf("factors of these ranks take %.3g bytes with what they are solved from: take lower ranks", bytes)
	case bytes > float64(p.Budget)/2:
		return memoryError("a decomposition of these ranks", 2*bytes, p.Budget)
	}
	t.held = int64(bytes)
	return nil
}

// memoryError is a budget that is too small for bytes, which are rounded up to whole MiB.
func memoryError(what string, bytes float64, limit int64) error {
	need := int64(math.Ceil(bytes/(1<<20))) << 20
	return &oocore.MemoryError{Op: what, Need: need, Limit: limit}
}

// stored reports an array that lies in a file as it is.
func stored(x *oocore.Array) bool {
	n, err := door.Node(x)
	return err == nil && n.Kind == graph.Source && n.Stored.Info.Chunks == nil
}

// done takes away what an algorithm kept, and says in err where that cannot be done.
func (t *tensor) done(err *error) {
	if t.dir != nil {
		*err = errors.Join(*err, t.dir.Remove())
	}
}

// keep computes an array once for many readers. It stays until done.
func (t *tensor) keep(a *oocore.Array) (*oocore.Array, error) {
	if a.Bytes() <= t.inMemory {
		defer func() { t.kept += a.Bytes() }()
		if a.DType() == oocore.Float32 {
			return inMemory[float32](t, a)
		}
		return inMemory[float64](t, a)
	}
	t.files++
	if t.dir == nil {
		dir, err := storage.TempStagingDir()
		if err != nil {
			return nil, err
		}
		t.dir = dir
	}
	if disk.InMemory(t.dir.Path) {
		defer func() { t.kept += a.Bytes() }()
	}
	saved, err := a.Save(t.ctx, t.dir.Join(fmt.Sprintf("%d.npy", t.files)), append(t.runs(), oocore.Fresh())...)
	if kept, ok := errors.AsType[*exec.ResumableError](err); ok { // but not in a folder that goes
		err = kept.Err
	}
	return saved, err
}

// inMemory is an array with its elements in memory.
func inMemory[T float32 | float64](t *tensor, a *oocore.Array) (*oocore.Array, error) {
	v, err := oocore.Collect[T](t.ctx, a, t.runs()...)
	if err != nil {
		return nil, err
	}
	return inline(dtype.Bytes(v), a.DType(), a.Shape()), nil
}

// drop removes the file of an array that keep made.
func (t *tensor) drop() error {
	t.kept = 0
	if t.dir == nil {
		return nil
	}
	files, err := filepath.Glob(t.dir.Join("*.npy"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if t.x != nil && !slices.Contains(t.own(), f) {
			err = errors.Join(err, os.Remove(f))
		}
	}
	return err
}

// own are the files of the tensor itself.
func (t *tensor) own() []string {
	if n, err := door.Node(t.x); err == nil && n.Kind == graph.Source {
		return []string{n.Stored.Info.Path}
	}
	return nil
}

// collect is an array's elements in float64.
func (t *tensor) collect(a *oocore.Array) ([]float64, error) {
	return oocore.Collect[float64](t.ctx, a.AsType(oocore.Float64), t.runs()...)
}

// matrix is a matrix of the program's as an array of the tensor's type, its transpose
// where it is wanted.
func (t *tensor) matrix(m *mat.Dense, transpose bool, shape ...int) *oocore.Array {
	rows, cols := m.Dims()
	v := make([]float64, 0, rows*cols)
	switch {
	case t.dry:
		v = v[:rows*cols]
		if transpose {
			rows, cols = cols, rows
		}
	case transpose:
		for j := range cols {
			for i := range rows {
				v = append(v, m.At(i, j))
			}
		}
		rows, cols = cols, rows
	default:
		for i := range rows {
			v = append(v, m.RawRowView(i)...)
		}
	}
	if shape == nil {
		shape = []int{rows, cols}
	}
	return oocore.FromSlice(v, shape...).AsType(t.x.DType())
}

// along is a tensor times the transpose of a matrix along one mode, whose length becomes
// the matrix's columns: one product, in which nothing is moved.
func along(t *tensor, x *oocore.Array, mode int, m *mat.Dense) *oocore.Array {
	shape := x.Shape()
	before, after := 1, 1
	for _, n := range shape[:mode] {
		before *= n
	}
	for _, n := range shape[mode+1:] {
		after *= n
	}
	n := shape[mode]
	_, shape[mode] = m.Dims()
	switch {
	case after == 1:
		return x.Reshape(before, n).MatMul(t.matrix(m, false)).Reshape(shape...)
	case before == 1:
		return t.matrix(m, true).MatMul(x.Reshape(n, after)).Reshape(shape...)
	}
	return t.matrix(m, true).MatMul(x.Reshape(before, n, after)).Reshape(shape...)
}

// branches are the two modes whose products the others are brought up to date from:
// the last two where those make the tensor small enough, since they lie together in
// memory, else the longest.
func branches(shape []int, modes []int, rank func(mode int) int) (p, q int) {
	shrinks := func(m int) float64 { return float64(shape[m]) / float64(rank(m)) }
	order := slices.Clone(modes)
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := min(shrinks(a), 16), min(shrinks(b), 16)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return b - a
	})
	return order[0], order[1]
}

// random is a matrix of uniform numbers in [0, 1).
func random(r *rand.Rand, rows, cols int) *mat.Dense {
	v := make([]float64, rows*cols)
	for i := range v {
		v[i] = r.Float64()
	}
	return mat.NewDense(rows, cols, v)
}

// normal is a matrix of normal numbers.
func normal(t *tensor, r *rand.Rand, rows, cols int) *mat.Dense {
	if t.dry {
		return mat.NewDense(rows, cols, nil)
	}
	v := make([]float64, rows*cols)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return mat.NewDense(rows, cols, v)
}

// checked rejects what cannot be decomposed.
func checked(x *oocore.Array) error {
	if err := x.Err(); err != nil {
		return err
	}
	switch d := x.DType(); {
	case x.Dims() < 2:
		return fmt.Errorf("a tensor has two modes or more, and this has shape %v", x.Shape())
	case x.Size() == 0:
		return fmt.Errorf("shape %v has no elements", x.Shape())
	case d == oocore.Complex64 || d == oocore.Complex128 || d == oocore.Bool:
		return fmt.Errorf("takes real numbers, not %s", d)
	}
	return nil
}
