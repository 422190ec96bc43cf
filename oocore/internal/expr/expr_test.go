package expr_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/store"
)

// names are x (100, 40) float32, b (40,) float32, i (40,) int8, m (40, 3) float64.
func names(t testing.TB) map[string]*graph.Node {
	t.Helper()
	all := map[string]*graph.Node{}
	for name, info := range map[string]store.Info{
		"x": {Shape: []int{100, 40}, DType: dtype.Float32}, "b": {Shape: []int{40}, DType: dtype.Float32},
		"i": {Shape: []int{40}, DType: dtype.Int8}, "m": {Shape: []int{40, 3}, DType: dtype.Float64},
		"flags": {Shape: []int{40}, DType: dtype.Bool},
	} {
		n, err := graph.Open(graph.Site{}, info, "")
		if err != nil {
			t.Fatal(err)
		}
		all[name] = n
	}
	return all
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		src, text string
		shape     []int
		dtype     dtype.Type
	}{
		{"tanh(sqrt(b)*2 + exp(-b))", "tanh(sqrt(b)*2 + exp(-b))", []int{40}, dtype.Float32},
		{"fmod(x, 3)", "copysign(abs(x)%abs(3), x)", []int{100, 40}, dtype.Float32},
		{"mean(x, 0)", "mean(x, 0)", []int{40}, dtype.Float32},
		{"mean(x, 0, 1)", "mean(x)", []int{}, dtype.Float32},
		{"var(x, 0)", "var(x, 0)", []int{40}, dtype.Float32}, // a word of Go's
		{"sum(i, -1)", "sum(i)", []int{}, dtype.Int64},
		{"matmul(x, m)", "matmul(x, m)", []int{100, 3}, dtype.Float64},
		{`astype(x, "float16")`, `astype(x, "float16")`, []int{100, 40}, dtype.Float16},
		{"std(x)", "std(x)", []int{}, dtype.Float32},
		{"transpose(x, 1, 0)", "x.T", []int{40, 100}, dtype.Float32},
		{"x.T", "x.T", []int{40, 100}, dtype.Float32},
		{`slice(x, "0:10, ::2")`, "x[0:10, 0:39:2]", []int{10, 20}, dtype.Float32},
		{"where(x > 0, x, 0)", "where(x > 0, x, 0)", []int{100, 40}, dtype.Float32},
		{"2*3*i", "6*i", []int{40}, dtype.Int8},
		{"-1", "-1", []int{}, dtype.Int64},
		{"1/4", "0.25", []int{}, dtype.Float64},
		{"i/2", "i/2", []int{40}, dtype.Float64},
		{"i % 3 == 0 || !flags && i < 100", "i%3 == 0 || !flags && i < 100", []int{40}, dtype.Bool},
		{"i & 6 | i ^ 1", "i&6 | i ^ 1", []int{40}, dtype.Int8},
		{"i << 2 >> 1", "i<<2>>1", []int{40}, dtype.Int8},
		{"^i + ~i", "invert(i) + invert(i)", []int{40}, dtype.Int8},
		{"clip(i, -500, 5)", "minimum(maximum(i, -128), 5)", []int{40}, dtype.Int8},
		{"reshape(x, 50, -1)", "x", []int{50, 80}, dtype.Float32},
		{"arange(7)", "arange(7)", []int{7}, dtype.Int64},
		{"arange(1, 2, 0.25)", "arange(1, 2, 0.25)", []int{4}, dtype.Float64},
		{"linspace(0, 1, 5)", "arange(0, 1.25, 0.25)", []int{5}, dtype.Float64},
		{"full(1.5, 2, 3)", "1.5", []int{2, 3}, dtype.Float64},
		{"random(7, 10, 20)", "random(10, 20)", []int{10, 20}, dtype.Float64},
		{"round(b, 2)", "rint(b*100)/100", []int{40}, dtype.Float32},
		{"power(b, 2) + pi", "square(b) + 3.1415927", []int{40}, dtype.Float32},
		{"b * 1i", "b*(0+1i)", []int{40}, dtype.Complex64},
		{"isnan(b)\n  && true", "isnan(b) && true", []int{40}, dtype.Bool},
		{"expand_dims(squeeze(mean(x, 0)), 0)", "mean(x, 0)", []int{1, 40}, dtype.Float32},
		{"conj(b) - inf", "b - +Inf", []int{40}, dtype.Float32},
	} {
		n, err := expr.Parse(c.src, names(t), nil)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		if n.String() != c.text || !slices.Equal(n.Shape, c.shape) || n.DType != c.dtype {
			t.Errorf("%s is %s %v %s, want %s %v %s", c.src, n, n.Shape, n.DType, c.text, c.shape, c.dtype)
		}
	}
}

