package order

import (
	"strconv"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/index"
)

// SortedBy returns the elements of each line along an axis in the order of their keys, uint64 in
// the same shape. Lines of up to a million elements take the passes of Argsort and of
// TakeAlong; longer ones two that read and two that write, of 16 bytes for an element, or
// 32 for one of complex128, and from about 250 million elements on each once more.
func SortedBy(site graph.Site, name string, n, keys *graph.Node, axis int) (*graph.Node, error) {
	n, axis, err := strong(site, name, n, axis)
	if err != nil {
		return nil, err
	}
	s := Sorting{Type: dtype.Uint64, With: n.DType}
	if length := n.Shape[axis]; grid.Size(n.Shape) == 0 || length <= newLine(length, s).Row {
		at, err := Argsort(site, SortArgs{X: keys, Axis: axis})
		if err != nil {
			return nil, err
		}
		return index.TakeAlong(site, n, at, axis)
	}
	there, _ := toLast(len(n.Shape), axis)
	if keys, err = graph.Transpose(site, keys, there...); err != nil {
		return nil, err
	}
	return along(site, n, axis, func(n *graph.Node) (*graph.Node, error) {
		return external(site, name, []*graph.Node{keys, n}, s, strconv.Itoa(axis))
	})
}

// carriers are records of keys of 64 bits, each with an element that carry gives it.
func carriers(size int, c class) records {
	if size > 8 {
		return list[quad]{fillQuads, emptyValues128, sortQuads, quad.less}
	}
	return list[pair]{fillPositions(dtype.Uint64, c), emptyCarriers(size), sortPairs, lessPair}
}

func fillQuads(dst []quad, src []byte, at, step int, _ int64) {
	for i := range dst {
		dst[i] = quad{high: view[uint64](src)[at+i*step]}
	}
}

// carry gives records their elements.
func carry(records, elements []byte, size int) {
	kernel.BySize(size, load[uint8], load[uint16], load[uint32], load[uint64], loadQuads)(records, elements)
}

func load[W word](records, elements []byte) {
	all := view[pair](records)
	for i, e := range view[W](elements)[:len(all)] {
		all[i].with = uint64(e)
	}
}

func loadQuads(records, elements []byte) {
	parts := view[uint64](elements)
	for i, all := 0, view[quad](records); i < len(all); i++ {
		all[i].with, all[i].also = parts[2*i], parts[2*i+1]
	}
}

func emptyCarriers(size int) func(dst []byte, at, step int, src []pair) {
	return kernel.BySize(size, unload[uint8], unload[uint16], unload[uint32], unload[uint64])
}

func unload[W word](bytes []byte, at, step int, src []pair) {
	dst := view[W](bytes)
	for i := range src {
		dst[at+i*step] = W(src[i].with)
	}
}
