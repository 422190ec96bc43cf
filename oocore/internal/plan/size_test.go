package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Temporary arrays that are not needed at the same time have the same memory: of ten
// products of products, of which two exist at once, none spills where three fit.
func TestSizeReusesMemoryOfTemporaryArrays(t *testing.T) {
	x := file(t, "x.npy", dtype.Float32, 1000, 1000) // 4 MB
	root := x
	for range 10 {
		root = node(t)(graph.Product(graph.Site{}, root, x))
	}
	p, err := sized(root, Target{Path: "o.npy"}, Options{Budget: 64 * mebi, Overhead: 20 * mebi, Workers: 1})
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
	x := file(t, "x.npy", dtype.Float64, 20_000, 3000)
	p, err := New(fold(t, kernel.Sum, node(t)(graph.Product(graph.Site{}, x, node(t)(graph.Transpose(graph.Site{}, x)))), 0), Target{Path: "o.npy"})
	if err != nil {
		t.Fatal(err)
	}
	before, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Budget: 64 * mebi, Workers: 1}, {Budget: 8 << 30, Workers: 16}, {Budget: 1 << 30, Workers: 2, Device: DeviceSpec{Name: "model", Memory: 1 << 30}}} {
		if _, err := p.Size(o); err != nil {
			t.Fatal(err)
		}
		if after, err := p.Encode(); err != nil || string(after) != string(before) {
			t.Errorf("%+v changes the plan (%v)", o, err)
		}
	}
}

func TestPlansPrint(t *testing.T) {
	x := file(t, "x.npy", dtype.Float32, 1000, 100)
	p, err := sized(apply(t, kernel.Subtract, x, fold(t, kernel.Mean, x, 0)), Target{Path: "o.npy"}, options(64*mebi))
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
	x := node(t)(graph.Transpose(graph.Site{}, file(t, "x.npy", dtype.Float32, 8192, 16384)))
	for axis := range 2 {
		for _, budget := range []int64{64 * mebi, 1 << 30} {
			p, err := sized(fold(t, kernel.Mean, x, axis), Target{Path: "o.npy"}, Options{Budget: budget, Overhead: 20 * mebi, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			if run := p.Placed(0).ReadRun; run < 512 {
				t.Errorf("along axis %d within %d bytes: runs of %d bytes", axis, budget, run)
			}
		}
	}
}
