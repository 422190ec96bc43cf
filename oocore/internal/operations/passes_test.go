package main

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npy" // inputs and outputs of plans
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/store"
)

// planned has expressions of operations whose rows have no example, or one of another case than the
// first. Where the page tells cases apart, what is before the colon is in the column of passes; else
// the column is a number of passes.
const planned = `
full(0.5, 20000, 5000); random(1, 20000, 5000); fftfreq(100000000, 1); rfftfreq(100000000, 1); atleast_1d(x); atleast_2d(x); atleast_3d(x); broadcast_to(x, 2, 20000, 5000)
clip(x, 0, 1); nan_to_num(x, 0, 1, 2); isclose(x, y); round(x, 2); nextafter(x, y); spacing(x); signbit(x); logaddexp(x, y); expand_dims(x, 0); fliplr(x); flipud(x); transpose(x)
matrix_transpose(x); moveaxis(x, 0, 1); rollaxis(x, 1, 0); indices(20000, 5000, 0); ravel(x); reshape(x, 5000, 20000); split(x, 2, 0, 0); unstack(x, 0, 0); set(x, "0:100", 1)
diag(x); outer(slice(x, ":, 0"), slice(y, "0")); ifftshift(x); minimum_filter(x, 3); convolve(x, full(1.0, 3, 3)); correlate(x, full(1.0, 3, 3)); relu(x); gelu(x); sigmoid(x)
silu(x); resample_poly(x, 2, 3); avg_pool2d(c, 2); max_pool2d(c, 2); pad(x, 1); take(x, arange(0, 20000, 1), 0); at(x, arange(0, 20000, 1)); searchsorted(arange(0, 100, 1), x)
digitize(x, arange(0, 100, 1)); take_along_axis(x, i & 15, 1); fabs(x); positive(x); radians(x); degrees(x); sinc(x); isposinf(x); isneginf(x); isreal(z); iscomplex(z); angle(z)
fmod(x, y); float_power(x, y); heaviside(x, y); logaddexp2(x, y); append(x, y, 0); block(1, x, y); insert(x, "3, 5", 0, 0); insert(x, "::2", 0, 0); delete(x, "::2", 0)
select(x > 0, x, y); add(x, zeros_like(x)); multiply(x, ones_like(x)); subtract(x, full_like(x, 2)); ldexp(x, 3); i0(x); gamma(1, 2, 20000, 5000); poisson(1, 4, 20000, 5000)
beta(1, 2, 3, 20000, 5000); triangular(1, 0, 1, 2, 20000, 5000); vonmises(1, 0, 4, 20000, 5000); wald(1, 2, 3, 20000, 5000); geometric(1, 0.5, 20000, 5000)
hypergeometric(1, 9, 9, 4, 20000, 5000); logseries(1, 0.5, 20000, 5000); negative_binomial(1, 3, 0.5, 20000, 5000); zipf(1, 2.5, 20000, 5000)
multinomial(1, 9, full(0.2, 5), 20000, 5000); normal(1, 20000, 5000); integers(1, 0, 9, 20000, 5000); sliding_window_view(x, 3, "axes=1"); lu(m, "u")
groupby(x, arange(0, 20000, 1) & 15, "sum", 0, 16); allclose(x, y); vecdot(x, y); det(m); inv(m); eigvalsh(m); cond(n); matrix_rank(n); solve(m, m); cholesky(m); decode_cf(i)
year(d); month(d); day(d); hour(d); minute(d); second(d); dayofyear(d); dayofweek(d); quarter(d); season(d); coord(with_coord(v, "time", v), "time"); with_coord(x, "time", arange(0, 20000, 1))
sel(with_coord(x, "time", arange(0, 20000, 1)), "time", "0/19999")
sortby(with_coord(x, "time", arange(0, 20000, 1)), "time"); reindex(with_coord(x, "time", arange(0, 20000, 1)), "time", arange(0, 20000, 1)); shift(d, "time", 3)
idxmax(with_coord(x, "time", arange(0, 20000, 1)), "time"); idxmin(with_coord(x, "time", arange(0, 20000, 1)), "time")
rotate(x, 30, "order=1"); topk(x, 10, 1); argtopk(x, 10, 1); stft(x, 0); stft(x, 1); fft(x, 0, 1); ifft(x, 0, 1); rfft(x, 0, 1); irfft(z, 0, 1); hfft(z, 0, 1); ihfft(x, 0, 1); nanvar(x, 0)
1 over the diagonal: trace(x)
1 for the range where that is not given: histogram_bin_edges(x, 10)
1: histogram(x, 10, 0, 1); histogram2d(x, y, 10, 10, 0, 1, 0, 1); histogramdd(p, 10, 10, 10, 0, 1, 0, 1, 0, 1); histogramdd(h, 10, 10, 10, 0, 1, 0, 1, 0, 1)
1, and 1 before it for the range where that is not given: histogram(x, 10); histogram2d(x, y, 10, 10); histogramdd(h, 10, 10, 10)
1 that counts: unique(i); unique_counts(i); unique_index(i)
; then as searchsorted: unique_inverse(i)
1 to count when it is called; then none of its own: argwhere(x > 0); compress(slice(y, ":, 0") > 0, x, 0); extract(x > 0, x); flatnonzero(x); mask(x, x > 0); nonzero(x, 0)
1 read and 1 written for each axis: fftn(c, 2, 3); ifftn(c, 2, 3); rfftn(c, 2, 3); irfftn(c, 2, 3); distance_transform_edt(x > 0.5)
1 and one for each iteration (2): randomized_svd(x, 8, 2, 0, "s")
1 over b, and 1 over a for each 12 MiB of b's columns: solve_triangular(slice(x, ":5000"), slice(y, ":5000, :100"))
3 that read: interpolate_na(x, 0)
2 before it: zscore(x, 0)
none of its own: quantize_fp4(c, "mxfp4"); quantize_fp4_scale(c, "mxfp4")
2 of "nvfp4": quantize_fp4(c, "nvfp4"); quantize_fp4_scale(c, "nvfp4")
1 over y: polyfit(arange(0, 20000, 1), x, 2)
1: welch(x, 0); welch(x, 1); apply_over_axes(x, "sum", 1); affine_transform(x, 0.5, 0.1, -0.1, 0.5, "order=1")
2 read, 1 written: pinv(n); welch(x, 0, "average=median")
1 over the places: map_coordinates(x, stack(indices(20000, 5000, 0) * 0.5, indices(20000, 5000, 1) * 0.5, 0), "order=1")
1 over both: lstsq(n, slice(n, ":, 0:3"))
"r": 1: qr(n, "r")
"q": 2 read, 1 written: qr(n, "q")
"s" and "vt": 1: svd(n, "s"); svd(n, "vt")
"u": 2 read, 1 written: svd(n, "u")
1 of lines up to 16 MiB: sort(x, 1); argsort(x, 1); partition(x, 9, 1); argpartition(x, 9, 1)
2 read, 2 written: sort(v, 0); argsort(v, 0); partition(v, 9, 0); argpartition(v, 9, 0)
1 of lines up to 16 MiB that lie together: quantile(x, 0.1, 1, "inverted_cdf", "weights", y); median(x, 1); nanmedian(x, 1); percentile(x, 10, 1); nanpercentile(x, 10, 1); quantile(x, 0.1, 1); nanquantile(x, 0.1, 1)
2 that read: cumsum(x, 0); cumprod(x, 0); cumulative_sum(x, 0); cumulative_prod(x, 0); nancumsum(x, 0); nancumprod(x, 0); maximum_accumulate(x, 0); minimum_accumulate(x, 0); ffill(x, 0); bfill(x, 0); ewm_mean(x, 0.1, 0); ewm_mean(x, 0.1, 0, "adjust=false"); unwrap(x, 0); lfilter("1", "1, -0.5", x, 0); sosfilt("1, 0, 0, 1, -0.5, 0", x, 0)
2 that read and 1 that writes there, and 2 that read back: sosfiltfilt("1, 0, 0, 1, -0.5, 0", x, 0)
1 where lines are short: cumsum(x, 1); maximum_accumulate(x, 1); ffill(x, 1)
1 of rows up to 4 MiB with their results: layer_norm(x); softmax(x, 1)
3 along other axes: softmax(x, 0)
`

