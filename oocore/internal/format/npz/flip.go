package npz

import (
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// ascending is the same elements as a region's, all axes from their lowest index
// on.
func ascending(r grid.Region) grid.Region {
	a := grid.Region{Start: slices.Clone(r.Start), Count: r.Count, Step: slices.Clone(r.Step)}
	for d, step := range a.Step {
		if step < 0 {
			a.Start[d] += max(a.Count[d]-1, 0) * step
			a.Step[d] = -step
		}
	}
	return a
}

// reverse turns a dense array around along an axis, in place.
func reverse(b []byte, shape []int, axis, itemsize int, scratch []byte) {
	inner := itemsize * grid.Size(shape[axis+1:])
	n := shape[axis]
	for outer := range grid.Size(shape[:axis]) {
		slab := b[outer*n*inner:][:n*inner]
		for i := range n / 2 {
			swap(slab[i*inner:][:inner], slab[(n-1-i)*inner:][:inner], scratch)
		}
	}
}

func swap(a, b, scratch []byte) {
	for len(a) > 0 {
		n := copy(scratch, a)
		copy(a, b[:n])
		copy(b, scratch[:n])
		a, b = a[n:], b[n:]
	}
}
