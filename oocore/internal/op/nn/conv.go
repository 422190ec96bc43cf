package nn

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/window"
)

func init() { blockwise.Register("conv2d", Conv{}) }

// Conv is the convolution of images with weights, both float32 or float64, as a product
// of matrices: what the window shows at some places, by the weights. It reads the images
// of a box one after the other, and the weights once.
type Conv struct {
	Window
	Channels, Filters, Groups int // of the images, of the result, in which they are apart
	Type                      dtype.Type
}

// columnBytes is about what a matrix of what the window shows takes.
const columnBytes = 512 << 10

// tapBytes are the weights, in bytes, that a core multiplies with what the window shows in
// a nanosecond.
const tapBytes = 100

// taps is how many products an element is the sum of.
func (c Conv) taps() int { return c.Channels / c.Groups * c.Kernel[0] * c.Kernel[1] }

// groups are those that n filters belong to at most.
func (c Conv) groups(n int) int {
	each := max(c.Filters/c.Groups, 1)
	return min((n+each-2)/each+1, c.Groups)
}

// reads are the lengths of the largest boxes of the images and of the weights.
func (c Conv) reads(box []int) (images, weights []int) {
	of := c.Channels / c.Groups
	return []int{1, c.groups(box[1]) * of, c.seen(0, box[2]), c.seen(1, box[3])}, []int{box[1], of, c.Kernel[0], c.Kernel[1]}
}

// columns is how many places are brought into a matrix at once.
func (c Conv) columns(places int) int {
	return min(max(columnBytes/max(c.taps()*c.Type.Size(), 1), 32), places)
}

func (c Conv) layout(m *blockwise.ScratchLayout, box []int) (image, weights, columns, work []byte) {
	images, filters := c.reads(box)
	size, n := c.Type.Size(), c.columns(box[2]*box[3])
	return m.Take(grid.Size(images) * size), m.Take(grid.Size(filters) * size), m.Take(c.taps() * n * size),
		m.Take(int(kernel.GemmWork(c.Type, box[1], n, c.taps())))
}

// Requirements is one image of the box with what the window reaches beyond, the weights of the
// box's filters, and about 0.5 MiB of columns.
func (c Conv) Requirements(box []int) blockwise.Requirements {
	var m blockwise.ScratchLayout
	c.layout(&m, box)
	images, weights := c.reads(box)
	work := int64(grid.Size(box)) * int64(c.taps()) * int64(c.Type.Size()) / tapBytes
	return blockwise.Requirements{Reads: [][]int{images, weights}, Scratch: m.Size(), Work: work}
}