// alone are passes that do not depend on anything.
var alone = regexp.MustCompile(`^(none of its own|\d+( read, \d+ written)?(, shared with others along the same axes|: the .* first)?)$`)

// others are operations whose passes depend on a budget or on what others take, or that
// compute when they are called, and why no number stands for them here.
var others = []string{"as ", "of matmul", "each operand once", "when it is called", "those of sort over the list"}

// What the column of passes says is what the plans of operations read and write, of files
// and of temporary arrays as large as they.
func TestPassesAreThoseOfPlans(t *testing.T) {
	docs := map[string]*op.Operation{}
	for _, f := range expr.Functions() {
		docs[f.Name] = f
	}
	tested := map[string]bool{}
	check := func(clause, expression string) {
		name, _, _ := strings.Cut(expression, "(")
		for _, called := range regexp.MustCompile(`\w+_like`).FindAllString(expression, -1) {
			tested[called] = true // of no file, and so with what reads it
		}
		tested[name] = true
		if clause == "" {
			clause = docs[name].Passes
		}
		if !strings.Contains(docs[name].Passes, clause) {
			t.Errorf("the passes of %s are %q, and not %q", name, docs[name].Passes, clause)
		}
		reads, writes, files := passes(t, expression)
		wantReads, wantWrites := claimed(t, clause)
		if files == 0 {
			wantReads = 0
		}
		if reads != wantReads || wantWrites >= 0 && writes != wantWrites {
			t.Errorf("%s: %q, but its plan reads %d times and writes %d times", expression, clause, reads, writes)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(planned), "\n") {
		m := regexp.MustCompile(`^(?:(.*?): )?(\w+\(.*)$`).FindStringSubmatch(line)
		for _, expression := range strings.Split(m[2], "; ") {
			check(m[1], expression)
		}
	}
	for _, row := range kernel.Rows() {
		check("none of its own", elementwise(row.Op))
	}
	tested["near"] = true // no array, but what sel is told
	for _, f := range expr.Functions() {
		if example, _, _ := strings.Cut(f.Examples, "; "); f.Alias == "" && !tested[f.Name] && example != "" && alone.MatchString(f.Passes) {
			check("", example)
		}
		other := slices.ContainsFunc(others, func(clause string) bool { return strings.Contains(f.Passes, clause) })
		if f.Alias == "" && !tested[f.Name] && !other {
			t.Errorf("no plan of %s is compared with its passes, %q: add an expression of it to planned", f.Name, f.Passes)
		}
	}
}

// elementwise is an expression of an operation.
func elementwise(op kernel.Op) string {
	args := []string{"x", "y", "y"}
	switch {
	case op == kernel.Where:
		args[0] = "x > 0"
	case op.Row().Family == kernel.Bits:
		args = []string{"i", "i"}
	case op.Row().Family == kernel.Part:
		args[0] = "z"
	}
	return op.String() + "(" + strings.Join(args[:op.Arity()], ", ") + ")"
}

// sums are clauses that say no single number.
var sums = map[string][2]int{
	"1 to count when it is called; then none of its own":        {2, -1},
	"1, and 1 before it for the range where that is not given":  {2, -1},
	"1 read and 1 written for each axis":                        {2, 2}, // of two
	"2 that read and 1 that writes there, and 2 that read back": {4, 1},
	"1 and one for each iteration (2)":                          {3, -1},
	"; then as searchsorted":                                    {2, -1}, // one before, that counts
}

// claimed is what a clause of the column says; -1 written where it does not say.
func claimed(t *testing.T, clause string) (reads, writes int) {
	if n, ok := sums[clause]; ok {
		return n[0], n[1]
	}
	if strings.HasPrefix(clause, "none of its own") {
		return 1, 0 // by what reads the result
	}
	m := regexp.MustCompile(`(?:^|: )(\d+)(?: read, (\d+) written)?`).FindStringSubmatch(clause)
	if m == nil {
		t.Fatalf("%q says no number", clause)
	}
	reads, _ = strconv.Atoi(m[1])
	writes, _ = strconv.Atoi(cmp.Or(m[2], "-1"))
	return reads, writes
}

// asker gives small numbers for what an expression needs to know while it is built, and
// keeps the expressions of them.
type asker struct {
	expr.Host
	asked []*graph.Node
}

func (a *asker) Decompose(op.Decomposition) (*op.Decomposed, error) {
	return nil, errors.New("nothing is decomposed here")
}

func (a *asker) Labels(n *graph.Node) (any, error) {
	labels := make([]int64, n.Shape[0])
	for i := range labels {
		labels[i] = int64(i)
	}
	return labels, nil
}

// dates are the details of the array of dates.
var dates = map[string]store.Details{"d": {Dims: []string{"time", "x"}, Attributes: []byte(`{"units": "hours since 2000-01-01"}`)}}

func (a *asker) Integers(_ string, n *graph.Node) ([]int64, error) {
	a.asked = append(a.asked, n)
	return slices.Repeat([]int64{10}, grid.Size(n.Shape)), nil
}

// passes plans the sum of an expression, which stands for what reads its result. It counts
// how many times the plan reads the expression's inputs, each of them, and how often it
// writes arrays of their size and reads those before the sum does. files is the number of
// stored inputs.
func passes(t *testing.T, expression string) (reads, writes, files int) {
	t.Helper()
	names := map[string]*graph.Node{}
	for name, in := range map[string]struct {
		t     dtype.Type
		shape []int
	}{"x": {dtype.Float32, []int{20_000, 5000}}, "y": {dtype.Float32, []int{20_000, 5000}}, "s": {dtype.Float32, []int{10_000, 10_000}}, "t": {dtype.Float32, []int{1000, 1000, 100}}, "j": {dtype.Int32, []int{20_000, 5000}}, "i": {dtype.Int32, []int{20_000, 5000}}, "z": {dtype.Complex64, []int{20_000, 5000}},
		"n": {dtype.Float32, []int{1 << 20, 100}}, "m": {dtype.Float64, []int{100_000, 32, 32}}, "c": {dtype.Float32, []int{50, 8, 512, 512}}, "v": {dtype.Int32, []int{1 << 27}}, "p": {dtype.Float32, []int{1 << 24, 3}}, "h": {dtype.Float64, []int{1 << 27, 3}},
		"d": {dtype.Int64, []int{20_000, 5000}}} {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expression, "")) {
			continue
		}
		n, err := graph.Open(graph.Site{}, store.Info{Path: name + ".npy", Format: "npy", Shape: in.shape, DType: in.t, Details: dates[name]}, name)
		if err != nil {
			t.Fatal(err)
		}
		names[name] = n
	}
	host := &asker{}
	root, err := expr.Parse("sum("+expression+")", names, host)
	if err != nil {
		t.Errorf("%s: %v", expression, err)
		return 0, 0, 0
	}
	size := 0
	for _, n := range names {
		size = max(size, grid.Size(n.Shape))
	}
	for _, n := range append(host.asked, root) {
		p, err := compile.New(n, compile.Target{Path: "out.npy"})
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		r, w := traffic(p, size)
		reads, writes = reads+r, writes+w
	}
	return reads, writes, len(names)
}