func TestErrorsPointAtTheirPlace(t *testing.T) {
	for src, want := range map[string]string{
		"":                                 "column 1: there is no expression",
		"sqrt(b":                           "column 7: expected ',' or ')'",
		"sqrt(b))":                         "column 8: expected an operator, found ')'",
		"b b":                              "column 3: expected an operator, found b",
		"b +":                              "column 4: expected operand, found the end",
		"sqrtt(b)":                         `column 1: the function "sqrtt" is unknown, did you mean "sqrt"?`,
		"sqrt(bb)":                         `column 6: the name "bb" is unknown, did you mean "b"?`,
		"sqrt(weights)":                    `column 6: the name "weights" is unknown: known are b, flags, i, m, x`,
		"b + sqrt":                         `column 5: sqrt is a function: sqrt(x, "dtype=float32")`,
		"sqrt(b, b)":                       `column 9: sqrt does not take 2 arguments: sqrt(x, "dtype=float32")`,
		"1 + var()":                        `column 5: var does not take 0 arguments: var(x, axes..., where, "ddof=1", "dtype=float32", "keepdims", "axis=()")`,
		"x var x":                          "column 3: expected an operator, found var",
		"mean()":                           `column 1: mean does not take 0 arguments: mean(x, axes..., where, "dtype=float32", "keepdims", "axis=()")`,
		"mean(x, b)":                       `column 9: mean takes an integer here: mean(x, axes..., where, "dtype=float32", "keepdims", "axis=()")`,
		"mean(x, 0.5)":                     `column 9: mean takes an integer here: mean(x, axes..., where, "dtype=float32", "keepdims", "axis=()")`,
		"argmax(b, flags)":                 `column 11: argmax takes no mask: argmax(x, axis, "keepdims")`,
		`unravel_index(i, 3, "F")`:         `column 21: unravel_index takes lengths: unravel_index(x, lengths..., axis, "F")`,
		"nonzero(x, 2)":                    "column 9: the shape of nonzero follows from values, which are not computed here",
		`astype(x, "float17")`:             `column 11: dtype "float17" is unknown: use one of bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64, complex64, complex128, float8_e4m3fn, float8_e5m2`,
		"astype(x, float16)":               `column 11: the name "float16" is unknown: known are b, flags, i, m, x`,
		"astype(x, 'float16')":             `column 11: text stands in double quotes: "float16"`,
		"x // 2":                           "column 3: // is not an operator: write floor_divide(a, b)",
		"x ** 2":                           "column 4: ** is not an operator: write power(a, b)",
		"x @ m":                            "column 3: @ is not an operator: write matmul(a, b)",
		"x[0]":                             `column 2: brackets are written slice(x, "0:100, ::2")`,
		"x[0, 0]":                          `column 2: brackets are written slice(x, "0:100, ::2")`,
		"x[:, ::2]":                        `column 2: brackets are written slice(x, "0:100, ::2")`,
		"sqrt(x)[...]":                     `column 8: brackets are written slice(x, "0:100, ::2")`,
		"x[0:3]":                           `column 2: brackets are written slice(x, "0:100, ::2")`,
		"x.shape":                          "column 3: only .T may follow a point, not .shape: functions take the array as an argument",
		"np.sqrt(x)":                       "column 1: functions are called by name alone: write sqrt(x)",
		"x(3)":                             `column 1: x is an array and cannot be called: a part of it is slice(x, "0:100")`,
		`"text" + x`:                       `column 1: text "text" stands where an array or a number has to`,
		"größe + x":                        `column 1: the name "größe" is unknown: known are b, flags, i, m, x`,
		"/* ü */ x":                        "column 1: /* is not an operator: write floor_divide(a, b)",
		`"ü" + nothing(x)`:                 `column 7: the function "nothing" is unknown`,
		"1/0":                              "column 2: division by zero",
		"9223372036854775807*2":            "column 20: the result is beyond int64",
		"99999999999999999999":             "column 1: 99999999999999999999 is out of range",
		"func() {}":                        "column 1: this is not an expression over arrays",
		"x &^ i":                           "column 3: &^ is not an operator on arrays",
		"random(-1, 3)":                    "column 8: a seed is not negative",
		"mean(x, axis=0)":                  "column 9: arguments are positional: write mean(x, 0)",
		"mean(x, axis=(0, 1)) + 1":         "column 9: arguments are positional: write mean(x, 0, 1)",
		"std(x, ddof=1)":                   `column 8: write std(x, "ddof=1"): std(x, axes..., where, "ddof=1", "dtype=float32", "keepdims", "axis=()")`,
		"sum(x, 0, keepdims=True)":         `column 11: write sum(x, 0, "keepdims"): sum(x, axes..., where, "initial=0", "dtype=float32", "keepdims", "axis=()")`,
		"arange(stop=4)":                   `column 8: arguments are positional: arange(start, stop, step, "dtype=float32")`,
		"x = 3":                            "column 1: = is not an operator: == compares",
		"sum(x, (0, 1))":                   "column 8: axes are written without parentheses: sum(x, 0, 1)",
		"concatenate([b, i])":              "column 13: arrays are written without brackets: concatenate(b, i, 0)",
		"sum([b])":                         "column 5: arrays are written without brackets: sum(b)",
		"x.mean(0)":                        "column 1: functions are called by name alone: write mean(x, 0)",
		"sqr(x)":                           `column 1: the function "sqr" is unknown, did you mean "qr", "sqrt" or "square"?`,
		"amax(x)":                          `column 1: the function "amax" is unknown: write max(x)`,
		"x[x > 3]":                         "column 2: an index of bools is written mask(x, x > 3)",
		"histogram2d(b, b, 5, 0, 1, 0, 1)": `column 19: histogram2d reads the first 2 as bins, one for each coordinate, and the 3 after as ends of ranges, of which there are 4: histogram2d(x, y, xbins, ybins, xlow, xhigh, ylow, yhigh, weights, "density")`,
		"moveaxis(x, 0, 1, 1)":             "column 13: moveaxis takes as many places as axes: moveaxis(x, axes..., places...)",
		"set(x, 1, 1)":                     `column 8: set takes the region as text in double quotes, a mask or an array of indices: set(x, bools or indices or "0:100, ::2", values, axis)`,
		`delete(x, "a", 0)`:                `column 11: delete takes integers here, such as "2, 3": delete(x, index or "1, 4" or "2:8", axis)`,
		`roll(x, "", 0)`:                   `column 9: roll takes a shift: roll(x, shift or "1, 2", axes...)`,
		"norm(x, 1i)":                      `column 9: norm takes a real number or a text here: norm(x, ord, axes..., "keepdims")`,
		`select(flags, "a")`:               `column 15: text "a" stands where an array or a number has to`,
		strings.Repeat("(", 2000) + "x" + strings.Repeat(")", 2000): "column 1001: the expression is nested more than 1000 deep",
	} {
		_, err := expr.Parse(src, names(t), nil)
		var typed *expr.Error
		if !errors.As(err, &typed) || err.Error() != "expression, "+want {
			t.Errorf("%.40s\ngot  %v\nwant %s", src, err, want)
		}
	}
}