// Fill computes a box.
func (c Conv) Fill(ctx context.Context, t *blockwise.Task) error {
	clear(t.Dst)
	box, size := t.Box, c.Type.Size()
	if box.Size() == 0 || c.taps() == 0 {
		return nil
	}
	image, weights, columns, work := c.layout(t.ScratchLayout(), box.Shape)
	of, each := c.Channels/c.Groups, c.Filters/c.Groups
	if err := t.In[1].Read(ctx, grid.Box{Start: []int{box.Start[1], 0, 0, 0}, Shape: []int{box.Shape[1], of, c.Kernel[0], c.Kernel[1]}}, weights); err != nil {
		return err
	}
	first, last := box.Start[1]/each, (box.Start[1]+box.Shape[1]-1)/each
	at := grid.Box{Start: []int{0, first * of, 0, 0}, Shape: []int{1, (last - first + 1) * of, 0, 0}}
	for d := range 2 {
		at.Start[2+d], at.Shape[2+d] = c.shows(d, box.Start[2+d], box.Shape[2+d])
	}
	image = image[:at.Size()*size]
	if len(image) == 0 {
		return nil // padding alone
	}
	result := len(t.Dst) / box.Shape[0]
	for n := range box.Shape[0] {
		at.Start[0] = box.Start[0] + n
		err := t.ComputeFrom(ctx, 0, at, image, func() error {
			dst := t.Dst[n*result:][:result]
			for g := first; g <= last; g++ {
				channels := image[(g-first)*of*at.Shape[2]*at.Shape[3]*size:]
				from, to := max(g*each, box.Start[1])-box.Start[1], min((g+1)*each, box.Start[1]+box.Shape[1])-box.Start[1]
				c.group(dst[from*box.Shape[2]*box.Shape[3]*size:], weights[from*c.taps()*size:], to-from, channels, at, box, columns, work)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// group computes some filters of one group for one image, of which src holds the group's
// channels at a box.
func (c Conv) group(dst, weights []byte, filters int, src []byte, at, box grid.Box, columns, work []byte) {
	places, size := box.Shape[2]*box.Shape[3], c.Type.Size()
	most := c.columns(places)
	for p := 0; p < places; p += most {
		n := min(most, places-p)
		b := columns[:c.taps()*n*size]
		clear(b)
		if c.Type == dtype.Float64 {
			gather(c, dtype.Slice[float64](b), dtype.Slice[float64](src), at, box, p, n)
		} else {
			gather(c, dtype.Slice[float32](b), dtype.Slice[float32](src), at, box, p, n)
		}
		kernel.GemmAlike(c.Type, filters, n, c.taps(), weights, c.taps(), b, n, dst[p*size:], places, work)
	}
}

// gather puts what the window shows at n places of a box from one on into the columns
// of a matrix, which has a row for each channel and element of the kernel.
func gather[T float32 | float64](c Conv, dst, src []T, at, box grid.Box, from, n int) {
	rows, cols := at.Shape[2], at.Shape[3]
	wide := box.Shape[3]
	for k := range c.taps() {
		x, y := k%c.Kernel[1], k/c.Kernel[1]%c.Kernel[0]
		channel := src[k/(c.Kernel[0]*c.Kernel[1])*rows*cols:][:rows*cols]
		out := dst[k*n:][:n]
		low, high := c.inside(1, x, box.Start[3], wide)
		for row := from / wide; row*wide < from+n; row++ {
			i := (box.Start[2]+row)*c.Stride[0] - c.Padding[0] + y*c.Dilation[0]
			if i < 0 || i >= c.Image[0] {
				continue
			}
			lo, hi := max(low, from-row*wide), min(high, from+n-row*wide)
			if lo >= hi {
				continue
			}
			line := channel[(i-at.Start[2])*cols:][:cols]
			j := (box.Start[3]+lo)*c.Stride[1] - c.Padding[1] + x*c.Dilation[1] - at.Start[3]
			to := out[row*wide+lo-from:][:hi-lo]
			if c.Stride[1] == 1 {
				copy(to, line[j:])
				continue
			}
			for p := range to {
				to[p] = line[j+p*c.Stride[1]]
			}
		}
	}
}

// ConvOptions are the less common arguments of Conv2D, along rows and columns. Zero
// strides, dilation and groups are 1.
type ConvOptions struct {
	Stride, Padding, Dilation [2]int
	Groups                    int
}

// Conv2D is PyTorch's conv2d: images (N, C, H, W), weights (O, C / groups, KH, KW) and
// a bias (O), which may be nil; the result is (N, O, OH, OW). Floats are added up in
// float32 or float64.
func Conv2D(site graph.Site, x, w, bias *graph.Node, o ConvOptions) (_ *graph.Node, err error) {
	defer graph.Named(&err, site, "conv2d", x, w)
	if len(x.Shape) != 4 || len(w.Shape) != 4 {
		return nil, fmt.Errorf("takes images (N, C, H, W) and weights (O, C, KH, KW), not shapes %s and %s", grid.Format(x.Shape), grid.Format(w.Shape))
	}
	if o.Groups == 0 {
		o.Groups = 1
	}
	c := Conv{Channels: x.Shape[1], Filters: w.Shape[0], Groups: o.Groups}
	if c.Groups < 1 || c.Channels%c.Groups != 0 || c.Filters%c.Groups != 0 {
		return nil, fmt.Errorf("%d groups do not divide %d channels and %d filters", c.Groups, c.Channels, c.Filters)
	}
	if w.Shape[1] != c.Channels/c.Groups {
		return nil, fmt.Errorf("weights of shape %s are for %d channels, and images of shape %s have %d in each of %d groups", grid.Format(w.Shape), w.Shape[1], grid.Format(x.Shape), c.Channels/c.Groups, c.Groups)
	}
	if bias != nil && (len(bias.Shape) != 1 || bias.Shape[0] != c.Filters) {
		return nil, fmt.Errorf("a bias of shape %s is not one number for each of %d filters", grid.Format(bias.Shape), c.Filters)
	}
	t := dtype.Promote(x.DType, w.DType)
	if t.Kind() != dtype.KindFloat {
		return nil, fmt.Errorf("takes floats, not %s and %s: bring them to float32 with AsType", x.DType, w.DType)
	}
	if c.Window, err = NewWindow([2]int(x.Shape[2:]), [2]int(w.Shape[2:]), o.Stride, o.Padding, o.Dilation); err != nil {
		return nil, err
	}
	c.Type = t
	if t.Short() {
		c.Type = dtype.Float32
	}
	m := &graph.Maker{Site: site}
	shape := []int{x.Shape[0], c.Filters, c.out(0), c.out(1)}
	out := m.Blockwise("conv2d", c, shape, c.Type, []*graph.Node{m.Cast(x, c.Type), m.Cast(w, c.Type)}, o.args()...)
	if bias != nil {
		out = m.Apply(kernel.Add, out, m.ExpandDims(m.Cast(bias, c.Type), 1, 2))
	}
	return m.Cast(out, t), m.Err
}

// args are what a title says.
func (o ConvOptions) args() []string {
	var out []string
	for _, a := range []struct {
		name  string
		value [2]int
		usual int
	}{{"stride", o.Stride, 1}, {"padding", o.Padding, 0}, {"dilation", o.Dilation, 1}} {
		if a.value != [2]int{} && a.value != [2]int{a.usual, a.usual} {
			out = append(out, fmt.Sprintf("%s %d×%d", a.name, a.value[0], a.value[1]))
		}
	}
	if o.Groups > 1 {
		out = append(out, fmt.Sprintf("groups %d", o.Groups))
	}
	return out
}

// Formula multiplies and adds up as kernel.GemmAlike does. There is none where several filters
// share one of several groups, nor where a window may show padding alone.
func (c Conv) Formula(shape []int) *blockwise.Formula {
	of := c.Channels / c.Groups
	const terms = 3 // of a product
	if c.Groups > 1 && c.Groups != c.Filters || of > blockwise.MaxTerms || c.Kernel[0] > blockwise.MaxTerms || c.Kernel[1] > blockwise.MaxTerms ||
		c.taps() > blockwise.MaxTerms/terms || c.Padding[0] >= c.span(0) || c.Padding[1] >= c.span(1) {
		return nil
	}
	pad := []int{0, 0, c.Padding[0], c.Padding[1]}
	image := window.Window{Shape: []int{shape[0], c.Channels, c.Image[0], c.Image[1]}, DType: c.Type, Lo: pad, Hi: pad, Mode: window.Constant, Value: dtype.FromFloat(c.Type, 0)}
	f := &blockwise.Formula{Windows: []blockwise.Window{
		{Border: window.Shown{Window: image}, Type: c.Type, Axis: []int{0, -1, 2, 3}, Step: []int{1, 1, c.Stride[0], c.Stride[1]}, Extent: []int{1, of, c.span(0), c.span(1)}},
		{Input: 1, Border: window.Inside{}, Type: c.Type, Axis: []int{1, -1, -1, -1}, Step: []int{1, 1, 1, 1}, Extent: []int{1, of, c.Kernel[0], c.Kernel[1]}},
	}}
	if c.Groups > 1 {
		f.Windows[0].Axis[1], f.Windows[0].Step[1] = 1, of
	}
	zero := f.Number(c.Type, 0)
	total, sum, k := zero, zero, 0
	for at := range window.Counting([]int{of, c.Kernel[0], c.Kernel[1]}) {
		x, weight := f.Tap(0, 0, at[0], at[1]*c.Dilation[0], at[2]*c.Dilation[1]), f.Tap(1, 0, at[0], at[1], at[2])
		sum = f.AddProduct(weight, x, sum)
		if k++; k%kernel.GemmBlock == 0 {
			total, sum = f.Apply(kernel.Add, total, sum), zero
		}
	}
	f.Result = f.Apply(kernel.Add, total, sum)
	return f
}
