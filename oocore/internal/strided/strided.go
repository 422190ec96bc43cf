// Package strided computes where the elements of a region lie in an array that is dense and
// in C order, as equal runs of bytes at regular distances, and copies them.
package strided

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/grid"
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
		group = int(min(room/stride+1, int64(outer.Count)))
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
