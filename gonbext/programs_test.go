package gonbext_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gonbext/gonbext/gonbext"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/decomp"
)

// cells are bodies of cells. Each runs in a process of its own, as in a
// notebook: this test binary, called again with the cell's name.
var cells = map[string]func(){
	"save": func() {
		defer gonbext.Memory(gonbext.Budget("64MiB"))()
		x := gonbext.Save(oocore.Random(oocore.Float32, 1, 1000, 20), "x.npy")
		gonbext.Save(x.Sqrt().Mean(0), "means.npy")
	},
	"several": func() {
		defer gonbext.Memory(gonbext.Budget("64MiB"), gonbext.Chunks("100x20"))()
		saveSeveral()
	},
	"several planned": func() {
		defer gonbext.Footprint(gonbext.Budget("64MiB"))()
		saveSeveral()
	},
	"several with one error": func() {
		defer gonbext.Memory()()
		x := oocore.Ones(oocore.Float32, 3, 4)
		gonbext.SaveAll([]oocore.Output{{Array: x, Path: "x.npy"}, {Array: x.Reshape(5), Path: "y.npy"}})
		println("not reached")
	},
	"kernel": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		gonbext.Save(oocore.Full(2.0, 10), "x.npy")
	},
	"collect": func() {
		defer gonbext.Memory()()
		for _, v := range gonbext.Collect[float64](oocore.Arange(0.0, 3.0, 1.0)) {
			println(int(v))
		}
	},
	"footprint": func() {
		defer gonbext.Footprint(gonbext.Budget("64MiB"))()
		x := gonbext.Save(oocore.Random(oocore.Float32, 1, 3_075_200, 512), "x.npy")
		gonbext.Show(x)
		y := gonbext.Save(x.Sqrt(), "y.npy")
		gonbext.Collect[float32](y.Mean(0))
		println("not reached")
	},
	"cluster planned": func() {
		defer gonbext.Footprint(gonbext.On("slurm"), gonbext.Budget("1GiB"), gonbext.Processes("4"))()
		gonbext.Save(oocore.Random(oocore.Float32, 1, 3_075_200, 512).Sqrt(), "x.npy")
		println("reached")
	},
	"cluster without a budget": func() {
		defer gonbext.Memory(gonbext.On("slurm"))()
		gonbext.Save(oocore.Random(oocore.Float32, 1, 100, 10), "x.npy")
	},
	"nominal": func() {
		defer gonbext.Footprint(gonbext.Cell("CELL", 1), gonbext.Budget("4000TiB"), gonbext.Nominal("3"))()
		gonbext.Save(oocore.Random(oocore.Float32, 1, 3_075_200, 512).Sqrt(), "x.npy")
	},
	"cards": func() {
		defer gonbext.Footprint(gonbext.Budget("1GiB"), gonbext.Device("model:64MiB"))()
		x := oocore.Random(oocore.Float32, 1, 100_000, 512)
		gonbext.Save(x.Sub(x.Mean(0)), "y.npy")
	},
	"methods": func() {
		defer gonbext.Footprint(gonbext.Budget("64MiB"))()
		ctx := gonbext.Context()
		x, err := oocore.Random(oocore.Float32, 1, 1000, 100).Save(ctx, "x.npy")
		fmt.Println(x, err)
		_, err = oocore.Collect[float32](ctx, x.Mean(0))
		fmt.Println(errors.Is(err, oocore.ErrPlanned))
		_, err = decomp.CP(ctx, oocore.Random(oocore.Float64, 1, 20, 20, 20), 2, decomp.CPOptions{})
		fmt.Println(errors.Is(err, oocore.ErrPlanned))
	},
	"card": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1))()
		gonbext.Last = oocore.Arange(0, 80, 1).Reshape(8, 10)
	},
	"large cards": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1))()
		gonbext.Show(oocore.Arange(0, 441, 1).Reshape(21, 21))
		gonbext.Show(oocore.Arange(0, 441, 1).Reshape(21, 21).AsType(oocore.Float32))
	},
	"packed card": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1))()
		gonbext.Last = gonbext.Save(oocore.Arange(0, 80, 1), "packed.zarr", oocore.Attributes(map[string]any{"add_offset": 0.5})).Add(1)
	},
	"card with NaN": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1))()
		x := oocore.Arange(0, 2000, 1.0)
		gonbext.Show(oocore.Where(x.Less(1500), math.NaN(), x))
		gonbext.Show(x.Mul(math.NaN()))
		gonbext.Last = x
	},
	"collection": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1))()
		gonbext.Last = collection()
	},
	"collection as text": func() {
		defer gonbext.Memory()()
		gonbext.Last = collection()
	},
	"time": func() {
		defer gonbext.Time(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		gonbext.Last = oocore.Full(2.5)
		time.Sleep(20 * time.Millisecond)
	},
	"figures": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		x := oocore.Arange(0, 1_000_000, 1)
		gonbext.Plot(x, x.Neg())
		gonbext.Hist(x)
		gonbext.HeatMap(x.Reshape(1000, 1000))
		gonbext.Image(x.Reshape(1000, 1000))
		gonbext.Plot(oocore.FromSlice([]complex64{1}, 1))
		println("not reached")
	},
	"figures as text": func() {
		defer gonbext.Memory(gonbext.Budget("64MiB"))()
		gonbext.Plot(oocore.Arange(0, 8, 1))
		gonbext.Plot(oocore.FromSlice([]float64{-math.MaxFloat64, math.MaxFloat64}, 2)) // whose range is no float
	},
	"figures planned": func() {
		defer gonbext.Footprint(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		gonbext.Plot(oocore.Arange(0, 8, 1))
	},
	"plain": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("1GiB"))()
		for range 8 { // of a size of which Go's profile samples all but one in ten million
			kept = append(kept, touched(8<<20))
		}
	},
	"greedy": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		var parts [][]byte
		for range 10000 {
			parts = append(parts, touched(1<<20))
		}
		println("not reached", len(parts))
	},
	"doubling": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		var values []float64
		for i := range 1 << 30 {
			values = append(values, float64(i))
		}
		println("not reached", len(values))
	},
	"at once": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		println("not reached", len(touched(1<<30)))
	},
	"goroutines": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				var parts [][]byte
				for len(parts) < 1<<20 {
					parts = append(parts, touched(1<<20))
				}
				println(len(parts))
			})
		}
		group.Wait()
	},
	"small values": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		names := map[int]string{}
		for i := range 1 << 30 {
			names[i] = strings.Repeat("x", i%64)
		}
		println("not reached", len(names))
	},
	"exit": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		os.Exit(3)
	},
	"panic": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		panic("of the cell's own")
	},
	"recursion": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("64MiB"))()
		println("not reached", deep(0))
	},
	"garbage": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1), gonbext.Budget("96MiB"))()
		for range 200 {
			touched(16 << 20)
		}
		fmt.Println("reached")
	},
	"small": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 7), gonbext.Budget("1KiB"))() // line 7 of its cell
		gonbext.Save(oocore.Full(2.0, 10), "x.npy")
	},
	"mismatch": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 7))()
		x := oocore.Full(1.0, 3, 4).Add(oocore.Full(1.0, 5))
		println("on")
		gonbext.Save(x, "x.npy")
	},
	"budget": func() { defer gonbext.Memory(gonbext.Budget("lots"))(); println("not reached") },
	"device": func() { defer gonbext.Memory(gonbext.Device("cuda:0"))(); println("not reached") },
	"chunks": func() { defer gonbext.Memory(gonbext.Chunks("3y4"))(); println("not reached") },
	"endless": func() {
		defer gonbext.Memory(gonbext.Cell("CELL", 1))()
		gonbext.Collect[float64](oocore.Random(oocore.Float64, 1, 1<<30, 1<<20).Sum())
		println("not reached")
	},
	"missing": func() { gonbext.Show(oocore.Open("missing.npy")) },
	"show": func() {
		gonbext.Show(oocore.Arange(0, 80, 1).Reshape(8, 10))
		gonbext.Show(oocore.Full(2.5))
		gonbext.Show(oocore.Full(true, 2))
		gonbext.Show(oocore.FromSlice([]float64{1, -22.5, 0.125, math.NaN()}, 2, 2))
		gonbext.Show(oocore.FromSlice([]float32{1e-9, 3}, 2))
		gonbext.Show(oocore.Arange(0, 4000, 1).Reshape(2, 2, 1000))
		gonbext.Show(oocore.FromSlice([]float32{0.1}, 1).Sum())
		days := gonbext.Save(oocore.Arange(0, 59, 1), "days.zarr", oocore.Attributes(map[string]any{"units": "days since 2001-01-01"}))
		gonbext.Show(oocore.Ones(oocore.Int8, 59, 2).WithCoord("time", days).WithCoord("lat", oocore.FromSlice([]float64{60, 7.5})))
	},
	"labels planned": func() {
		days := gonbext.Save(oocore.Arange(0, 59, 1), "days.zarr", oocore.Attributes(map[string]any{"units": "days since 2001-01-01"}))
		defer gonbext.Footprint(gonbext.Budget("64MiB"))()
		x := oocore.Ones(oocore.Float32, 59, 2).WithCoord("time", days)
		gonbext.Save(x.GroupByLabel("time.month").Mean(), "means.zarr")
		gonbext.Save(x.Sel("time", "2001-02"), "part.zarr")
	},
	"values": func() {
		gonbext.Show(nil)
		gonbext.Show([]int{8, 10})
		gonbext.Show(make([]int8, 1000))
		gonbext.Show(make([]float64, 1001))
		gonbext.Show("text")
		gonbext.Show(strings.ToUpper)
	},
}

