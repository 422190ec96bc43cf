package exec_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	_ "github.com/gonbext/gonbext/oocore/internal/format/npz"
	_ "github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/memstore"
	"github.com/gonbext/gonbext/oocore/internal/op/udf"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
	"github.com/gonbext/gonbext/oocore/types"
)

// Random expressions, run in the least memory that would do and in plenty, by
// any number of workers and in any chunks, against their definitions. What the
// arena held at most is what was predicted, to the byte.
func TestRandomExpressions(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			r.Fatal(err)
		}
		defer os.RemoveAll(dir)
		g := &generator{T: r, files: &memory{}, dir: dir}
		root := g.expression()
		m := model{}
		want := m.of(root)
		for i := range 2 {
			g.check(root, want, i == 0)
		}
	})
}

// maxElems bounds what the model computes element by element. Half of it is more than a
// chunk of float64 has by itself, where no test is left out. Else several chunks are of
// arrays that are stored or computed by chunks.
func maxElems() int {
	if testing.Short() || !testcases.Full() {
		return 150_000
	}
	return 1_300_000
}

type generator struct {
	*rapid.T
	files *memory
	dir   string // of what is stored by chunks
	nodes []*graph.Node

	stored []string
}

// open and create find arrays that are stored by chunks in the folder, and others in
// memory.
func (g *generator) open(path string) (store.Array, error) {
	if strings.HasPrefix(path, g.dir) {
		return store.Open(path)
	}
	return g.files.open(path)
}

func (g *generator) create(path string, m store.Meta) (store.Writer, error) {
	if strings.HasPrefix(path, g.dir) {
		return store.Create(path, m)
	}
	return g.files.create(path, m)
}

// layout is any way to store a shape by chunks.
func (g *generator) layout(shape []int) (m store.Meta) {
	m.Codec = draw(g, "codec", "none", "zstd:1", "blosc:lz4", "gzip:1")
	m.Chunks = make([]int, len(shape))
	for i, n := range shape {
		m.Chunks[i] = g.int("stored", max(n/5, 1), n+1)
	}
	if len(shape) > 0 && g.bool("shards") {
		for _, n := range m.Chunks {
			m.Shards = append(m.Shards, n*g.int("shard", 1, 3))
		}
	}
	return m
}

// chunked stores elements by chunks.
func (g *generator) chunked(shape []int, t dtype.Type) (store.Info, error) {
	m := g.layout(shape)
	m.Shape, m.DType = shape, t
	path := filepath.Join(g.dir, fmt.Sprintf("%d.zarr", len(g.stored)))
	g.stored = append(g.stored, path)
	w, err := store.Create(path, m)
	if err == nil {
		err = w.Write(context.Background(), sourceModel(shape, t).bytes(t), grid.Entire(shape))
	}
	if err == nil {
		err = w.Commit(context.Background())
	}
	if err != nil {
		return store.Info{}, err
	}
	a, err := store.Open(path)
	if err != nil {
		return store.Info{}, err
	}
	return a.Info(), a.Close()
}

// deflated stores elements in a compressed member of an npz file, as NumPy's
// savez_compressed does.
func (g *generator) deflated(shape []int, t dtype.Type) (info store.Info, err error) {
	path := filepath.Join(g.dir, fmt.Sprintf("%d.npz", len(g.stored)))
	g.stored = append(g.stored, path)
	f, err := os.Create(path)
	if err != nil {
		return info, err
	}
	z := zip.NewWriter(f)
	member, err := z.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: zip.Deflate})
	if err == nil {
		err = writeNPY(member, shape, t, sourceModel(shape, t).bytes(t))
	}
	if err = errors.Join(err, z.Close(), f.Close()); err != nil {
		return info, err
	}
	a, err := store.Open(path + "#x")
	if err != nil {
		return info, err
	}
	return a.Info(), a.Close()
}

