package size

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/testkit/graphtest"
	"github.com/gonbext/gonbext/oocore/store"
)

// Temporary arrays that are not needed at the same time have the same memory: of ten
// products of products, of which two exist at once, none spills where three fit.
func TestSizeReusesMemoryOfTemporaryArrays(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 1000, 1000) // 4 MB
	root := x
	for range 10 {
		root = graphtest.Node(t)(graph.Product(graph.Site{}, root, x))
	}
	p, err := sized(root, compile.Target{Path: "o.npy"}, Options{Budget: 64 * graphtest.Mebi, Overhead: 20 * graphtest.Mebi, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Arrays {
		if p.Place(i) == InSpill {
			t.Errorf("%s spills", p.Arrays[i].Name)
		}
	}
	if p.Peak.Host() > p.Arena {
		t.Errorf("the peak is %d of %d bytes", p.Peak.Host(), p.Arena)
	}
}

// The logical plan knows no resources: however it is sized, it stays the same.
func TestSizeDoesNotChangeThePlan(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float64, 20_000, 3000)
	p, err := compile.New(graphtest.Fold(t, kernel.Sum, graphtest.Node(t)(graph.Product(graph.Site{}, x, graphtest.Node(t)(graph.Transpose(graph.Site{}, x)))), 0), compile.Target{Path: "o.npy"})
	if err != nil {
		t.Fatal(err)
	}
	before, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Budget: 64 * graphtest.Mebi, Workers: 1}, {Budget: 8 << 30, Workers: 16}, {Budget: 1 << 30, Workers: 2, Device: device.Spec{Name: "model", Memory: 1 << 30}}} {
		if _, err := New(p, o); err != nil {
			t.Fatal(err)
		}
		if after, err := p.Encode(); err != nil || string(after) != string(before) {
			t.Errorf("%+v changes the plan (%v)", o, err)
		}
	}
}

func TestPlansPrint(t *testing.T) {
	x := graphtest.File(t, "x.npy", dtype.Float32, 1000, 100)
	p, err := sized(graphtest.Apply(t, kernel.Subtract, x, graphtest.Fold(t, kernel.Mean, x, 0)), compile.Target{Path: "o.npy"}, options(64*graphtest.Mebi))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(p.Plan), fmt.Sprint(p)} {
		if !strings.Contains(text, "mean(x.npy, 0)") || strings.Contains(text, "PANIC") {
			t.Errorf("it prints as %s", text)
		}
	}
}

// A reduction of a file across its order reads runs as long as its chunks are, and not rows of few elements.
func TestReductionAcrossAFileReadsLongRuns(t *testing.T) {
	x := graphtest.Node(t)(graph.Transpose(graph.Site{}, graphtest.File(t, "x.npy", dtype.Float32, 8192, 16384)))
	for axis := range 2 {
		for _, budget := range []int64{64 * graphtest.Mebi, 1 << 30} {
			p, err := sized(graphtest.Fold(t, kernel.Mean, x, axis), compile.Target{Path: "o.npy"}, Options{Budget: budget, Overhead: 20 * graphtest.Mebi, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			if run := p.Placed(0).ReadRun; run < 512 {
				t.Errorf("along axis %d within %d bytes: runs of %d bytes", axis, budget, run)
			}
		}
	}
}

// A copy between object stores shares what decodes and encodes among its slots, whose own memory has one encoded chunk
// each: inside 64 MiB 30 chunks of 1 MiB are under way, by any number of workers. One whose chunks are cut otherwise does not.
func TestCopyBetweenObjectStoresSharesWorkspaces(t *testing.T) {
	const chunk = 1 << 18
	info := store.Info{Path: "s3://bucket/x.zarr", Format: "zarr v3", Shape: []int{1000 * chunk}, DType: dtype.Float32, Chunks: []int{chunk},
		Work: store.Work{Whole: 2200 << 10, Stream: 2200 << 10, Encoded: 1028 << 10}}
	x := graphtest.Node(t)(graph.Open(graph.Site{}, info, ""))
	moved := graphtest.Node(t)(graph.Slice(graph.Site{}, x, "1:"))
	for _, workers := range []int{1, 2, 64} {
		for of, least := range map[*graph.Node]int{x: 30, graphtest.Apply(t, kernel.Sqrt, x): 30, moved: 0} {
			p, err := sized(of, compile.Target{Path: "s3://bucket/y.zarr", Chunks: []int{chunk}, Codec: "zstd:1"}, Options{Budget: 64 * graphtest.Mebi, Overhead: 16 * graphtest.Mebi, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if s := &p.Stages[0]; s.Workspaces > 0 != (least > 0) || s.Slots < least || s.Predicted.Host() > p.Arena {
				t.Errorf("%d workers: %d slots share %d workspaces, and take %d of %d bytes", workers, s.Slots, s.Workspaces, s.Predicted.Host(), p.Arena)
			}
			b, err := p.Plan.Encode()
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Plan.Arrays { // which does not travel
				p.Plan.Arrays[i].Format = ""
			}
			if decoded, err := plan.Decode(b); err != nil || !reflect.DeepEqual(decoded.Arrays, p.Plan.Arrays) {
				t.Errorf("in another process the arrays are %+v, not %+v: %v", decoded.Arrays, p.Plan.Arrays, err)
			}
		}
	}
}
