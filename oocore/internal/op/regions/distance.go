package regions

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("distance", Distances{}, blockwise.Exact, blockwise.KeepsAxes) }

// DistanceArgs are the arguments of distance_transform_edt. Sampling is the distance of neighbours along each axis, or
// along all; none is 1.
type DistanceArgs struct {
	X        *graph.Node
	Sampling []float64 `word:"1,0.5"`
}

// DistanceTransform is scipy.ndimage.distance_transform_edt: how far each element that is not zero is from the nearest that
// is, exactly. Infinite where none is.
func DistanceTransform(site graph.Site, a DistanceArgs) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "distance_transform_edt", a.X)
	dims := len(a.X.Shape)
	by, err := window.Each("distances of neighbours", append(slices.Clone(a.Sampling), 1)[:max(len(a.Sampling), 1)], dims)
	switch {
	case err != nil:
		return nil, err
	case slices.ContainsFunc(by, func(v float64) bool { return !(v > 0 && v < 1e100) }):
		return nil, fmt.Errorf("distances of neighbours are positive, not %v", by)
	}
	m := &graph.Maker{Site: site}
	out := m.Cast(m.Apply(kernel.Where, m.Apply(kernel.NotEqual, a.X, m.Number(0)), m.Number(math.Inf(1)), m.Number(0.0)), dtype.Float64)
	for d := dims - 1; d >= 0 && grid.Size(a.X.Shape) > 0; d-- {
		out = m.Blockwise("distance", Distances{a.X.Shape, d, by[d]}, a.X.Shape, dtype.Float64, []*graph.Node{out}, fmt.Sprintf("axis %d", d))
	}
	return m.Apply(kernel.Sqrt, out), m.Err
}

// Distances are the least sums, along an axis, of an element and the square of its distance: of squares of distances along
// other axes those along this one too. Each element stands for a parabola; those that are lowest somewhere are kept in a
// list (P. Felzenszwalb and D. Huttenlocher, Distance Transforms of Sampled Functions, Theory of Computing 2012).
type Distances struct {
	Shape []int
	Axis  int
	By    float64 // the distance of neighbours
}

// Chunks are whole lines, about 4 MiB of them.
func (o Distances) Chunks() []int {
	lines := slices.Clone(o.Shape)
	lines[o.Axis] = 1
	chunks := grid.Auto(lines, 8*o.Shape[o.Axis], 4<<20)
	chunks[o.Axis] = o.Shape[o.Axis]
	return chunks
}

// Requirements is a line, and the list of parabolas.
func (o Distances) Requirements(box []int) blockwise.Requirements {
	return blockwise.Requirements{Reads: [][]int{box}, Scratch: int64(3 * 8 * o.Shape[o.Axis]), Work: 12 * int64(grid.Size(box))}
}

// Fill computes line by line.
func (o Distances) Fill(ctx context.Context, t *blockwise.Task) error {
	return t.ComputeFrom(ctx, 0, t.Box, t.Dst, func() error {
		all, n := dtype.Slice[float64](t.Dst), o.Shape[o.Axis]
		inner := grid.Size(t.Box.Shape[o.Axis+1:])
		work := dtype.Slice[float64](t.Scratch)
		f, z, v := work[:n], work[n:2*n], dtype.Slice[int64](t.Scratch[16*n:])
		for first := 0; first < len(all); first += n * inner {
			for i := range inner {
				for k := range f {
					f[k] = all[first+k*inner+i]
				}
				o.lowest(all[first+i:], inner, f, z, v)
			}
		}
		return nil
	})
}

// lowest writes the least sums of a line f. Parabola v[i] is the lowest from z[i] on.
func (o Distances) lowest(out []float64, stride int, f, z []float64, v []int64) {
	square := o.By * o.By
	count := 0
	for q, height := range f {
		if math.IsInf(height, 1) {
			continue
		}
		begin := math.Inf(-1)
		for count > 0 {
			p := int(v[count-1])
			begin = ((height-f[p])/square + float64((q-p)*(q+p))) / float64(2*(q-p))
			if begin > z[count-1] {
				break
			}
			count, begin = count-1, math.Inf(-1)
		}
		v[count], z[count] = int64(q), begin
		count++
	}
	if count == 0 {
		return
	}
	k := 0
	for q := range f {
		for k+1 < count && z[k+1] <= float64(q) {
			k++
		}
		away := o.By * float64(q-int(v[k]))
		out[q*stride] = f[v[k]] + away*away
	}
}
