package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// writePage writes outputs as one page to $GONBEXT_PAGES, to be looked at, and for
// echarts/build.sh --exercise.
func writePage(t *testing.T, name string, outputs ...func(Options) (Output, error)) {
	t.Helper()
	dir := os.Getenv("GONBEXT_PAGES")
	if dir == "" {
		dir = t.TempDir()
	}
	var page strings.Builder
	page.WriteString(`<!doctype html><html lang="en"><meta charset=utf-8><title>x</title><meta name="color-scheme" content="light dark"><style>@media(prefers-color-scheme:dark){body{background:#141414}}</style><body><h1>x</h1>`)
	for i, output := range outputs {
		out, err := output(Options{Library: i == 0})
		if err != nil {
			t.Fatal(err)
		}
		page.WriteString(out.HTML)
	}
	testcases.WriteFile(t, filepath.Join(dir, name+".html"), []byte(page.String()), 0o644)
}

// TestWriteSheets writes what is no report of a run.
func TestWriteSheets(t *testing.T) {
	row := NewChunkMap(Stored{Path: "row.zarr", Format: "zarr", DType: "int8", Bytes: 100, Shape: []int{95}, Chunks: []int{10}, Shards: []int{50}})
	for i := range 10 {
		row.Add([]int{i}, 10)
	}
	runs := cases(t)
	compare := func(a, b string) func(Options) (Output, error) {
		return func(o Options) (Output, error) {
			return Compare(runs[a], runs[b], [2]string{"first run", "second"}, o)
		}
	}
	writePage(t, "sheets", tiles(t, 12, 30, 64).Output, tiles(t, 400, 250, 8).Output, row.Output, compare("done", "device"), compare("done", "over"))
}

// TestWriteSweep writes reports of all lengths and sizes, which axes and texts depend on.
func TestWriteSweep(t *testing.T) {
	for seed := range uint64(3) {
		writePage(t, fmt.Sprint("sweep-", seed), sweep(t, rand.New(rand.NewPCG(3, seed)))...)
	}
}

func sweep(t *testing.T, random *rand.Rand) []func(Options) (Output, error) {
	var outputs []func(Options) (Output, error)
	bytes := int64(1000)
	for length := 10 * time.Microsecond; length < 1000*time.Hour; length *= 3 {
		runs := []*record.Run{drawnAtRandom(t, random, length, bytes)}
		outputs = append(outputs, func(o Options) (Output, error) { return Report(runs, o) })
		if bytes < math.MaxInt64/64 {
			bytes *= 5
		}
	}
	for _, values := range [][]float64{{1e-9, 3e-12, 2e-12}, {-1e6, 2e7, 3}, {0, 0, 0}, {-5, -7, -5.5}, {1e300, 1e299}} {
		h := rootsHeader()
		h.Series = []record.Series{{Name: "relative error by iteration", Values: values}}
		runs := []*record.Run{made(t, h, 3, doneEnd())}
		outputs = append(outputs, func(o Options) (Output, error) { return Report(runs, o) })
		values := values
		var counts []int64
		var edges record.Floats
		for i, v := range append(values, values[0]) {
			edges = append(edges, float64(i)*max(math.Abs(v), 1e-6))
			counts = append(counts, int64(math.Pow(10, float64(5*i))))
		}
		for _, f := range []*record.Figure{
			{Kind: record.PlotFigure, Curves: []record.Curve{{Name: "x", Length: len(values), Step: 1, Mean: values}, {Name: "y", Length: 2, Step: 1, Mean: values[:2]}}},
			{Kind: record.HistFigure, Edges: edges, Counts: counts[:len(edges)-1]},
			{Kind: record.HeatMapFigure, Rows: 1, Cols: len(values), Block: []int{1, 1}, Means: values},
		} {
			c := &record.Card{Title: "x", Shape: []int{len(values), 1}, DType: "float32", Figure: f}
			outputs = append(outputs, func(o Options) (Output, error) { return Card(c, o) })
		}
	}
	return outputs
}

// drawnAtRandom is a run of a length that takes about so many bytes, of some of the classes.
func drawnAtRandom(t *testing.T, random *rand.Rand, length time.Duration, bytes int64) *record.Run {
	h := rootsHeader()
	h.Budget = bytes * int64(1+random.IntN(8)) / 2
	stages := 1 + random.IntN(6)
	for len(h.Stages) < stages {
		h.Stages = append(h.Stages, h.Stages[0])
	}
	h.Stages = h.Stages[:stages]
	var classes record.Bytes
	for c := range classes {
		classes[c] = bytes / int64(2+random.IntN(9)) * int64(random.IntN(2))
	}
	tasks := 1 + random.IntN(90)
	for i := range h.Stages {
		st := &h.Stages[i]
		st.Name, st.From, st.Predicted, st.Tasks = strings.Repeat("stage ", 1+random.IntN(9)), nil, classes, tasks
		st.Shape, st.Chunks = []int{tasks}, []int{1}
		if tasks%6 == 0 {
			st.Shape, st.Chunks = []int{tasks / 6, 6}, []int{1, 1}
		}
	}
	w, err := record.Create(t.TempDir(), h)
	if err != nil {
		t.Fatal(err)
	}
	each := length / time.Duration(tasks*stages)
	for i := range h.Stages {
		for chunk := range tasks {
			at := each * time.Duration(i*tasks+chunk)
			task := record.Task{Stage: uint16(i), Chunk: int64(chunk), Start: at, Duration: each, Retries: uint8(random.IntN(40) / 39)}
			arena := classes
			for c := range arena {
				arena[c] = int64(float64(arena[c]) * random.Float64())
			}
			task.Reserved, task.Requested = arena, arena
			w.Task(&task)
			w.Sample(record.Sample{At: at + each, Arena: arena, Anonymous: arena.Host() + bytes/9*int64(stages%2), Device: arena[record.Device]})
		}
	}
	end := doneEnd()
	end.Duration = length
	w.End(*end)
	return open(t, w.Path())
}
