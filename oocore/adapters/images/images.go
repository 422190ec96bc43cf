// Package images brings pictures to arrays larger than memory, and back. Importing it makes
// oocore.Open and oocore.OpenStack read PNG and JPEG files:
//
//	import "github.com/gonbext/gonbext/oocore/adapters/images"
//
//	frames := oocore.OpenStack("frames/*.png", 0)   // frames × H × W × 3 uint8
//	x := images.From(m)                             // an image.Image as an array
//	m, err := images.Image(ctx, x)                  // an array as an image.Image
//
// Arrays are as Pillow and imageio have them: grey pictures H × W, others H × W × channels, which are
// red, green and blue, and alpha where the file has it, not premultiplied; grey with alpha has two
// channels. Elements are uint8, or uint16 of pictures with 16 bits a channel. Colours of a palette are
// looked up; fewer than 8 bits of grey are scaled to 8. JPEG files are decoded by image/jpeg, whose
// elements differ from libjpeg's by its rounding and by how it interpolates colours.
//
// A picture is decoded whole, once for each task that reads it at a time: the plan counts that memory,
// which the file's header tells.
package images

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// From returns a picture as an array of its own type's channels: grey ones have no axis of channels,
// those with alpha four, other ones three. It copies the elements.
func From(m image.Image) *oocore.Array {
	site := graph.Caller()
	rejected := func(err error) *oocore.Array {
		return door.Made[oocore.Array](nil, &oocore.Error{Op: "array", Site: site, Err: err})
	}
	if m == nil {
		return rejected(errors.New("the image.Image is nil"))
	}
	l := layoutOf(m)
	if err := grid.Check(l.shape(), l.dtype.Size()); err != nil {
		return rejected(err)
	}
	data := make([]byte, grid.Size(l.shape())*l.dtype.Size())
	row, at := l.rowBytes(), sampler(m)
	for y := range l.height {
		l.row(data[y*row:][:row], at, y)
	}
	return door.Made[oocore.Array](graph.FromBytes(site, data, l.dtype, l.shape()...))
}

// Image computes an array of uint8 or uint16 into a picture, by oocore.Collect: the picture is part of
// the budget. H × W becomes an *image.Gray or *image.Gray16, H × W × 1 too; H × W × 3, and with alpha
// H × W × 2 and H × W × 4, an *image.NRGBA or *image.NRGBA64. png.Encode writes either.
func Image(ctx context.Context, a *oocore.Array, opts ...oocore.Option) (image.Image, error) {
	if err := a.Err(); err != nil {
		return nil, err
	}
	shape, t := a.Shape(), a.DType()
	reject := func(format string, args ...any) (image.Image, error) {
		return nil, &oocore.Error{Op: "collect", Shapes: [][]int{shape}, Types: []oocore.DType{t}, Site: graph.Caller(), Err: fmt.Errorf(format, args...)}
	}
	var most any // of a channel
	switch t {
	case dtype.Uint8:
		most = uint8(255)
	case dtype.Uint16:
		most = uint16(65535)
	default:
		return reject("a picture has elements of uint8 or uint16: bring the values to 0 to 255, such as by Mul(255), and AsType(oocore.Uint8)")
	}
	channels := 1
	switch {
	case len(shape) == 3:
		channels = shape[2]
	case len(shape) != 2:
		return reject("a picture is H × W or H × W × channels")
	}
	channel := func(c int) *oocore.Array { return a.Slice(fmt.Sprintf(":, :, %d:%d", c, c+1)) }
	switch channels {
	case 1, 4:
	case 2:
		a = oocore.Concatenate(2, channel(0), channel(0), channel(0), channel(1))
	case 3:
		a = oocore.Concatenate(2, a, oocore.Full(most, shape[0], shape[1], 1))
	default:
		return reject("a picture has 1 to 4 channels along its last axis, not %d", channels)
	}
	r := image.Rect(0, 0, shape[1], shape[0])
	if t == dtype.Uint8 {
		pix, err := oocore.Collect[uint8](ctx, a, opts...)
		switch {
		case err != nil:
			return nil, err
		case channels == 1:
			return &image.Gray{Pix: pix, Stride: shape[1], Rect: r}, nil
		}
		return &image.NRGBA{Pix: pix, Stride: 4 * shape[1], Rect: r}, nil
	}
	elements, err := oocore.Collect[uint16](ctx, a, opts...)
	if err != nil {
		return nil, err
	}
	pix := dtype.Bytes(elements)
	kernel.Swap(pix, 2) // image has them big-endian
	if channels == 1 {
		return &image.Gray16{Pix: pix, Stride: 2 * shape[1], Rect: r}, nil
	}
	return &image.NRGBA64{Pix: pix, Stride: 8 * shape[1], Rect: r}, nil
}

