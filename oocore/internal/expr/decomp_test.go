package expr_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// recorder gives zeros for what is asked of it, and remembers that.
type recorder struct{ asked []op.Decomposition }

func (r *recorder) Labels(*graph.Node) (any, error) { return nil, errors.New("no labels") }

func (r *recorder) Integers(string, *graph.Node) ([]int64, error) { return []int64{1}, nil }

func (r *recorder) Decompose(d op.Decomposition) (*op.Decomposed, error) {
	r.asked = append(r.asked, d)
	n, err := graph.Full(d.Site, dtype.FromFloat(dtype.Float64, 0), 3)
	return &op.Decomposed{Whole: n, Core: n, Weights: n, Errors: n, Factors: []*graph.Node{n, n, n}}, err
}

func TestDecompositions(t *testing.T) {
	for src, want := range map[string][]op.Decomposition{
		"cp(x, 4)": {{Op: "cp", Ranks: []int{4}}},
		`cp(x, 4, "svd", "nonnegative", "iterations=7", "tolerance=1e-3", "seed=9", "weights")`: {{Op: "cp", Ranks: []int{4}, Iterations: 7, Tolerance: 1e-3, Seed: 9, SVD: true, NonNegative: true}},
		`tucker(x, 4, "modes=1", "tolerance=0", "factor=0")`:                                    {{Op: "tucker", Ranks: []int{4}, Modes: []int{1}, Tolerance: -1}},
		`hosvd(x, 4, 5, "modes=1, 0", "core")`:                                                  {{Op: "hosvd", Ranks: []int{4, 5}, Modes: []int{1, 0}}},
		// What is alike runs once, in whatever order it is written.
		`cp(x, 4, "weights") + cp(x, 4, "errors") + cp(x, 4)`:                                 {{Op: "cp", Ranks: []int{4}}},
		`tucker(x, 4, 5, "seed=3", "factor=1") + tucker(x, 4, 5, "core", "seed=3")`:           {{Op: "tucker", Ranks: []int{4, 5}, Seed: 3}},
		`cp(x, 4) + cp(x, 5) + cp(m, 4)`:                                                      {{Op: "cp", Ranks: []int{4}}, {Op: "cp", Ranks: []int{5}}, {Op: "cp", Ranks: []int{4}}},
		`tucker(x, 4, 5) + hosvd(x, 4, 5) + hosvd(x, 4, 5, "seed=1")`:                         {{Op: "tucker", Ranks: []int{4, 5}}, {Op: "hosvd", Ranks: []int{4, 5}}, {Op: "hosvd", Ranks: []int{4, 5}, Seed: 1}},
		`tucker(x, 4, 5, "modes=0,1") + tucker(x, 4, 5, "modes=1,0") + tucker(x, 4, 5)`:       {{Op: "tucker", Ranks: []int{4, 5}, Modes: []int{0, 1}}, {Op: "tucker", Ranks: []int{4, 5}, Modes: []int{1, 0}}, {Op: "tucker", Ranks: []int{4, 5}}},
		`cp(x, 4, "iterations=3") + cp(x, 4, "iterations=4") + cp(x, 4, "tolerance=0.5")`:     {{Op: "cp", Ranks: []int{4}, Iterations: 3}, {Op: "cp", Ranks: []int{4}, Iterations: 4}, {Op: "cp", Ranks: []int{4}, Tolerance: 0.5}},
		`cp(x, 4, "svd") + cp(x, 4, "nonnegative") + cp(x, 4, "nonnegative", "svd", "core2")`: nil,
	} {
		r := &recorder{}
		_, err := expr.Parse(src, names(t), r)
		if want == nil {
			if err == nil {
				t.Errorf("%s: no error", src)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		for i := range r.asked {
			r.asked[i].X, r.asked[i].Site = nil, graph.Site{}
		}
		if !slices.EqualFunc(r.asked, want, func(a, b op.Decomposition) bool {
			same := slices.Equal(a.Ranks, b.Ranks) && slices.Equal(a.Modes, b.Modes) && (a.Modes == nil) == (b.Modes == nil)
			return same && a.Op == b.Op && a.Iterations == b.Iterations && a.Tolerance == b.Tolerance && a.Seed == b.Seed && a.SVD == b.SVD && a.NonNegative == b.NonNegative
		}) {
			t.Errorf("%s asks for %+v, want %+v", src, r.asked, want)
		}
	}
}

// wasteful leaves much behind for Go's collector, and has it run.
type wasteful struct{ recorder }

func (w *wasteful) Decompose(d op.Decomposition) (*op.Decomposed, error) {
	runtime.GC()
	d.X = nil
	return w.recorder.Decompose(d)
}

// No array takes another's place, though nothing else needs it any more.
func TestDecompositionsOfManyArrays(t *testing.T) {
	var terms []string
	for i := range 50 {
		terms = append(terms, fmt.Sprintf(`cp(x*%d, 2, "weights")`, i+2))
	}
	w := &wasteful{}
	if _, err := expr.Parse(strings.Join(terms, " + "), names(t), w); err != nil {
		t.Fatal(err)
	}
	if len(w.asked) != len(terms) {
		t.Errorf("%d of %d decompositions ran", len(w.asked), len(terms))
	}
}

func TestDecompositionsAreRejected(t *testing.T) {
	usages := map[string]string{}
	for _, f := range expr.Functions() {
		usages[f.Name] = f.Usage
	}
	for src, want := range map[string]string{
		"cp(x)":                               "column 1: cp does not take 1 arguments: " + usages["cp"],
		`cp(x, "svd")`:                        "column 7: cp takes ranks before its words: " + usages["cp"],
		`tucker(x, "core")`:                   "column 11: tucker takes ranks before its words: " + usages["tucker"],
		"cp(x, 4, 5)":                         "column 10: cp takes one rank: " + usages["cp"],
		"cp(x, 4.5)":                          "column 7: cp takes an integer here: " + usages["cp"],
		"cp(x, b)":                            "column 7: cp takes an integer here: " + usages["cp"],
		`cp("x", 4)`:                          `column 4: text "x" stands where an array or a number has to`,
		`cp(x, 4, "svd", 3)`:                  "column 17: cp takes only words after words: " + usages["cp"],
		`cp(x, 4, "core")`:                    `column 10: cp does not take "core": ` + usages["cp"],
		`cp(x, 4, "svd=1")`:                   `column 10: cp does not take "svd=1": ` + usages["cp"],
		`cp(x, 4, "iterations")`:              `column 10: cp does not take "iterations": ` + usages["cp"],
		`cp(x, 4, "iterations=0")`:            `column 10: cp does not take "iterations=0": ` + usages["cp"],
		`cp(x, 4, "iterations=2.5")`:          `column 10: cp does not take "iterations=2.5": ` + usages["cp"],
		`cp(x, 4, "svd", "tolerance=low")`:    `column 17: cp does not take "tolerance=low": ` + usages["cp"],
		`cp(x, 4, "tolerance=nan")`:           `column 10: cp does not take "tolerance=nan": ` + usages["cp"],
		`cp(x, 4, "seed=-1")`:                 `column 10: cp does not take "seed=-1": ` + usages["cp"],
		`cp(x, 4, "modes=0")`:                 `column 10: cp does not take "modes=0": ` + usages["cp"],
		`tucker(x, 4, 5, "svd")`:              `column 17: tucker does not take "svd": ` + usages["tucker"],
		`tucker(x, 4, 5, "weights")`:          `column 17: tucker does not take "weights": ` + usages["tucker"],
		`tucker(x, 4, "modes=")`:              `column 14: tucker does not take "modes=": ` + usages["tucker"],
		`hosvd(x, 4, 5, "iterations=3")`:      `column 16: hosvd does not take "iterations=3": ` + usages["hosvd"],
		`cp(x, 4, "svd", "svd")`:              `column 17: cp takes "svd" once: ` + usages["cp"],
		`cp(x, 4, "seed=1", "seed=2")`:        `column 20: cp takes "seed=" once: ` + usages["cp"],
		`cp(x, 4, "weights", "errors")`:       `column 21: cp gives one part, and "errors" is a second: ` + usages["cp"],
		`cp(x, 4, "factor=2")`:                "column 10: cp has no factor 2, but 2, counted from 0: " + usages["cp"],
		`cp(x, 4, "factor=-1")`:               `column 10: cp does not take "factor=-1": ` + usages["cp"],
		`tucker(x, 4, "modes=1", "factor=1")`: "column 25: tucker has no factor 1, but 1, counted from 0: " + usages["tucker"],
	} {
		r := &recorder{}
		_, err := expr.Parse(src, names(t), r)
		var typed *expr.Error
		if !errors.As(err, &typed) || err.Error() != "expression, "+want {
			t.Errorf("%s\ngot  %v\nwant %s", src, err, want)
		}
		if len(r.asked) > 0 {
			t.Errorf("%s ran first", src)
		}
	}
	for src, want := range map[string]string{
		"b + cp(x, 4)":   "expression, column 8: cp follows from values, which are not computed here",
		"mask(b, b > 0)": "expression, column 9: the shape of mask follows from values, which are not computed here",
		"hosvd(x, 4, 3)": "expression, column 7: hosvd follows from values, which are not computed here",
	} {
		if _, err := expr.Parse(src, names(t), nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}
