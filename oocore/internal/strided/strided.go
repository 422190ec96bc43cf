// Package strided computes where the elements of a region lie in an array that is dense and
// in C order, as equal runs of bytes at regular distances, and copies them.
package strided

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// Layout is a region's elements in order: for every index of the axes, the last
// one fastest, a run of Run bytes. Axes of length one are folded into Start and
// neighbours that make one regular sequence are merged, so that a region
// without gaps has no axes at all.
type Layout struct {
	Start int64 // of the first run, in bytes from the array's first element
	Run   int   // bytes
	Axes  []Axis
	item  int // bytes of an element
}

// Axis is Count runs, or groups of runs, that lie Stride bytes apart; Stride is
// negative where the region goes backwards.
type Axis struct {
	Count  int
	Stride int64
}

// Of lays out a region of an array. It rejects one that reaches beyond the
// array.
func Of(shape []int, itemsize int, r grid.Region) (Layout, error) {
	return Apart(shape, nil, itemsize, r)
}

// Apart is Of, for an array whose elements lie so many elements apart along each axis; nil for those of a dense one.
func Apart(shape []int, strides []int64, itemsize int, r grid.Region) (Layout, error) {
	if err := check(shape, r); err != nil {
		return Layout{}, err
	}
	l := Layout{Run: itemsize, item: itemsize}
	if r.Size() == 0 {
		l.Run = 0
		return l, nil
	}
	stride := int64(itemsize)
	reversed := make([]Axis, 0, len(shape)) // inner axes first
	for d := len(shape) - 1; d >= 0; d-- {
		if strides != nil {
			stride = strides[d] * int64(itemsize)
		}
		l.Start += int64(r.Start[d]) * stride
		if r.Count[d] > 1 {
			a := Axis{r.Count[d], stride * int64(r.Step[d])}
			switch n := len(reversed); {
			case n == 0 && a.Stride == int64(l.Run):
				l.Run *= a.Count
			case n > 0 && a.Stride == reversed[n-1].Stride*int64(reversed[n-1].Count):
				reversed[n-1].Count *= a.Count
			default:
				reversed = append(reversed, a)
			}
		}
		stride *= int64(shape[d])
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	l.Axes = reversed
	return l, nil
}

// ForRegion is Of, for a buffer of so many bytes that a region fills.
func ForRegion(shape []int, itemsize int, r grid.Region, buffer int) (Layout, error) {
	l, err := Of(shape, itemsize, r)
	if err == nil && l.Bytes() != buffer {
		err = fmt.Errorf("the region has %d bytes, the buffer %d", l.Bytes(), buffer)
	}
	return l, err
}

// ForBox is Of, for a buffer of so many bytes that fills a box.
func ForBox(shape []int, itemsize int, b grid.Box, buffer int) (Layout, error) {
	l, err := Of(shape, itemsize, b.Region())
	if err == nil && l.Bytes() != buffer {
		err = fmt.Errorf("the box %s has %d bytes, the buffer %d", b, l.Bytes(), buffer)
	}
	return l, err
}

func check(shape []int, r grid.Region) error {
	if len(r.Start) != len(shape) || len(r.Count) != len(shape) || len(r.Step) != len(shape) {
		return fmt.Errorf("region of %d dimensions asked of shape %s", len(r.Count), grid.Format(shape))
	}
	for d, n := range shape {
		if r.Step[d] == 0 || r.Count[d] < 0 {
			return fmt.Errorf("region has count %d and step %d along axis %d", r.Count[d], r.Step[d], d)
		}
		if r.Count[d] == 0 {
			continue
		}
		last := r.Start[d] + (r.Count[d]-1)*r.Step[d]
		if low, high := min(r.Start[d], last), max(r.Start[d], last); low < 0 || high >= n {
			return fmt.Errorf("region reaches from %d to %d along axis %d of shape %s", low, high, d, grid.Format(shape))
		}
	}
	return nil
}

// Inside reports that a box is a part of another.
func Inside(b, outer grid.Box) bool {
	if len(b.Start) != len(outer.Start) {
		return false
	}
	for d := range b.Start {
		if b.Start[d] < outer.Start[d] || b.Start[d]+b.Shape[d] > outer.Start[d]+outer.Shape[d] {
			return false
		}
	}
	return true
}

// Bytes is the size of the region's elements.
func (l Layout) Bytes() int {
	n := l.Run
	for _, a := range l.Axes {
		n *= a.Count
	}
	return n
}

// Span is where the layout's bytes lie: from the lowest to the end of the
// highest.
func (l Layout) Span() (from, to int64) {
	from, to = l.Start, l.Start+int64(l.Run)
	for _, a := range l.Axes {
		reach := int64(a.Count-1) * a.Stride
		from += min(reach, 0)
		to += max(reach, 0)
	}
	return from, to
}

// Runs calls yield with the start of every run, in the region's order, until it
// returns false.
func (l Layout) Runs(yield func(at int64) bool) {
	if l.Run > 0 {
		runs(l.Axes, l.Start, yield)
	}
}

func runs(axes []Axis, at int64, yield func(int64) bool) bool {
	if len(axes) == 0 {
		return yield(at)
	}
	for range axes[0].Count {
		if !runs(axes[1:], at, yield) {
			return false
		}
		at += axes[0].Stride
	}
	return true
}

// Split cuts the layout into layouts whose spans are at most span bytes, or
// that are a single run, in the region's order.
func (l Layout) Split(span int64, yield func(Layout) bool) bool {
	from, to := l.Span()
	if len(l.Axes) == 0 || to-from <= span {
		return yield(l)
	}
	outer := l.Axes[0]
	inner := Layout{Start: l.Start, Run: l.Run, Axes: l.Axes[1:], item: l.item}
	stride := max(outer.Stride, -outer.Stride)
	from, to = inner.Span()
	group := 1 // this many steps of the outer axis fit together
	if room := span - (to - from); room > 0 {
		group = int(min(room/max(stride, 1)+1, int64(outer.Count)))
	}
	for i := 0; i < outer.Count; i += group {
		part := inner
		part.Start += int64(i) * outer.Stride
		if n := min(group, outer.Count-i); n > 1 {
			part.Axes = append([]Axis{{n, outer.Stride}}, inner.Axes...)
		}
		if !part.Split(span, yield) {
			return false
		}
	}
	return true
}

// Copy copies the elements of a box between two others that it is part of, whose own elements
// dst and src have in C order.
func Copy(size int, part grid.Box, dst []byte, to grid.Box, src []byte, from grid.Box) {
	var ints [2 * grid.MaxDims]int // on the stack
	n := len(part.Shape)
	toStrides, fromStrides := ints[:n], ints[grid.MaxDims:][:n]
	for d, i, j := n-1, 1, 1; d >= 0; d-- {
		toStrides[d], fromStrides[d] = i, j
		i, j = i*to.Shape[d], j*from.Shape[d]
	}
	kernel.Copy(size, part.Shape, dst, grid.Offset(part.Start, to), toStrides, src, grid.Offset(part.Start, from), fromStrides)
}

// Gather copies the region's elements from src to dst, where they are dense.
// src[0] is byte at of the array.
func (l Layout) Gather(dst, src []byte, at int64) {
	shape, dense, apart, skip := l.strides(at)
	kernel.Copy(l.item, shape, dst, 0, dense, src[skip:], apart[0], apart[1:])
}

// Scatter copies dense elements from src to the region's places in dst. dst[0]
// is byte at of the array.
func (l Layout) Scatter(dst, src []byte, at int64) {
	shape, dense, apart, skip := l.strides(at)
	kernel.Copy(l.item, shape, dst[skip:], apart[0], apart[1:], src, 0, dense)
}

// strides describes the layout in elements, for memory that begins at byte at
// of the array: the dense strides, and behind the place of the first element
// those that leave gaps. An array need not begin at a multiple of its elements'
// size in a file; skip is the number of bytes up to the first such place.
func (l Layout) strides(at int64) (shape, dense, apart []int, skip int) {
	n := len(l.Axes)
	ints := make([]int, 3*(n+1)+1)
	shape, dense, apart = ints[:n+1], ints[n+1:2*(n+1)], ints[2*(n+1):]
	skip = int((l.Start - at) % int64(l.item))
	apart[0] = int(l.Start-at) / l.item
	for i, a := range l.Axes {
		shape[i], apart[i+1] = a.Count, int(a.Stride)/l.item
	}
	shape[n], apart[n+1] = l.Run/l.item, 1
	for i, size := n, 1; i >= 0; i-- {
		dense[i] = size
		size *= shape[i]
	}
	return shape, dense, apart, skip
}