// layout is how a picture is an array.
type layout struct {
	height, width int
	channels      int // 1 without an axis of channels
	dtype         dtype.Type
}

// layoutOf returns that of a picture by its type alone, and by the colours of a palette.
func layoutOf(m image.Image) layout {
	l := layout{height: m.Bounds().Dy(), width: m.Bounds().Dx(), channels: 4, dtype: dtype.Uint16}
	switch m := m.(type) {
	case *image.Gray:
		l.channels, l.dtype = 1, dtype.Uint8
	case *image.Gray16:
		l.channels = 1
	case *image.YCbCr, *image.CMYK:
		l.channels, l.dtype = 3, dtype.Uint8
	case *image.NRGBA, *image.RGBA, *image.NYCbCrA:
		l.dtype = dtype.Uint8
	case *image.Paletted:
		l.channels, l.dtype = ofPalette(m.Palette), dtype.Uint8
	}
	return l
}

// ofPalette is how many channels the colours of a palette need.
func ofPalette(p color.Palette) int {
	if slices.ContainsFunc(p, func(c color.Color) bool { _, _, _, a := c.RGBA(); return a != 0xffff }) {
		return 4
	}
	return 3
}

func (l layout) shape() []int {
	if l.channels == 1 {
		return []int{l.height, l.width}
	}
	return []int{l.height, l.width, l.channels}
}

func (l layout) rowBytes() int { return l.width * l.channels * l.dtype.Size() }

// channels are, of red, green, blue and alpha, those that arrays of 1 to 4 channels have.
var channels = [...][]int{1: {0}, 2: {0, 3}, 3: {0, 1, 2}, 4: {0, 1, 2, 3}}

// row fills dst with a row of a picture.
func (l layout) row(dst []byte, at func(x, y int) [4]uint16, y int) {
	take, i := channels[l.channels], 0
	wide := l.dtype == dtype.Uint16
	for x := range l.width {
		c := at(x, y)
		for _, k := range take {
			if wide {
				dtype.Slice[uint16](dst)[i] = c[k]
			} else {
				dst[i] = byte(c[k])
			}
			i++
		}
	}
}

// sampler returns a picture's red, green, blue and alpha, not premultiplied, in as many bits as
// layoutOf says. The first row and column are 0.
func sampler(m image.Image) func(x, y int) [4]uint16 {
	from := m.Bounds().Min
	narrow := func(c color.Color) [4]uint16 {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		return [4]uint16{uint16(n.R), uint16(n.G), uint16(n.B), uint16(n.A)}
	}
	wide := func(c color.Color) [4]uint16 {
		n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
		return [4]uint16{n.R, n.G, n.B, n.A}
	}
	var at func(x, y int) [4]uint16
	switch m := m.(type) {
	case *image.Gray:
		at = func(x, y int) [4]uint16 { return [4]uint16{uint16(m.GrayAt(x, y).Y)} }
	case *image.Gray16:
		at = func(x, y int) [4]uint16 { return [4]uint16{m.Gray16At(x, y).Y} }
	case *image.NRGBA:
		at = func(x, y int) [4]uint16 {
			c := m.NRGBAAt(x, y)
			return [4]uint16{uint16(c.R), uint16(c.G), uint16(c.B), uint16(c.A)}
		}
	case *image.RGBA:
		at = func(x, y int) [4]uint16 {
			c := m.RGBAAt(x, y)
			if c.A != 255 {
				return narrow(c)
			}
			return [4]uint16{uint16(c.R), uint16(c.G), uint16(c.B), 255}
		}
	case *image.NRGBA64:
		at = func(x, y int) [4]uint16 {
			c := m.NRGBA64At(x, y)
			return [4]uint16{c.R, c.G, c.B, c.A}
		}
	case *image.RGBA64:
		at = func(x, y int) [4]uint16 {
			c := m.RGBA64At(x, y)
			if c.A != 65535 {
				return wide(c)
			}
			return [4]uint16{c.R, c.G, c.B, c.A}
		}
	case *image.Paletted:
		colours := make([][4]uint16, 256)
		for i, c := range m.Palette {
			colours[i] = narrow(c)
		}
		at = func(x, y int) [4]uint16 { return colours[m.ColorIndexAt(x, y)] }
	case *image.YCbCr:
		at = func(x, y int) [4]uint16 {
			c := m.YCbCrAt(x, y)
			r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
			return [4]uint16{uint16(r), uint16(g), uint16(b), 255}
		}
	case *image.CMYK, *image.NYCbCrA:
		at = func(x, y int) [4]uint16 { return narrow(m.At(x, y)) }
	default:
		at = func(x, y int) [4]uint16 { return wide(m.At(x, y)) }
	}
	return func(x, y int) [4]uint16 { return at(from.X+x, from.Y+y) }
}
