package plan_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/fft"
	"github.com/gonbext/gonbext/oocore/internal/op/filter"
	"github.com/gonbext/gonbext/oocore/internal/op/linalg"
	"github.com/gonbext/gonbext/oocore/internal/op/nn"
	"github.com/gonbext/gonbext/oocore/internal/op/order"
	"github.com/gonbext/gonbext/oocore/internal/op/random"
	"github.com/gonbext/gonbext/oocore/internal/op/scan"
	"github.com/gonbext/gonbext/oocore/internal/op/shape"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
)

func encoded(t testing.TB, root *graph.Node) []byte {
	t.Helper()
	p, err := compile.New(root, compile.Target{Path: "o.npy"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeSaysWhoseAPlanIs(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "this is not a plan",
		"x":                                    "this is not a plan: invalid character",
		"{}":                                   "this is not a plan",
		"[1, 2]":                               "this is not a plan",
		`{"engine": "gonbext-1", "new": true}`: "the plan was made by gonbext-1, another version of gonbext: plan again",
		`{"engine": "` + plan.FirstRevisions + `"}`: "it has no output",
	} {
		if _, err := plan.Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Whatever values a plan is given in place of its own, decoding and sizing it is an error
// or works, and takes memory by the length of its text. An edit is three bytes: which
// value of the plan, as two, and what becomes of it. With -fuzzminimizetime 1x the time
// goes into new edits, and not into shorter ones.
func FuzzDecode(f *testing.F) {
	t := &testing.T{}
	x, y := graphtest.File(t, "x.npy", dtype.Float32, 2000, 500), graphtest.File(t, "y.npy", dtype.Float32, 500, 300)
	roots := []*graph.Node{
		graphtest.Apply(t, kernel.Subtract, x, graphtest.Fold(t, kernel.Mean, x, 0)),
		graphtest.Node(t)(graph.Product(graph.Site{}, x, y)),
		graphtest.Roll(t, graphtest.Slice(t, x, "::-2")),
		graphtest.Node(t)(shape.Concatenate(graph.Site{}, 0, x, graphtest.Node(t)(graph.Reshape(graph.Site{}, graphtest.Transpose(t, x), 2000, 500)))),
		graphtest.Node(t)(filter.Uniform(graph.Site{}, filter.SizeArgs{X: x, Sizes: []int{3, 5}})),
		graphtest.Node(t)(order.Sort(graph.Site{}, order.SortArgs{X: x, Axis: 0})),
		graphtest.Node(t)(scan.Cumulative(graph.Site{}, "cumsum", false, x, 0)),
		graphtest.Node(t)(linalg.Cholesky(graph.Site{}, op.Unary{X: graphtest.Node(t)(graph.Product(graph.Site{}, graphtest.Transpose(t, x), x))})),
		graphtest.Node(t)(fft.Along(graph.Site{}, fft.RealForward, x, 0, 0, "")),
		// Of these a device computes formulas.
		graphtest.Node(t)(window.Reduce(graph.Site{}, kernel.Var, x, 4, 1, 1)),
		graphtest.Node(t)(filter.MedianOf(graph.Site{}, filter.SizeArgs{X: x, Sizes: []int{3, 1}})),
		graphtest.Node(t)(filter.Correlate(graph.Site{}, filter.WeightArgs{X: x, Weights: graphtest.Slice(t, x, "0:2, 0:3")})),
		graphtest.Node(t)(filter.Downsample(graph.Site{}, op.Lengths{X: x, Lengths: []int{2, 5}})),
		graphtest.Node(t)(scan.GradientAt(graph.Site{}, x, graphtest.Slice(t, x, "0, :"), 1, 2)),
		graphtest.Node(t)(nn.MaxPool2D(graph.Site{}, graphtest.Node(t)(graph.Reshape(graph.Site{}, x, 20, 5, 100, 100)), nn.PoolOptions{Kernel: [2]int{3, 2}, Stride: [2]int{2, 2}, Padding: [2]int{1, 1}})),
		graphtest.Node(t)(nn.Conv2D(graph.Site{}, graphtest.Node(t)(graph.Reshape(graph.Site{}, x, 20, 5, 100, 100)), graphtest.Node(t)(graph.Reshape(graph.Site{}, graphtest.Slice(t, x, "0, 0:90"), 2, 5, 3, 3)), nil, nn.ConvOptions{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1})),
		graphtest.Node(t)(random.Normals(graph.Site{}, dtype.Float64, 7, 2000, 30)),
		graphtest.Node(t)(nn.Softmax(graph.Site{}, op.Numbered{X: x, N: 1})),
	}
	all := device.TypesOf(func(dtype.Type) bool { return true })
	everything := device.Capabilities{Elementwise: map[kernel.Op]device.Types{}, Casts: all, Folds: map[kernel.Reduction]device.Types{}, Products: all}
	for op := range kernel.Op(255) {
		everything.Elementwise[op] = all
	}
	var plans [][]byte
	for _, root := range roots {
		for i := range byte(40) {
			f.Add(uint8(len(plans)), []byte{i, 31 * i, i})
		}
		plans = append(plans, encoded(f, root))
		if _, err := plan.Decode(plans[len(plans)-1]); err != nil {
			f.Errorf("%s: %v", root, err)
		}
	}
	var levels []compile.Output
	for i, level := range graphtest.Levels(t, x, 4) {
		levels = append(levels, compile.Output{Root: level, Target: compile.Target{Path: string(rune('a'+i)) + ".zarr", Chunks: []int{64, 64}}})
	}
	pyramid, err := compile.NewAll(levels...)
	if err != nil {
		f.Fatal(err)
	}
	b, err := pyramid.Encode()
	if err != nil {
		f.Fatal(err)
	}
	for i := range byte(200) {
		f.Add(uint8(len(plans)), []byte{i, 31 * i, i})
	}
	plans = append(plans, b)
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		var tree any
		d := json.NewDecoder(bytes.NewReader(plans[int(which)%len(plans)]))
		d.UseNumber()
		if err := d.Decode(&tree); err != nil {
			t.Fatal(err)
		}
		for edits = edits[:min(len(edits), 30)]; len(edits) >= 3; edits = edits[3:] {
			all := places(tree)
			all[(int(edits[0])<<8|int(edits[1]))%len(all)](edits[2])
		}
		b, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Decode(b)
		if err != nil {
			return
		}
		onDevice := options(64 * graphtest.Mebi)
		onDevice.Device = device.Spec{Name: "card", Memory: 1 << 30, Computes: everything, Rates: device.Rates{Upload: 1e9, Download: 1e9, Arithmetic: 1e12}}
		_, _ = size.New(p, options(64*graphtest.Mebi))
		_, _ = size.New(p, onDevice)
		_ = p.String()
	})
}

// An operation that is asked for its memory must not go on without end.
func TestDecodeRejectsTransformOfNoLength(t *testing.T) {
	b := string(encoded(t, graphtest.Node(t)(fft.Along(graph.Site{}, fft.Forward, graphtest.File(t, "x.npy", dtype.Float32, 20, 500), 0, 1, ""))))
	for _, n := range []string{"0", "-500", "4611686018427387904", "9223372036854775807", "-9223372036854775808"} {
		_, err := plan.Decode([]byte(strings.Replace(b, `"N":500`, `"N":`+n, 1)))
		if err == nil || !strings.HasSuffix(err.Error(), "operation fft is not for a result of shape (20, 500)") {
			t.Errorf("a transform of %s elements gives the error %v", n, err)
		}
	}
}

func TestDecodeRejectsViewWithoutSteps(t *testing.T) {
	for _, length := range []int{0, 1} {
		x := graphtest.Coded(t, "x.zarr", []int{1, 100}, length, 500)
		p, err := compile.New(graphtest.Apply(t, kernel.Sqrt, x), compile.Target{Path: "o.npy"})
		if err != nil {
			t.Fatal(err)
		}
		p.Stages[0].Programs[0].Loads[0].View.Step[0] = 0
		b, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Decode(b); err == nil || !strings.Contains(err.Error(), "reads outside") {
			t.Errorf("a view of %d rows in steps of 0 gives the error %v", length, err)
		}
	}
}

// places are what edits each value in a decoded JSON text.
func places(tree any) (all []func(edit byte)) {
	edited := func(old any, edit byte) any {
		numbers := []string{"0", "1", "-1", "2", "3", "7", "500", "2000", "65536", "4611686018427387904", "9223372036854775807", "-9223372036854775808", "1.5"}
		switch n := int(edit); {
		case n < len(numbers):
			return json.Number(numbers[n])
		case n == len(numbers):
			return nil
		case n == len(numbers)+1:
			return []any{}
		case n == len(numbers)+2:
			return []any{old, old}
		case n == len(numbers)+3:
			return ""
		}
		if list, ok := old.([]any); ok && len(list) > 0 { // shorter, or longer
			if edit%2 == 0 {
				return list[1:]
			}
			return append(slices.Clone(list), list[len(list)-1])
		}
		return json.Number(strconv.Itoa(int(edit)))
	}
	switch v := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key != "engine" {
				all = append(all, func(edit byte) { v[key] = edited(v[key], edit) })
				all = append(all, places(v[key])...)
			}
		}
	case []any:
		for i := range v {
			all = append(all, func(edit byte) { v[i] = edited(v[i], edit) })
			all = append(all, places(v[i])...)
		}
	}
	return all
}
