package corpus

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
)

// Names of arrays in expressions. Those of the type in question have a row more than a block,
// and elements more than a vector:
//
//	a, b  any values, infinities and NaN among them      x, y  values of one magnitude
//	p     positive ones                                  s     a square matrix
//	v     one dimension                                  c     images
//	t     three dimensions                               g, h  factors of a product of several panels
//	r     several tasks of a reduction                   z     stored in chunks
//
// i and j are small integers, w of one dimension; m is of bools.

// written are expressions whose arguments cannot be found by trying, and those that have
// loops or an order of merging of their own.
var written = []string{
	"sum(r)", "sum(r, 0)", "sum(r, 1)", "mean(r)", "mean(r, 0)", "var(r, 0)", "std(r)", "prod(p, 1)", "max(r, 0)", "argmin(r)",
	"sum(z, 0)", "sum(z, 1)", "mean(z)", "var(z)", "cumsum(z, 0)", "sort(z, 0)", "z + transpose(slice(z, \"0:257\"))[:]", "x - mean(x, 0)",
	"matmul(g, h)", "matmul(v, transpose(slice(s, \"0:1\")))", "matmul(z, transpose(z))", "matmul(slice(g, \"0:3\"), h)", "matmul(x, \"int32\")",
	"transpose(z)", "transpose(a)", "slice(a, \"::-2, 1::3\")", "reshape(transpose(s), 1369)", "tanh(sqrt(p)*2 + exp(-p))",
	"arange(0, 20000, 3)", "linspace(0, 1, 20000)", "linspace(3, -1, 77)", "random(7, 20000)", "normal(7, 20000)", "integers(7, -5, 1000, 20000)",
	"beta(7, 2, 3, 500)", "gamma(7, 0.5, 500)", "gamma(7, 2.5, 500)", "binomial(7, 10, 0.3, 500)", "binomial(7, 1000, 0.3, 500)", "poisson(7, 3, 500)",
	"poisson(7, 300, 500)", "geometric(7, 0.2, 500)", "hypergeometric(7, 15, 20, 10, 500)", "logseries(7, 0.6, 500)", "negative_binomial(7, 5, 0.4, 500)",
	"triangular(7, -1, 0, 2, 500)", "vonmises(7, 0.5, 2, 500)", "wald(7, 1, 2, 500)", "zipf(7, 2.5, 500)", "multinomial(7, 20, full(0.25, 4), 50)",
	"multivariate_hypergeometric(7, w & 7, 9, 20)", "permutation(7, 1000)", "permuted(x, 7, 0)", `choice(v, 7, 30, "distinct")`, "choice(v, 7, 30)",
	"unique(i)", "unique_counts(i)", "unique_index(i)", "unique_inverse(i)", "union1d(x, y)", "intersect1d(i, j)", "setdiff1d(i, j)", "setxor1d(i, j)", "mask(x, m)", "argwhere(m)", "nonzero(m, 0)", "flatnonzero(x)",
	"extract(m, x)", "compress(slice(m, \"0, :\"), x, 1)", "isin(x, v)",
	`cp(t, 3, "iterations=3")`, `tucker(t, 3, 3, 3, "iterations=2")`, "hosvd(t, 3, 3, 3)", `randomized_svd(x, 4, 1, 0, "u")`,
	`qr(transpose(x), "q")`, `qr(transpose(x), "r")`, `svd(transpose(x), "u")`, `svd(transpose(x), "vt")`, "svdvals(transpose(x))", "svdvals(s)", "pinv(s)", "lstsq(transpose(x), slice(transpose(y), \":, 0:2\"))",
	`eigh(s + transpose(s), "values")`, `eigh(s + transpose(s), "vectors")`, "eigvalsh(s + transpose(s))", "unique_values(i)", "cholesky(matmul(s, transpose(s)) + 37*eye(37, 37))", "inv(s)", "det(s)", "solve(s, s)", `solve_triangular(s, s, "lower")`,
	`lu(s, "l")`, `lu(s, "u")`, `slogdet(s, "logabsdet")`, "matrix_power(s, 3)", "matrix_rank(s)", "cond(s)", "norm(x)", "norm(x, 1)", "norm(s, 2)",
	"fft(x, 521, 1)", "fft(x, 512, 1)", "fft(x, 360, 1)", "fft(x, 33, 0)", "ifft(x, 500, 1)", "rfft(x, 521, 1)", "rfft(x, 1024, 1)", "irfft(x, 1000, 1)", "hfft(x, 64, 1)", "ihfft(x, 64, 1)", "fft2(s)", "rfft2(s)", "fftn(t)", "fftfreq(100, 0.1)", "rfftfreq(101, 0.1)",
	"conv2d(c, full(0.1, 4, 3, 3, 3))", "conv2d(c, full(0.1, 3, 1, 3, 3), full(0.5, 3), 2, 1, 1, 3)", "max_pool2d(c, 3, 2, 1)", "avg_pool2d(c, 2)", "softmax(x, 0)", "softmax(x, 1)", "layer_norm(v, full(0.5, 65), full(0.1, 65))", "layer_norm(x, full(0.5, 521), full(0.1, 521))",
	`gaussian_filter(s, 2.0, "reflect")`, `gaussian_filter(x, 1.5, "wrap")`, "uniform_filter(s, 5)", "uniform_filter(x, 3, 21)", "median_filter(s, 5)", "median_filter(s, 3)", "minimum_filter(s, 3)", "maximum_filter(x, 3, 41)", "convolve(s, full(0.1, 5, 5))", "convolve(x, full(0.1, 31, 31))", `correlate(s, full(0.1, 3, 3), "constant", 1)`, "downsample(x, 4)", `coarsen(x, "std", 3, 5, "trim")`,
	`rolling(x, "mean", 9, 1)`, `rolling(x, "max", 5, 0)`, `rolling(x, "std", 7, 1)`, `rolling(a, "nanmean", 7, 0, "min_periods=3")`, `rolling(x, "max", 3, 1, "min_periods=2")`, "sliding_window_view(v, 5)",
	`pad(x, 3, 5, "reflect")`, `pad(x, 2, "constant")`, `pad(s, 3, "linear_ramp")`, `pad(s, 3, "mean")`, `pad(s, 3, "wrap")`, "concatenate(x, y, 0)", "concatenate(x, y, 1)", "stack(s, s, 2)", "roll(x, 100, 1)", "tile(s, 1, 2)", "repeat(s, 2, 1)", "take(x, w & 31, 0)", "take_along_axis(x, i, 1)", "block(1, x, y)",
	"sort(x, 1)", "sort(x, 0)", "sort(ravel(x))", "sort(a, 1)", "argsort(x, 1)", "argsort(x, 0)", "topk(x, 5, 1)", "argtopk(x, 5, 0)", "median(x)", "median(x, 0)", "quantile(x, 0.3)", "quantile(x, 0.3, 1)", `quantile(x, 0.3, 0, "inverted_cdf", "weights", p)`, "nanquantile(a, 0.3, 1)", "searchsorted(sort(v, 0), x)", "digitize(x, sort(v, 0))",
	"cumsum(x, 1)", "cumsum(x)", "ewm_mean(a, 0.1, 1)", `ewm_mean(a, 0.1, 1, "adjust=false")`, "cumprod(x, 1)", "nancumsum(a, 0)", "nancumprod(a, 1)", "diff(x, 2, 1)", "gradient(x, 0.5, 1)", `gradient(x, 0.5, 0, "edge_order=2")`,
	"histogram(x, 10)", "histogram(x, arange(0, 3, 0.1))", "histogram2d(x, y, 7, 9)", "histogramdd(slice(x, \":, 0:3\"), 5)", "histogram_bin_edges(x, 10)", "bincount(ravel(i))", "bincount(w & 7, v)", "average(x, p, 0)", "cov(x)", "corrcoef(x)", `cov(x, "columns", "aweights", slice(p, ":, 0"))`, "moment(x, 3, 0)", "ptp(x, 1)",
	`lfilter("0.5, 0.25", "1, -0.5", x, 0)`, `lfilter("0.5, 0.25, 0.25", "1", x, 1)`, `sosfilt("0.5, 0.25, 0, 1, -0.5, 0.125", x, 1)`, `sosfiltfilt("0.5, 0.25, 0, 1, -0.5, 0.125", x, 0, "padlen=2")`,
	`resample_poly(x, 3, 2, 0)`, `stft(x, 1, "nperseg=64")`, `welch(x, 0, "nperseg=9", "detrend=linear")`, `welch(x, 1, "nperseg=32", "average=median")`,
	`groupby(x, i[:], "mean", 1)`, `groupby(x, slice(i, "0, :"), "mean", 1)`, `groupby(x, slice(i, "0, :"), "max", 1)`, `groupby(x, slice(i, "0, :"), "var", 1)`,
	"nansum(a)", "nanmean(a, 0)", "nanvar(a, 1)", "nanmax(a, 0)", "nanargmin(a, 1)", "nanmedian(x, 0)", "nan_to_num(a)",
	`einsum("ij,kj->ik", x, y)`, `einsum("ij,ij->i", x, y)`, `einsum("ijk,jl->ikl", t, slice(s, "0:22"))`, "tensordot(x, y, 1, 1)", "kron(s, full(2.0, 2, 3))", "vdot(x, y)", "inner(x, y)", "outer(v, v)", "vecdot(x, y, 1)", "dot(s, s)", "cross(slice(x, \":, 0:3\"), slice(y, \":, 0:3\"), 1)",
	`quantize(x, "int8")`, `quantize(x, "uint8 affine", 1)`, `quantize(x, "int8", 1, 32)`, `quantize_scale(x, "int8", 1, 32)`, `quantize_zero(x, "uint8 affine")`, "dequantize(quantize(x, \"int8\"), quantize_scale(x, \"int8\"), 0)", `dequantize_fp4(quantize(x, "uint8 affine"), x)`, `quantize_fp4(slice(x, ":, 0:512"), "mxfp4")`, `quantize_fp4(slice(x, ":, 0:512"), "nvfp4 blocks")`, `quantize_fp4_scale(slice(x, ":, 0:512"), "mxfp4")`, `quantize_fp4_scale(slice(x, ":, 0:512"), "nvfp4")`, "quantize_fp4_global(x)",
	`set(x, "0:10, ::2", 0)`, "set(x, m, 1)", "insert(x, 3, 0, 1)", `delete(x, "2:8", 1)`, "where(m, a, b)", "piecewise(x, m, y)", "select(m, x, m, y, 0)", "choose(i & 1, x, y)", "clip(a, 0, 2)", "round(a, 2)", "round(x, -1)",
	`frexp(a, "mantissa")`, `frexp(a, "exponent")`, `modf(a, "fraction")`, "ldexp(x, i)", "nextafter(a, b)", "spacing(a)", "i0(x)", "sinc(x)", "fmod(a, b)", "heaviside(a, b)", "logaddexp(x, y)", "float_power(p, x)", "signbit(a)", "gelu(a)", `gelu(a, "tanh")`, "sigmoid(a)", "silu(a)",
	"unravel_index(i, 64, 64, 0)", "ravel_multi_index(i, j, 64, 64)", "decode_cf(x)", "meshgrid(v, v, 0)", "tril(s)", "triu(s, 5)", "trace(s)", "diag(v)", "diagonal(s)", "tri(40, 50, 1)", "eye(40, 50, 1)", "tril_indices(9, 0, 9, 0)", "triu_indices(9, 0, 9, 1)", "indices(9, 8, 1)",
	"average(x, x, 0)", "nanaverage(a, a, 0)", "hstack(x, y)", "dstack(x, y)", "vstack(x, y)", "conjugate(a)", "full(0.5, 3, 3)", "squeeze(expand_dims(x, 0), 0)", `slice(x, "0:10")`, "ones(64)", "zeros(64)", "empty(3)", "roll(x, 3, 0)", "repeat(x, 2, 0)", `astype(a, "float16")`, "real(a)", "imag(a)",
	"broadcast_to(v, 9, 65)", "reshape(x, 521, 33)", "moveaxis(t, 0, 2)", "swapaxes(t, 0, 1)", "permute_dims(t, 2, 0, 1)", "split(x, 3, 0, 1)", "unstack(x, 0, 3)", "rot90(s)", "rollaxis(t, 2, 0)", "allclose(x, y, 0.1, 0.1)", "isclose(a, b)", "triangular(7, 0, 1, 2, 9)", "cumulative_sum(x, 1)", "cumulative_prod(x, 1)", `ediff1d(v)`, "sort(c, 3)", "at(x, 3, 4)",
	"gcd(i, j)", "lcm(i, j)", `divmod(a, b, "quotient")`, `divmod(a, b, "remainder")`, "packbits(m, 1)", `unpackbits(astype(i, "uint8"), 1)`, "put(x, w & 31, v)", `apply_over_axes(x, "sum", 1, 0)`, "multi_dot(x, transpose(y), x)", `tensorsolve(s, slice(s, "0"))`,
	"expit(a)", "log_expit(a)", "logit(a)", "softplus(a)", "entr(a)", "erfc(a)", "gammaln(a)", "ndtr(a)", "log_ndtr(a)", "xlogy(a, b)", "xlog1py(a, b)", "rel_entr(a, b)", "kl_div(a, b)",
	`eig(s, "values")`, `eig(s, "vectors")`, "eigvals(s)", "tensorinv(s, 1)",
	"pinv(stack(s, s, 0))", "lstsq(stack(s, s, 0), s)", "find_objects(i, 9)", "distance_transform_edt(m)", `map_coordinates(s, full(2.5, 2, 30), "order=3")`, `map_coordinates(x, stack(y*3, x*5, 0), "order=1")`,
}