// writeNPY writes elements as an npy file has them.
func writeNPY(w io.Writer, shape []int, t dtype.Type, elements []byte) error {
	kinds := map[dtype.Type]string{dtype.Float64: "<f8", dtype.Float32: "<f4", dtype.Float16: "<f2",
		dtype.Int64: "<i8", dtype.Int32: "<i4", dtype.Int8: "|i1", dtype.Bool: "|b1"}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kinds[t], grid.Format(shape))
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	if _, err := fmt.Fprintf(w, "\x93NUMPY\x01\x00%c%c%s", len(head)%256, len(head)/256, head); err != nil {
		return err
	}
	_, err := w.Write(elements)
	return err
}

func (g *generator) int(name string, low, high int) int {
	return rapid.IntRange(low, high).Draw(g.T, name)
}

func (g *generator) bool(name string) bool { return rapid.Bool().Draw(g.T, name) }

func draw[T any](g *generator, name string, from ...T) T {
	return rapid.SampledFrom(from).Draw(g.T, name)
}

func (g *generator) shape() []int {
	dims := g.int("dims", 0, 4)
	shape := make([]int, dims)
	for i := range shape {
		shape[i] = draw(g, "length", 1, 2, 3, 5, 7, 12)
	}
	if dims == 0 {
		return shape
	}
	at := g.int("at", 0, dims-1)
	switch g.int("size", 0, 11) {
	case 0:
		shape[at] = 0
	case 1, 2, 3, 4: // several blocks
		shape[at] = g.int("long", 100, 40_000)
	case 5: // several chunks
		shape[at] = max(g.int("chunks", maxElems()/2, maxElems())*shape[at]/grid.Size(shape), 1)
	case 6: // several chunks of accumulators
		shape[at] = g.int("wide", 65_000, 140_000)
	}
	for grid.Size(shape) > maxElems() {
		shape[slices.Index(shape, slices.Max(shape))] /= 2
	}
	return shape
}

func (g *generator) leaf(shape []int) *graph.Node {
	t := draw(g, "type", dtype.Float64, dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Int64, dtype.Int32, dtype.Int8, dtype.Bool)
	var n *graph.Node
	var err error
	switch g.int("leaf", 0, 8) {
	case 7:
		if t == dtype.BFloat16 { // which npy has no name for
			t = dtype.Float32
		}
		info, failed := g.deflated(shape, t)
		if failed != nil {
			g.Fatal(failed)
		}
		n, err = graph.Open(site, info, info.Path)
	case 0, 1:
		name := fmt.Sprintf("%v%s", shape, t)
		a, failed := g.files.open(name)
		if failed != nil { // the first use of it
			g.files.put(name, memstore.New(shape, t, sourceModel(shape, t).bytes(t)))
			a, failed = g.files.open(name)
		}
		if failed != nil {
			g.Fatal(failed)
		}
		info := a.Info()
		n, err = graph.Open(site, info, name)
	case 2:
		n, err = graph.FromBytes(site, sourceModel(shape, t).bytes(t), t, shape...)
	case 3:
		n, err = graph.Full(site, dtype.FromInt(t, int64(g.int("value", 0, 9))), shape...)
	case 4:
		n = &graph.Node{Kind: graph.Iota, Shape: shape, DType: dtype.Int64, First: dtype.ValueOf(int64(g.int("first", -9, 9))), Delta: dtype.ValueOf(int64(g.int("delta", -2, 2)))}
	case 5, 6:
		info, failed := g.chunked(shape, t)
		if failed != nil {
			g.Fatal(failed)
		}
		n, err = graph.Open(site, info, info.Path)
	default:
		half, failed := graph.Full(site, dtype.ValueOf(0.5), shape...)
		if failed != nil {
			g.Fatal(failed)
		}
		if n, err = graph.Uniform(site, draw(g, "float", dtype.Float32, dtype.Float64), 7, shape...); err == nil {
			n, err = graph.Apply(site, kernel.Less, n, half)
		}
	}
	if err != nil {
		g.Fatal(err)
	}
	return g.clip(n)
}

