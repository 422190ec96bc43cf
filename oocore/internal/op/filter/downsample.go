package filter

import (
	"context"
	"fmt"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
	"github.com/gonbext/gonbext/oocore/internal/strided"
)

func init() { blockwise.Register("filter.downsampled", Downsampled{}, blockwise.KeepsAxes) }

// Downsampled is the mean of blocks of Factors elements. Those at the end of an axis may
// be of less.
type Downsampled struct {
	Shape   []int // of the input
	DType   dtype.Type
	Result  dtype.Type
	Factors []int
}

// readElems is how many elements are read at once, where blocks have fewer than that
// together.
const readElems = 128 << 10

// Pools returns the factors.
func (o Downsampled) Pools() []int { return o.Factors }

// groups cuts a box into groups of whole blocks whose elements are read at once: as many as the
// result's own shape makes them, so that no box reads more along an axis than a longer one. Where
// one block has more, it is cut in turn, by the factors alone: the order of additions
// must not depend on the box.
func (o Downsampled) groups(box []int) (group, read []int) {
	group, read = make([]int, len(box)), make([]int, len(box))
	blocks, left := readElems, readElems
	for _, f := range o.Factors {
		blocks /= f
	}
	for d := len(box) - 1; d >= 0; d-- {
		if blocks > 0 {
			most := max(min((o.Shape[d]+o.Factors[d]-1)/o.Factors[d], blocks), 1)
			group[d] = max(min(box[d], most), 1)
			read[d] = group[d] * o.Factors[d]
			blocks /= most
			continue
		}
		group[d], read[d] = 1, max(min(o.Factors[d], left), 1)
		left /= read[d]
	}
	return group, read
}

func (o Downsampled) work(m *blockwise.ScratchLayout, group, read []int) (in, wide, sums []byte) {
	real, count := parts(o.DType)
	in = m.Take(grid.Size(read) * count * real.Size())
	return in, m.Take(grid.Size(read) * count * 8), m.Take(grid.Size(group) * count * 8)
}

// Requirements is what is read at once, in float64 too.
func (o Downsampled) Requirements(box []int) blockwise.Requirements {
	var m blockwise.ScratchLayout
	group, read := o.groups(box)
	o.work(&m, group, read)
	return blockwise.Requirements{Reads: [][]int{read}, Scratch: m.Size(), DisjointReads: true}
}