// What has an axis out of range says what each argument is.
func TestAxisOutOfRangeNamesTheArguments(t *testing.T) {
	_, err := expr.Parse("roll(x, 1, 2, 0, 1)", names(t), nil)
	var typed *graph.Error
	if !errors.As(err, &typed) || !strings.HasPrefix(err.Error(), `roll: axis 2 is out of bounds for array of dimension 2; the arguments are roll(x, shift or "1, 2", axes...)`) {
		t.Errorf("%v", err)
	}
}

func TestBitwiseOfFloatsNamesThePrecedence(t *testing.T) {
	_, err := expr.Parse("x>0.5 & x<0.7", names(t), nil)
	var typed *graph.Error
	if !errors.As(err, &typed) || !strings.Contains(err.Error(), "& binds tighter than comparisons: conditions are joined as (a > 0.5) && (a < 0.7)") {
		t.Errorf("%v", err)
	}
}

// Ten megabytes of text, and text that is nested, are one error before they are parsed
// into a tree.
func TestLongTextIsRejected(t *testing.T) {
	for src, want := range map[string]string{
		strings.Repeat("x+", 5<<20) + "x":                                 "bytes of text are more than 65536",
		strings.Repeat("(", 10000) + "x" + strings.Repeat(")", 10000):     "is nested more than 1000 deep",
		strings.Repeat("- ", 30000) + "x":                                 "is nested more than 1000 deep",
		strings.Repeat("sqrt(", 10000) + "x" + strings.Repeat(")", 10000): "is nested more than 1000 deep",
		strings.Repeat("x+(", 10000) + "x" + strings.Repeat(")", 10000):   "is nested more than 1000 deep",
		strings.Repeat("x[", 10000) + "x" + strings.Repeat("]", 10000):    "brackets are written",
		strings.Repeat("mean(x, axis=(", 4000):                            "arguments are positional",
	} {
		_, err := expr.Parse(src, names(t), nil)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%.20s: %.300v, want %s", src, err, want)
		}
	}
}