// elementwise has an expression of each operation of the kernels.
func elementwise() (all []string) {
	for _, row := range kernel.Rows() {
		switch {
		case row.Op == kernel.Where:
			all = append(all, row.Name+"(m, a, b)")
		case row.Op == kernel.LeftShift || row.Op == kernel.RightShift:
			all = append(all, row.Name+"(a, p)")
		case row.Op == kernel.Power:
			all = append(all, row.Name+"(a, b)", row.Name+"(a, p)")
		case row.Arity == 2:
			all = append(all, row.Name+"(a, b)")
		default:
			all = append(all, row.Name+"(a)")
		}
	}
	for _, row := range kernel.Reductions() {
		for _, axes := range []string{"", ", 0", ", 1"} {
			all = append(all, row.Name+"(a"+axes+")", row.Name+"(x"+axes+")")
		}
	}
	for _, d := range types {
		all = append(all, `astype(a, "`+d.String()+`")`)
	}
	return all
}

var call = regexp.MustCompile(`\b[a-z_][a-z0-9_]*\(`)

// expressions has those above that call something, and one of each other function, found by
// trying arguments.
func expressions(t *testing.T) []string {
	t.Helper()
	names := map[string]*graph.Node{}
	for name, a := range arrays {
		d := a.dtype
		if d == 0 {
			d = types[len(types)-4] // float32
		}
		n, err := graph.FromBytes(graph.Site{}, make([]byte, grid.Size(a.shape)*d.Size()), d, a.shape...)
		if err != nil {
			t.Fatal(err)
		}
		names[name] = n
	}
	all := slices.Concat(elementwise(), written)
	called := map[string]bool{}
	for _, e := range all {
		for _, name := range call.FindAllString(e, -1) {
			called[strings.TrimSuffix(name, "(")] = true
		}
	}
	for _, f := range expr.Functions() {
		if called[f.Name] || graphtest.OfLabels(f.Name) {
			continue
		}
		e := example(f.Name, names)
		if e == "" {
			t.Errorf("%s: no arguments were found for %s: write an expression of it", f.Name, f.Usage)
			continue
		}
		all = append(all, e)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// example is a call of a function, "" where none was found.
func example(name string, names map[string]*graph.Node) string {
	texts := []string{""}
	for range 3 {
		var longer []string
		for _, t := range texts {
			for _, a := range []string{"x", "i", "m", "v", "w", "c", "0", "2"} {
				list := strings.TrimPrefix(t+", "+a, ", ")
				if _, err := expr.Parse(name+"("+list+")", names, nil); err == nil {
					return name + "(" + list + ")"
				}
				longer = append(longer, list)
			}
		}
		texts = longer
	}
	return ""
}