// clip keeps numbers small enough for the exact arithmetic of every type.
func (g *generator) clip(n *graph.Node) *graph.Node {
	if n.DType == dtype.Bool {
		return n
	}
	for _, limit := range []struct {
		op kernel.Op
		at int64
	}{{kernel.Minimum, 9}, {kernel.Maximum, -9}} {
		at, err := graph.Full(site, dtype.FromInt(n.DType, limit.at))
		if err == nil {
			n, err = graph.Apply(site, limit.op, n, at)
		}
		if err != nil {
			g.Fatal(err)
		}
	}
	return n
}

func (g *generator) any() *graph.Node { return draw(g, "node", g.nodes...) }

func (g *generator) expression() *graph.Node {
	g.nodes = []*graph.Node{g.leaf(g.shape())}
	for range g.int("steps", 1, 8) {
		n, err := g.step()
		if err != nil || grid.Size(n.Shape) > maxElems() { // NumPy rejects too, or too much for the model
			continue
		}
		g.nodes = append(g.nodes, n)
	}
	return g.nodes[len(g.nodes)-1]
}

func (g *generator) step() (*graph.Node, error) {
	x := g.any()
	dims := len(x.Shape)
	switch g.int("step", 0, 12) {
	case 0: // with itself, or another of any shape
		y := g.any()
		n, err := graph.Apply(site, draw(g, "op", kernel.Add, kernel.Subtract, kernel.Multiply, kernel.Minimum, kernel.Maximum), x, y)
		if err != nil {
			return nil, err
		}
		return g.clip(n), nil
	case 1: // broadcast with something new
		shape := slices.Clone(x.Shape)
		shape = shape[g.int("cut", 0, dims):]
		for i := range shape {
			if g.int("one", 0, 2) == 0 {
				shape[i] = 1
			}
		}
		n, err := graph.Apply(site, draw(g, "op", kernel.Add, kernel.Multiply, kernel.Maximum), x, g.leaf(shape))
		if err != nil {
			return nil, err
		}
		return g.clip(n), nil
	case 2:
		return graph.Apply(site, draw(g, "op", kernel.Negative, kernel.Absolute), x)
	case 3:
		less, err := graph.Apply(site, kernel.Less, x, g.any())
		if err != nil {
			return nil, err
		}
		return graph.Apply(site, kernel.Where, less, g.any(), g.any())
	case 4:
		return graph.AsType(site, x, draw(g, "to", dtype.Float64, dtype.Float32, dtype.Float16, dtype.BFloat16, dtype.Int64, dtype.Int8, dtype.Bool))
	case 12:
		shape := []int{grid.Size(x.Shape)}
		if n := shape[0]; n > 0 && n%6 == 0 && g.bool("in two") {
			shape = []int{n / 6, 6}
		}
		return graph.Reshape(site, x, shape...)
	case 5:
		return graph.Transpose(site, x, rapid.Permutation(seq(dims)).Draw(g.T, "axes")...)
	case 6, 7:
		spec := ""
		for _, n := range x.Shape {
			if n > 0 && g.int("index", 0, 5) == 0 {
				spec += fmt.Sprintf("%d, ", g.int("i", 0, n-1))
				continue
			}
			spec += fmt.Sprintf("%d::%d, ", g.int("start", -3, 3), draw(g, "by", 1, 1, 1, 2, -1, -1, -3))
			if g.int("new", 0, 5) == 0 {
				spec += "newaxis, "
			}
		}
		return graph.Slice(site, x, spec)
	case 8:
		t := g.int("operand", 0, 1)
		if dims == 0 {
			return x, nil
		}
		k := x.Shape[max(dims-1, 0)]
		y := g.leaf([]int{k, g.int("columns", 0, 40)})
		if g.bool("stack") && dims > 2 {
			y = g.leaf([]int{x.Shape[0], k, 3})
		}
		if k*y.Shape[len(y.Shape)-1] > 50_000 || grid.Size(x.Shape)*y.Shape[len(y.Shape)-1] > 4*maxElems() {
			return x, nil
		}
		if t == 0 {
			n, err := graph.Product(site, x, y)
			if err != nil {
				return nil, err
			}
			return g.clip(n), nil
		}
		x, _ = graph.AsType(site, x, draw(g, "type", dtype.Float16, dtype.Int8, dtype.Float32))
		turned, _ := graph.Transpose(site, y)
		back, _ := graph.Transpose(site, x)
		n, err := graph.Product(site, turned, back)
		if err != nil {
			return nil, err
		}
		return g.clip(n), nil
	case 9:
		chunks := make([]int, dims)
		for i, n := range x.Shape {
			chunks[i] = max((n+2)/3, 1)
		}
		y, err := graph.AsType(site, x, dtype.Float64)
		if err != nil {
			return nil, err
		}
		n, err := udf.Map(site, twice, dtype.Float64, udf.MapOptions{Chunks: chunks}, y, y)
		if err != nil {
			return nil, err
		}
		return g.clip(n), nil
	}
	kind := draw(g, "kind", kernel.Sum, kernel.Min, kernel.Max, kernel.ArgMin, kernel.ArgMax, kernel.Any, kernel.All, kernel.CountNonzero)
	var axes []int
	for d := range dims {
		if g.bool("reduced") {
			axes = append(axes, d)
		}
	}
	if kind == kernel.ArgMin || kind == kernel.ArgMax {
		axes = axes[:min(len(axes), 1)]
	}
	keep := g.bool("keep")
	n, err := graph.Aggregate(site, kind, x, graph.ReduceOptions{Axes: axes, KeepDims: keep})
	if err != nil {
		return nil, err
	}
	if g.bool("together") { // another reduction of the same pass
		y, err := graph.AsType(site, x, dtype.Float32)
		if err != nil {
			return nil, err
		}
		m, err := graph.Aggregate(site, kernel.Sum, y, graph.ReduceOptions{Axes: axes, KeepDims: keep})
		if err != nil {
			return nil, err
		}
		if n, err = graph.Apply(site, kernel.Maximum, n, m); err != nil {
			return nil, err
		}
	}
	return g.clip(n), nil
}