func TestShapesAreNotSyntax(t *testing.T) {
	_, err := expr.Parse("x + m", names(t), nil)
	var typed *graph.Error
	if !errors.As(err, &typed) || !strings.HasPrefix(err.Error(), "add: shapes (100, 40) and (40, 3) do not broadcast together (expr_test.go:") {
		t.Errorf("%v", err)
	}
}

func TestUnusedNames(t *testing.T) {
	if got := expr.Read("mean(x, 0) + x.T").Unused([]string{"y", "x", "mean", "T", "b"}); !slices.Equal(got, []string{"b", "y"}) {
		t.Errorf("unused are %v", got)
	}
}

func TestFunctionsAreListed(t *testing.T) {
	all := expr.Functions()
	for i, f := range all {
		if i > 0 && all[i-1].Name >= f.Name {
			t.Errorf("%s is listed after %s", f.Name, all[i-1].Name)
		}
	}
	for _, name := range []string{"sqrt", "mean", "where", "pow", "arange"} {
		if !slices.ContainsFunc(all, func(f *op.Operation) bool { return f.Name == name }) {
			t.Errorf("%s is not listed", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, src := range []string{
		"tanh(sqrt(b)*2 + exp(-b))", "mean(x, 0, 1)", `slice(x, "0:10, ::2, -1")`, "where(x > 0, x, 0)", "x.T + 1i*2",
		`astype(reshape(transpose(x), 2, -1), "int8")`, "2**3 // 4", "matmul(x, m) % -0.5", "arange(1, 9, 2) << 3 &^ 1", "clip(i, -1e308, nan)",
		"broadcast_to(b, 3, 40) == full(true, 3, 40)", "linspace(0, 1, 9)", "round(i, -2)", "x[1:2]", "((((", "\"", "é", "random(3, 4)...",
		"squeeze(expand_dims(sum(slice(x,\"::-1\"),0),0,1))",
	} {
		f.Add(src)
	}
	all := names(f)
	f.Fuzz(func(t *testing.T, src string) {
		n, err := expr.Parse(src, all, nil)
		var syntax *expr.Error
		var rejected *graph.Error
		switch {
		case err == nil:
			_ = n.String()
		case errors.As(err, &syntax):
			if syntax.Column < 1 || syntax.Column > len([]rune(src))+1 || strings.Contains(syntax.Reason, "\n") {
				t.Errorf("%q: %q", src, err)
			}
		case !errors.As(err, &rejected):
			t.Errorf("%q: %v is no error of this package", src, err)
		}
	})
}
