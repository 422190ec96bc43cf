// Package nn has the layers of a forward pass: convolution and pooling of images, and
// compositions of other operations, which are fused with the operations around them.
package nn

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Window slides over the last two axes of images, between zeros of padding.
type Window struct {
	Kernel, Stride, Padding, Dilation [2]int // along rows and columns
	Image                             [2]int // lengths of the axes
}

// NewWindow is a window that is one image and kernel's; a zero stride or dilation is 1.
func NewWindow(image, kernel, stride, padding, dilation [2]int) (Window, error) {
	w := Window{Kernel: kernel, Stride: stride, Padding: padding, Dilation: dilation, Image: image}
	const most = 1 << 30 // so that places in an image never overflow
	for d := range 2 {
		if w.Stride[d] == 0 {
			w.Stride[d] = 1
		}
		if w.Dilation[d] == 0 {
			w.Dilation[d] = 1
		}
		switch {
		case w.Kernel[d] < 1 || w.Stride[d] < 1 || w.Dilation[d] < 1 || w.Padding[d] < 0:
			return w, fmt.Errorf("a kernel of %s, strides %v, padding %v and dilation %v: all are 1 or more, the padding 0 or more", grid.Format(kernel[:]), stride, padding, dilation)
		case w.Kernel[d] > most || w.Stride[d] > most || w.Dilation[d] > most/w.Kernel[d] || w.Padding[d] > most:
			return w, fmt.Errorf("a kernel of %s, strides %v, padding %v and dilation %v reach further than any image", grid.Format(kernel[:]), stride, padding, dilation)
		case w.span(d) > image[d]+2*w.Padding[d]:
			return w, fmt.Errorf("a kernel that spans %d elements is larger than an axis of %d with padding of %d: pad more, or dilate less", w.span(d), image[d], w.Padding[d])
		}
	}
	return w, nil
}

// span is the elements from a window's first to its last.
func (w Window) span(d int) int { return (w.Kernel[d]-1)*w.Dilation[d] + 1 }

// out is the number of places of the window.
func (w Window) out(d int) int { return (w.Image[d]+2*w.Padding[d]-w.span(d))/w.Stride[d] + 1 }

// seen are the elements that n places of the window show at most.
func (w Window) seen(d, n int) int {
	return min((n-1)*w.Stride[d]+w.span(d), w.Image[d])
}

// shows are the elements of the image that n places from one on show, without padding.
func (w Window) shows(d, from, n int) (start, count int) {
	first := from*w.Stride[d] - w.Padding[d]
	end := min(first+(n-1)*w.Stride[d]+w.span(d), w.Image[d])
	start = min(max(first, 0), w.Image[d])
	return start, max(end-start, 0)
}

// inside are the places among n from one on where element k of the kernel lies in the
// image: [lo, hi), counted from the first.
func (w Window) inside(d, k, from, n int) (lo, hi int) {
	at := from*w.Stride[d] - w.Padding[d] + k*w.Dilation[d] // in the image, of the first place
	s := w.Stride[d]
	if at < 0 {
		lo = min((-at+s-1)/s, n)
	}
	if last := w.Image[d] - 1 - at; last >= 0 {
		hi = min(last/s+1, n)
	}
	return lo, max(lo, hi)
}

// computed brings a real array to the float type that a layer computes in, and says
// which type its result has: float32 for 16-bit floats, float64 for integers.
func computed(site graph.Site, x *graph.Node) (wide *graph.Node, result dtype.Type, err error) {
	t, result := x.DType, x.DType
	switch {
	case t.Kind() == dtype.KindComplex:
		return nil, t, fmt.Errorf("is not defined for %s", t)
	case t.Kind() < dtype.KindFloat:
		t, result = dtype.Float64, dtype.Float64
	case t.Short():
		t = dtype.Float32
	}
	wide, err = graph.AsType(site, x, t)
	return wide, result, err
}