// twice is minus what it is given, from two inputs.
func twice(dst []byte, src [][]byte, at grid.Box) error {
	out, x, y := dtype.Slice[float64](dst), dtype.Slice[float64](src[0]), dtype.Slice[float64](src[len(src)-1])
	if len(out) != at.Size() || len(x) != len(out) {
		return errors.New("the chunk has another size than its box")
	}
	for i := range out {
		out[i] = x[i] - 2*y[i]
	}
	return nil
}

// check runs an expression and compares.
func (g *generator) check(root *graph.Node, want dense, least bool) {
	target := compile.Target{}
	if g.bool("file") {
		target.Path = "out.bin"
	}
	if g.bool("by chunks") {
		m := g.layout(root.Shape)
		target.Path, target.Chunks, target.Shards, target.Codec = filepath.Join(g.dir, "out.zarr"), m.Chunks, m.Shards, m.Codec
	} else if g.bool("chunks") {
		target.Chunks = make([]int, len(root.Shape))
		for i, n := range root.Shape {
			target.Chunks[i] = g.int("chunk", max(n/6, 1), n+1)
		}
	}
	var before []byte // of the whole that a region is written to
	if size := grid.Size(root.Shape); size > 0 && g.int("region", 0, 3) == 0 {
		before = g.region(root, &target)
	}
	o := size.Options{Budget: 1, Workers: g.int("workers", 1, 5)}
	if !least {
		o.Budget = 1 << g.int("budget", 20, 32)
	}
	p, err := sized(root, target, o)
	var short *types.MemoryError
	if errors.As(err, &short) {
		o.Budget = short.Need - 1<<20
		if _, err := sized(root, target, o); !errors.As(err, &short) {
			g.Fatalf("%s: a MiB less than the smallest budget, %d, gives %v", root, short.Need, err)
		}
		o.Budget = short.Need
		p, err = sized(root, target, o)
	}
	if err != nil {
		g.Fatal(err)
	}
	got := make([]byte, grid.Size(root.Shape)*root.DType.Size())
	env := exec.Env{Open: g.open, Create: g.create}
	if target.Path == "" {
		env.Into = got
	}
	g.reserves(p, env)
	end, err := exec.Run(context.Background(), p, env)
	if err != nil {
		g.Fatalf("%s: %v", root, err)
	}
	if target.Region != nil {
		g.outside(root.DType, &target, before)
	}
	if target.Path != "" {
		region := grid.Entire(root.Shape)
		if target.Region != nil {
			region = *target.Region
		}
		a, err := g.open(target.Path)
		if err == nil {
			err = a.Read(context.Background(), got, region.Region())
		}
		if err != nil {
			g.Fatal(err)
		}
	}
	for i, v := range floats(got, root.DType) {
		if v != want.v[i] {
			g.Fatalf("%s of shape %v: element %d is %v, want %v", root, root.Shape, i, v, want.v[i])
		}
	}
	if end.PeakBy != p.Peak {
		g.Errorf("%s: the arena's peak by class is %v, predicted %v", root, end.PeakBy, p.Peak)
	}
}

