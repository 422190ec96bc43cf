package size

import (
	"fmt"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
	"github.com/gonbext/gonbext/oocore/internal/plan/shapes"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// card is a device of some memory with a few kernels.
func card(memory int64) device.Spec {
	floats := device.TypesOf(func(t dtype.Type) bool { return t == dtype.Float32 || t == dtype.Float64 })
	return device.Spec{Name: "card", Memory: memory, Rates: device.Rates{Upload: 1e9, Download: 1e9, Arithmetic: 1e12},
		Computes: device.Capabilities{Elementwise: map[kernel.Op]device.Types{kernel.Sqrt: floats}, Casts: floats, Folds: map[kernel.Reduction]device.Types{kernel.Sum: floats}, Products: floats}}
}

// deviceStages are plans of one stage that a card computes.
func deviceStages(t *testing.T) map[string]*plan.Plan {
	t.Helper()
	var site graph.Site
	must := func(n *graph.Node, err error) *graph.Node {
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	x := must(graph.Open(site, store.Info{Path: "x.npy", Shape: []int{40_000, 3000}, DType: dtype.Float32}, "x"))
	wide := must(graph.Slice(site, x, "0:20000"))
	all := map[string]*plan.Plan{}
	for name, n := range map[string]*graph.Node{
		"map":    must(graph.Apply(site, kernel.Sqrt, x)),
		"reduce": must(graph.Aggregate(site, kernel.Sum, x, graph.ReduceOptions{Axes: []int{0}})),
		"matmul": must(graph.Product(site, wide, must(graph.Transpose(site, wide)))),
	} {
		p, err := compile.New(n, compile.Target{Path: "o.npy"})
		if err != nil {
			t.Fatal(err)
		}
		all[name] = p
	}
	return all
}

// What a device is given fits it and the budget, and half of it is half of it.
func TestDeviceStageFitsCardAndBudget(t *testing.T) {
	for name, p := range deviceStages(t) {
		for memory := int64(4 << 20); memory <= 64<<30; memory *= 8 {
			for budget := int64(48 << 20); budget <= 8<<30; budget *= 4 {
				s, err := New(p, Options{Budget: budget, Workers: 2, Device: card(memory)})
				if err != nil {
					t.Fatalf("%s on %d bytes in %d: %v", name, memory, budget, err)
				}
				st := &s.Stages[0]
				v := s.OnDevice[0]
				if v == nil {
					if memory > 32<<20 || st.Lacks == "" || st.Note == "" {
						t.Errorf("%s on %d bytes in %d: not on the device, which %q", name, memory, budget, st.Lacks)
					}
					continue
				}
				if s.Peak.Host() > budget || s.DevicePeak > memory || s.DevicePeak != v.DevicePeak {
					t.Errorf("%s on %d bytes in %d: %d of the host and %d of the device", name, memory, budget, s.Peak.Host(), s.DevicePeak)
				}
				few := false // tiles in flight
				if v.Super == nil {
					inFlight := min(slotSets, st.Tasks()*v.tiles())
					if st.Tasks() == 1 {
						inFlight = DeviceSets
					}
					_, smallest := s.deviceTile(st, v.transfer)
					few = !smallest && v.Slots*v.Depth < inFlight
				}
				if few || v.Seconds <= 0 || v.Limit == "" {
					t.Errorf("%s on %d bytes in %d: %d slots of %d, %g s by %s", name, memory, budget, v.Slots, v.Depth, v.Seconds, v.Limit)
				}
				halves := 0
				for h := s.Halve(v); h != nil; h = s.Halve(h) {
					if h.DevicePeak >= v.DevicePeak || h.Predicted.Host() > v.Predicted.Host() {
						t.Errorf("%s on %d bytes: half takes %d bytes of the device, and the whole %d", name, memory, h.DevicePeak, v.DevicePeak)
					}
					if v, halves = h, halves+1; halves > 100 {
						t.Fatalf("%s is halved without an end", name)
					}
				}
			}
		}
	}
}

// A device has flags for so many tiles in flight and no more, however many processors read them.
func TestDeviceStageOfManyWorkersHasFewSlots(t *testing.T) {
	var site graph.Site
	x, err := graph.Open(site, store.Info{Path: "x.npy", Shape: []int{4_000_000, 3000}, DType: dtype.Float32}, "x")
	if err != nil {
		t.Fatal(err)
	}
	root, err := graph.Apply(site, kernel.Sqrt, x)
	if err != nil {
		t.Fatal(err)
	}
	p, err := compile.New(root, compile.Target{Path: "o.npy"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(p, Options{Budget: 1 << 40, Workers: 1500, Device: card(1 << 40)})
	if err != nil || s.OnDevice[0] == nil {
		t.Fatalf("%v, %v", err, s)
	}
	if v := s.OnDevice[0]; v.Slots*(v.Depth+1) > 4096 {
		t.Errorf("%d slots of %d tiles", v.Slots, v.Depth)
	}
}

// More memory of the card lets a product cross the link less often, in the same budget.
func TestLargerCardMovesLessOfProduct(t *testing.T) {
	p := deviceStages(t)["matmul"]
	moved := int64(-1)
	for _, memory := range []int64{64 << 20, 512 << 20, 4 << 30} {
		s, err := New(p, Options{Budget: 64 << 20, Workers: 2, Device: card(memory)})
		if err != nil || s.OnDevice[0] == nil {
			t.Fatalf("on %d bytes: %v, %v", memory, err, s)
		}
		up := s.OnDevice[0].Up
		if moved >= 0 && up >= moved {
			t.Errorf("a card of %d bytes is sent %d bytes, a smaller one %d", memory, up, moved)
		}
		moved = up
	}
	if least := int64(2 * 20_000 * 3000 * 4); moved != least {
		t.Errorf("a card that holds the whole result is sent %d bytes, want each operand once, %d", moved, least)
	}
}

// What a device has no kernel for is the CPU's, and the plan says what that is.
func TestDeviceWithoutKernelLeavesStageToCPU(t *testing.T) {
	for name, why := range map[string]string{"map": "has no sqrt of float32", "reduce": "has no sum of float32", "matmul": "has no products of float32"} {
		d := card(1 << 30)
		d.Computes = device.Capabilities{Casts: d.Computes.Casts}
		s, err := New(deviceStages(t)[name], Options{Budget: 256 << 20, Workers: 2, Device: d})
		if err != nil {
			t.Fatal(err)
		}
		if st := &s.Stages[0]; s.OnDevice[0] != nil || st.Lacks != why || st.Note != "card "+why+": on the CPU" || s.DevicePeak != 0 {
			t.Errorf("%s: on the device: %v, which %q; note %q", name, s.OnDevice[0] != nil, st.Lacks, st.Note)
		}
	}
}

func TestSharesAreDistinctLengthsOfEqualParts(t *testing.T) {
	for n := 1; n < 200; n++ {
		want := map[int]bool{}
		for parts := 1; parts <= n; parts++ {
			want[(n+parts-1)/parts] = true
		}
		got := shares(n)
		for i, each := range got {
			if !want[each] || i > 0 && each >= got[i-1] {
				t.Errorf("parts of %d: %v", n, got)
			}
		}
		if len(got) != len(want) {
			t.Errorf("parts of %d: %v, want %d lengths", n, got, len(want))
		}
	}
}

// A tile of a device is a multiple of the blocks in which the CPU adds up.
func TestDeviceTileOfReductionKeepsOrder(t *testing.T) {
	p := deviceStages(t)["reduce"]
	s, err := New(p, Options{Budget: 64 << 20, Workers: 2, Device: card(16 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	st := &s.Stages[0]
	blocks := func(tile []int) (all []grid.Box) {
		for inner := range st.Chunks(st.Grid.Box(0)) {
			for b := range inner.Split(tile) {
				for b := range b.Split(st.FoldBlock) {
					all = append(all, b)
				}
			}
		}
		return all
	}
	cpu, device := blocks(st.Tile), blocks(s.OnDevice[0].Tile)
	if len(cpu) != len(device) {
		t.Fatalf("%d blocks, on the CPU %d", len(device), len(cpu))
	}
	for i := range cpu {
		if cpu[i].String() != device[i].String() {
			t.Fatalf("block %d is %v, on the CPU %v", i, device[i], cpu[i])
		}
	}
}

// However a chunk is cut, the blocks of a tile follow those that BlocksBefore counts.
func TestBlocksBeforeCountsBlocksOfTheSameAccumulators(t *testing.T) {
	random := testcases.Rand(t)
	for range 300 {
		n := 1 + random.IntN(4)
		lengths := func(most int) []int {
			all := make([]int, n)
			for d := range all {
				all[d] = 1 + random.IntN(most)
			}
			return all
		}
		g := grid.Grid{Shape: lengths(12), Chunks: lengths(12)}
		if random.IntN(2) == 0 {
			g.Offset = make([]int, n)
			for d := range g.Offset {
				g.Offset[d] = random.IntN(g.Chunks[d])
			}
		}
		s := &DeviceStage{Stage: Stage{Stage: &plan.Stage{Grid: g, Folds: []plan.Fold{{}}}, Chunk: grid.Clip(lengths(12), g.Chunks)}}
		for d := range n {
			if random.IntN(2) == 0 {
				s.Folds[0].Axes = append(s.Folds[0].Axes, d)
			}
		}
		s.Block = grid.Auto(s.Chunk, 1, 1+random.IntN(20))
		s.Tile = shapes.Within(s.Chunk, 1+random.IntN(100), s.Block)
		for _, chunk := range g.All() {
			for inner := range s.Chunks(chunk) {
				done := map[string]int{} // blocks, by the kept axes of their accumulators
				for tile := range inner.Split(s.Tile) {
					before := map[string]int{}
					for b := range tile.Split(s.Block) {
						kept := ""
						for d, start := range b.Start {
							if !s.Folds[0].Folds(d) {
								kept += fmt.Sprint(start, " ")
							}
						}
						if got := s.BlocksBefore(chunk, tile) + before[kept]; got != done[kept] || s.BlocksBefore(chunk, b) != got {
							t.Fatalf("%v cut by %v, %v and %v, folded along %v: block %v of tile %v is number %d, counted %d, with GONBEXT_SEED=%d",
								g, s.Chunk, s.Tile, s.Block, s.Folds[0].Axes, b, tile, done[kept], got, testcases.Seed(t))
						}
						before[kept]++
						done[kept]++
					}
				}
			}
		}
	}
}
