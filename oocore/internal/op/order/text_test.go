package order_test

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/store"
)

// TestTextOfSeveralStagesIsTheOperation has arrays that sorts and selections take more than
// one stage for.
func TestTextOfSeveralStagesIsTheOperation(t *testing.T) {
	names := map[string]*graph.Node{}
	for name, shape := range map[string][]int{"v": {20_000_000}, "x": {50_000, 256}} {
		n, err := graph.Open(graph.Site{}, store.Info{Shape: shape, DType: dtype.Float32}, "")
		if err != nil {
			t.Fatal(err)
		}
		names[name] = n
	}
	for src, want := range map[string]string{
		"sort(v, 0)": "sort(v, 0)", "argsort(-v, 0)": "argsort(-v, 0)", "sort(exp(sort(v, 0)), 0) + 1": "sort(exp(sort(v, 0)), 0) + 1",
		"median(v)": "median(v)", "percentile(v, 30)": "percentile(v, 0.3)", "topk(v, 10, 0)": "topk(v, 10, 0)", "topk(x, 5, 0)": "topk(x, 5, 0)",
		"cumsum(v, 0)": "cumsum(v, 0)", "cumsum(cumsum(v, 0), 0)": "cumsum(cumsum(v, 0), 0)",
	} {
		n, err := expr.Parse(src, names, nil)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if got := n.String(); got != want {
			t.Errorf("%s is %s, want %s", src, got, want)
		}
	}
}