// reserves compares what opening each stage reserves with what the plan declares, by class.
func (g *generator) reserves(p *size.Plan, env exec.Env) {
	got, err := exec.StageBytes(context.Background(), p, env)
	if err != nil {
		g.Fatal(err)
	}
	for i, s := range p.Stages {
		if got[i] != s.Predicted {
			g.Errorf("stage %s reserves %v, declared %v", s.Name, got[i], s.Predicted)
		}
	}
}

// region makes an array somewhere in which there is room for the result, the target,
// and returns its elements.
func (g *generator) region(root *graph.Node, target *compile.Target) []byte {
	box := grid.Box{Start: make([]int, len(root.Shape)), Shape: root.Shape}
	whole := make([]int, len(root.Shape))
	for d, n := range root.Shape {
		box.Start[d] = g.int("before", 0, 5)
		whole[d] = box.Start[d] + n + g.int("behind", 0, 5)
	}
	m := g.layout(whole)
	m.Shape, m.DType = whole, root.DType
	path := filepath.Join(g.dir, "whole.zarr")
	w, err := store.Create(path, m)
	elements := sourceModel(whole, root.DType).bytes(root.DType)
	if err == nil {
		err = w.Write(context.Background(), elements, grid.Entire(whole))
	}
	if err == nil {
		err = w.Commit(context.Background())
	}
	if err != nil {
		g.Fatal(err)
	}
	*target = compile.Target{Path: path, Region: &box, Whole: whole}
	return elements
}

// outside makes sure that nothing was written outside of a region.
func (g *generator) outside(t dtype.Type, target *compile.Target, before []byte) {
	a, err := store.Open(target.Path)
	if err != nil {
		g.Fatal(err)
	}
	got := make([]byte, len(before))
	if err := errors.Join(a.Read(context.Background(), got, grid.Entire(target.Whole).Region()), a.Close()); err != nil {
		g.Fatal(err)
	}
	size := t.Size()
	at := 0
	fill(target.Whole, func(index []int) float64 {
		inside := true
		for d, i := range index {
			inside = inside && target.Region.Start[d] <= i && i < target.Region.Start[d]+target.Region.Shape[d]
		}
		if !inside && !bytes.Equal(got[at*size:(at+1)*size], before[at*size:(at+1)*size]) {
			g.Fatalf("element %v, outside of the region, has changed", index)
		}
		at++
		return 0
	})
}