// Fill takes means.
func (o Downsampled) Fill(ctx context.Context, t *blockwise.Task) error {
	group, read := o.groups(t.Box.Shape)
	in, wide, sums := o.work(t.ScratchLayout(), group, read)
	for g := range t.Box.Split(group) {
		blocks := grid.Box{Start: make([]int, len(group)), Shape: make([]int, len(group))}
		for d, f := range o.Factors {
			blocks.Start[d] = g.Start[d] * f
			blocks.Shape[d] = min(g.Shape[d]*f, o.Shape[d]-blocks.Start[d])
		}
		_, count := parts(o.DType)
		n := g.Size() * count
		total := dtype.Slice[float64](sums)[:n]
		clear(total)
		for part := range blocks.Split(read) {
			size := part.Size() * o.DType.Size()
			if err := t.ComputeFrom(ctx, 0, part, in[:size], func() error { o.add(total, g, part, in, wide); return nil }); err != nil {
				return err
			}
		}
		err := t.Compute(func() error {
			o.divide(total, g, blocks)
			real, count := parts(o.Result)
			cast(dtype.Float64, real)(g.Size()*count, wide, sums)
			strided.Copy(o.Result.Size(), g, t.Dst, t.Box, wide, g)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds what was read to the sums of a group's blocks: runs along the last axis first.
func (o Downsampled) add(total []float64, g, part grid.Box, in, wide []byte) {
	real, count := parts(o.DType)
	cast(real, dtype.Float64)(part.Size()*count, wide, in)
	x := dtype.Slice[float64](wide)
	if len(part.Shape) == 0 {
		for i := range total {
			total[i] += x[i]
		}
		return
	}
	last := len(part.Shape) - 1
	f := o.Factors[last]
	strides := grid.Strides(g.Shape)
	for at := range window.Counting(part.Shape[:last]) {
		to := part.Start[last]/f - g.Start[last]
		for d, i := range at {
			to += ((part.Start[d]+i)/o.Factors[d] - g.Start[d]) * strides[d]
		}
		row := x[:part.Shape[last]*count]
		x = x[len(row):]
		sums := total[to*count:]
		for n := f - part.Start[last]%f; len(row) > 0; n = f {
			if count == 1 && n == f && len(row) >= 4*f { // one after another they would wait for their sums
				var s0, s1, s2, s3 float64
				b0, b1, b2, b3 := row[:f], row[f:2*f], row[2*f:3*f], row[3*f:4*f]
				for k, v := range b0 {
					s0, s1, s2, s3 = s0+v, s1+b1[k], s2+b2[k], s3+b3[k]
				}
				sums[0], sums[1], sums[2], sums[3] = sums[0]+s0, sums[1]+s1, sums[2]+s2, sums[3]+s3
				row, sums = row[4*f:], sums[4:]
				continue
			}
			block := row[:min(n*count, len(row))]
			for c := range count {
				sum := 0.0
				for k := c; k < len(block); k += count {
					sum += block[k]
				}
				sums[c] += sum
			}
			row, sums = row[len(block):], sums[count:]
		}
	}
}

// divide makes means of sums.
func (o Downsampled) divide(total []float64, g, blocks grid.Box) {
	_, count := parts(o.DType)
	last := len(g.Shape) - 1
	if last < 0 {
		return // an element each
	}
	for at := range window.Counting(g.Shape[:last]) {
		rows := 1
		for d, b := range at {
			rows *= min(o.Factors[d], blocks.Shape[d]-b*o.Factors[d])
		}
		for left := blocks.Shape[last]; left > 0; left -= o.Factors[last] {
			n := float64(rows * min(o.Factors[last], left))
			for c := range count {
				total[c] /= n
			}
			total = total[count:]
		}
	}
}

// Downsample is the mean of blocks of factors elements along the axes; one factor holds
// for all. Blocks at the end of an axis that it does not fill are means of fewer. Means
// of integers are float64.
func Downsample(site graph.Site, a op.Lengths) (*graph.Node, error) {
	x, factors := a.X, a.Lengths
	const name = "downsample"
	f, err := window.Each("factors", factors, len(x.Shape))
	if err != nil {
		return nil, graph.Reject(site, name, err, x)
	}
	shape := make([]int, len(x.Shape))
	args := make([]string, len(shape))
	for d, n := range x.Shape {
		if f[d] < 1 {
			return nil, graph.Reject(site, name, fmt.Errorf("the factor %d along axis %d is below one", f[d], d), x)
		}
		f[d] = min(f[d], max(n, 1))
		shape[d] = (n + f[d] - 1) / f[d]
		args[d] = fmt.Sprint(f[d])
	}
	result := kernel.Mean.Result(x.DType)
	return graph.NewBlockwise(site, name, Downsampled{Shape: x.Shape, DType: x.DType, Result: result, Factors: f}, shape, result, []*graph.Node{x}, args...)
}

// Formula adds up in the order that Fill does. There is none where blocks at an end are of
// fewer elements than the others.
func (o Downsampled) Formula(shape []int) *blockwise.Formula {
	n := grid.Size(o.Factors)
	last := len(shape) - 1
	if o.DType.Kind() == dtype.KindComplex || n > blockwise.MaxTerms/4 || last < 0 {
		return nil
	}
	for d, by := range o.Factors {
		if o.Shape[d]%by != 0 {
			return nil
		}
	}
	f := &blockwise.Formula{Windows: []blockwise.Window{{Border: window.Inside{}, Type: o.DType, Axis: grid.UpTo(len(shape)), Step: o.Factors, Extent: o.Factors}}}
	zero := f.Number(dtype.Float64, 0)
	total := zero
	for row := range window.Counting(o.Factors[:last]) {
		sum := zero
		for i := range o.Factors[last] {
			x := f.Tap(0, append(slices.Clone(row), i)...)
			sum = f.Apply(kernel.Add, sum, f.Cast(x, dtype.Float64))
		}
		total = f.Apply(kernel.Add, total, sum)
	}
	f.Result = f.Cast(f.Apply(kernel.Divide, total, f.Number(dtype.Float64, float64(n))), o.Result)
	return f
}