// seen is the number of an array's elements that a load reads.
func seen(l *plan.Load) int {
	n := 1
	for _, a := range l.View.Axis {
		if a >= 0 {
			n *= l.View.Shape[a]
		}
	}
	return n
}

// traffic counts how many times a plan reads the file that it reads most, and writes and
// reads temporary arrays of about size elements, but for what its last stage reads.
func traffic(p *plan.Plan, size int) (reads, writes int) {
	large := func(elements int) bool { return size > 0 && 5*elements > 2*size }
	files := map[int]int{}
	for i, s := range p.Stages {
		read := map[int]bool{}
		for k := range s.Programs {
			for l := range s.Programs[k].Arrays() {
				place := p.Arrays[l.Array].Place
				read[l.Array] = read[l.Array] || place == plan.InFile || i < len(p.Stages)-1 && large(seen(l))
			}
		}
		for a, yes := range read {
			switch {
			case yes && p.Arrays[a].Place == plan.InFile:
				files[a]++
			case yes:
				reads++
			}
		}
		for _, a := range s.Outputs {
			if large(grid.Size(p.Arrays[a].Shape)) {
				writes++
			}
		}
	}
	most := 0
	for _, n := range files {
		most = max(most, n)
	}
	return reads + most, writes
}

// Maker goes on with a number where an operation was rejected, so that a number in place of one
// array or of all makes no builder panic.
func TestBuildersTakeNumbersForArrays(t *testing.T) {
	number, err := graph.Scalar(graph.Site{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	arrays := map[string]*graph.Node{"one": number}
	for names, like := range map[string]struct {
		t     dtype.Type
		shape []int
	}{"xy": {dtype.Float32, []int{20, 5}}, "ij": {dtype.Int32, []int{20, 5}}, "z": {dtype.Complex64, []int{20, 5}}, "s": {dtype.Float32, []int{6, 6}}, "nph": {dtype.Float32, []int{20, 3}},
		"m": {dtype.Float64, []int{3, 4, 4}}, "t": {dtype.Float32, []int{4, 5, 6}}, "c": {dtype.Float32, []int{2, 8, 9, 9}}, "v": {dtype.Int32, []int{12}}} {
		for _, name := range strings.Split(names, "") {
			if arrays[name], err = graph.Full(graph.Site{}, dtype.FromInt(like.t, 1), like.shape...); err != nil {
				t.Fatal(err)
			}
		}
	}
	words := regexp.MustCompile(`\b[xyijznmtcvphs]\b`)
	for _, f := range expr.Functions() {
		for example := range strings.SplitSeq(strings.ReplaceAll(f.Examples+"; "+planned, "\n", "; "), "; ") {
			example = example[max(strings.LastIndex(example, ": ")+1, 0):]
			if example = strings.TrimSpace(example); !strings.HasPrefix(example, f.Name+"(") {
				continue
			}
			_, _ = expr.Parse(words.ReplaceAllString(example, "one"), arrays, &asker{})
			for _, at := range words.FindAllStringIndex(example, -1) {
				_, _ = expr.Parse(example[:at[0]]+"one"+example[at[1]:], arrays, &asker{})
			}
		}
	}
}