// kept is reachable to the end of a cell.
var kept [][]byte

// touched is memory that a process really takes.
func touched(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	return b
}

// deep recurses without end, as the cell that it is the body of is meant to.
func deep(n int) int {
	if n < 0 {
		return n
	}
	var frame [1024]int
	frame[n%1024] = n
	return deep(n+1) + frame[(n+1)%1024]
}

// saveSeveral saves a mean of columns, and what is left without it.
func saveSeveral() {
	x := oocore.Random(oocore.Float32, 1, 1000, 20)
	mean := x.Mean(0)
	for _, a := range gonbext.SaveAll([]oocore.Output{{Array: mean, Path: "mean.npy"}, {Array: x.Sub(mean), Path: "centred.zarr"}}) {
		fmt.Println("saved", a.Shape(), a.Chunks())
	}
}

// collection has w0 to w29 of one to 30 elements, ten layers that are alike, and one of another type.
func collection() *oocore.Collection {
	c := new(oocore.Collection)
	for i := range 30 {
		c = c.With(fmt.Sprintf("w%d", i), oocore.Ones(oocore.Float32, i+1))
	}
	for i := range 10 {
		c = c.With(fmt.Sprintf("layers.%d.w", i), oocore.Ones(oocore.Float16, 5))
	}
	return c.With("b\x1b[31m\n"+strings.Repeat("x", 300), oocore.Ones(oocore.Int8, 1))
}
