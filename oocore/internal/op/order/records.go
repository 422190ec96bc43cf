package order

import (
	"cmp"
	"math"
	"unsafe"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

// records are elements on their way through a sort: a key, and with it the element's
// position or the element itself where the key does not give that back. All of one
// sort have one size.
type records interface {
	// size is the bytes of a record: 1, 2, 4, 8, 16 or 32.
	size() int
	// load makes records of n elements of src, each a step behind the one before; the
	// first is at position first. Where the step is 1 and records are as large as
	// elements, dst may be src.
	load(dst, src []byte, at, step, n int, first int64)
	// sort sorts, stably, records in a with the help of b; the result is in a or in b.
	sort(a, b []byte) []byte
	// merge brings sorted lists in order, of which list i is the records from from[i] to
	// to[i] of all, and records with equal keys are in the lists' order. The result is in
	// all or in b, which has as many records. It overwrites all, from and room, which
	// is of mergeRoom bytes.
	merge(all, b, room []byte, from, to []int64) []byte
	// store writes elements or positions, each a step behind the one before. dst may be
	// src where the step is 1 and records are as large.
	store(dst []byte, at, step int, src []byte)
	// samples are the last of each so many records.
	samples(dst, src []byte, every int)
	// first sorts the first k of all, of those with equal keys the first, to the
	// beginning of a, with the help of b; it overwrites the others.
	first(a, b []byte, k int)
	// split finds how many of each of several sorted lists are among the first `rank`
	// of all, those of an earlier list first where keys are equal. List i is the
	// records from from[i] to to[i] of all.
	split(all []byte, from, to []int64, rank int64, counts []int64)
}

// Sorting says what is sorted, and how.
type Sorting struct {
	Type       dtype.Type
	Positions  bool `json:",omitempty"` // where the elements come from, rather than they
	Descending bool `json:",omitempty"`
	// With is the type of the elements of another array that are brought into the order of
	// these, uint64; Invalid: it is these that are sorted.
	With dtype.Type `json:",omitempty"`
}

// result is the type of what is sorted.
func (s Sorting) result() dtype.Type {
	if s.With != dtype.Invalid {
		return s.With
	}
	if s.Positions {
		return dtype.Int64
	}
	return s.Type
}

// class is how elements become keys.
func (s Sorting) class() class {
	c := classOf(s.Type)
	c.zeros = s.Positions
	if s.Descending {
		c.flip = math.MaxUint64
		if s.Type == dtype.Bool {
			c.flip = 1
		}
	}
	return c
}

// records are those of elements of a line of n, or of their positions.
func (s Sorting) records(n int) records {
	t, c := s.Type, s.class()
	if s.With != dtype.Invalid {
		return carriers(s.With.Size(), c)
	}
	if s.Positions {
		switch t.Size() {
		case 1, 2, 4:
			if uint64(n) > 1<<32 {
				break
			}
			return newNumbered(c, t.Size())
		}
		if t == dtype.Complex128 {
			return list[quad]{fillPositions128(c.flip), emptyPositions128, sortQuads, quad.less}
		}
		return list[pair]{fillPositions(t, c), emptyPairs, sortPairs, lessPair}
	}
	switch t {
	case dtype.Complex64:
		return list[pair]{fillValues64(c.flip), emptyPairs, sortPairs, lessPair}
	case dtype.Complex128:
		return list[quad]{fillValues128(c.flip), emptyValues128, sortQuads, quad.less}
	}
	switch t.Size() {
	case 1:
		return newPlain[uint8](c)
	case 2:
		return newPlain[uint16](c)
	case 4:
		return newPlain[uint32](c)
	}
	return newPlain[uint64](c)
}

// plain are keys that give back their elements.
type plain[W word] struct{ list[W] }

func newPlain[W word](c class) records {
	return plain[W]{list[W]{
		func(dst []W, src []byte, at, step int, _ int64) { encode(c, dst, view[W](src), at, step, len(dst)) },
		func(dst []byte, at, step int, src []W) { decode(c, view[W](dst), at, step, src) },
		func(a, b []W) []W { return sortWords(a, b, 0) },
		cmp.Less[W],
	}}
}

func (plain[W]) merge(all, b, room []byte, from, to []int64) []byte {
	mergeWords(view[W](all), view[W](b), view[W](room), from, to)
	return b
}

// newNumbered are keys of so many bytes, at most four, above positions of 32 bits.
func newNumbered(c class, bytes int) records {
	return list[uint64]{
		func(dst []uint64, src []byte, at, step int, first int64) {
			kernel.BySize(bytes, number[uint8], number[uint16], number[uint32])(c, dst, src, at, step, uint64(first))
		},
		func(dst []byte, at, step int, src []uint64) {
			d := view[uint64](dst)
			for _, k := range src {
				d[at] = k & (1<<32 - 1)
				at += step
			}
		},
		func(a, b []uint64) []uint64 { return sortWords(a, b, 32) }, // positions of equal keys rise
		cmp.Less[uint64],
	}
}

func number[W word](c class, dst []uint64, bytes []byte, at, step int, first uint64) {
	src := view[W](bytes)
	var keys [256]W
	for i := 0; i < len(dst); i += len(keys) {
		n := min(len(keys), len(dst)-i)
		encode(c, keys[:], src, at+i*step, step, n)
		for k, key := range keys[:n] {
			dst[i+k] = uint64(key)<<32 | (first + uint64(i+k))
		}
	}
}

// list are records by what makes, gives back, sorts and compares them.
type list[T word | pair | quad] struct {
	fill   func(dst []T, src []byte, at, step int, first int64)
	empty  func(dst []byte, at, step int, src []T)
	sorted func(a, b []T) []T
	less   func(a, b T) bool
}

func (list[T]) size() int { var t T; return int(unsafe.Sizeof(t)) }

func (l list[T]) load(dst, src []byte, at, step, n int, first int64) {
	l.fill(view[T](dst)[:n], src, at, step, first)
}

func (l list[T]) sort(a, b []byte) []byte {
	if len(a) == 0 {
		return a
	}
	return bytesOf(l.sorted(view[T](a), view[T](b)))
}

func (l list[T]) merge(all, b, _ []byte, from, to []int64) []byte {
	return l.sort(gather(all, from, to, l.size()), b)
}

func (l list[T]) store(dst []byte, at, step int, src []byte) { l.empty(dst, at, step, view[T](src)) }

func (l list[T]) first(a, b []byte, k int) { first(view[T](a), view[T](b), k, l.less, l.sorted) }

func (l list[T]) samples(dst, src []byte, every int) { sample(view[T](dst), view[T](src), every) }

func (l list[T]) split(all []byte, from, to []int64, rank int64, counts []int64) {
	split(view[T](all), from, to, rank, counts, l.less)
}

func lessPair(a, b pair) bool { return a.key < b.key }

// fillPositions makes records of positions of elements whose key is one word.
func fillPositions(t dtype.Type, c class) func(dst []pair, src []byte, at, step int, first int64) {
	return func(dst []pair, src []byte, at, step int, first int64) {
		if t != dtype.Complex64 {
			kernel.BySize(t.Size(), fillPairs[uint8], fillPairs[uint16], fillPairs[uint32], fillPairs[uint64])(c, dst, src, at, step, first)
			return
		}
		for i := range dst {
			z := dtype.Slice[complex64](src)[at+i*step]
			dst[i] = pair{keys32(real(z), imag(z)) ^ c.flip, uint64(first) + uint64(i)}
		}
	}
}

func fillPairs[W word](c class, dst []pair, bytes []byte, at, step int, first int64) {
	src := view[W](bytes)
	var keys [256]W
	for i := 0; i < len(dst); i += len(keys) {
		n := min(len(keys), len(dst)-i)
		encode(c, keys[:], src, at+i*step, step, n)
		for k, key := range keys[:n] {
			dst[i+k] = pair{uint64(key), uint64(first) + uint64(i+k)}
		}
	}
}

func emptyPairs(dst []byte, at, step int, src []pair) {
	d := view[uint64](dst)
	for i := range src {
		d[at+i*step] = src[i].with
	}
}

func fillValues64(flip uint64) func(dst []pair, src []byte, at, step int, _ int64) {
	return func(dst []pair, src []byte, at, step int, _ int64) {
		for i := range dst {
			z := dtype.Slice[complex64](src)[at+i*step]
			dst[i] = pair{keys32(real(z), imag(z)) ^ flip, view[uint64](src)[at+i*step]}
		}
	}
}

func fillPositions128(flip uint64) func(dst []quad, src []byte, at, step int, first int64) {
	return func(dst []quad, src []byte, at, step int, first int64) {
		for i := range dst {
			z := dtype.Slice[complex128](src)[at+i*step]
			high, low := keys64(real(z), imag(z))
			dst[i] = quad{high ^ flip, low ^ flip, uint64(first) + uint64(i), 0}
		}
	}
}

func emptyPositions128(dst []byte, at, step int, src []quad) {
	d := view[uint64](dst)
	for i := range src {
		d[at+i*step] = src[i].with
	}
}

func fillValues128(flip uint64) func(dst []quad, src []byte, at, step int, _ int64) {
	return func(dst []quad, src []byte, at, step int, _ int64) {
		for i := range dst {
			z := dtype.Slice[complex128](src)[at+i*step]
			high, low := keys64(real(z), imag(z))
			parts := view[uint64](src)[2*(at+i*step):]
			dst[i] = quad{high ^ flip, low ^ flip, parts[0], parts[1]}
		}
	}
}

func emptyValues128(dst []byte, at, step int, src []quad) {
	for i := range src {
		parts := view[uint64](dst)[2*(at+i*step):]
		parts[0], parts[1] = src[i].with, src[i].also
	}
}

// first keeps, on its way through a, what is among the first k so far, and sorts that
// when there is much of it.
func first[T any](a, b []T, k int, less func(a, b T) bool, sorted func(a, b []T) []T) {
	if k <= 0 {
		return
	}
	kept := 0
	most := k + max(k, 4096)
	var last T // of the first k so far
	full := false
	for _, x := range a {
		if full && !less(x, last) {
			continue
		}
		a[kept] = x
		if kept++; kept == most {
			copy(a, sorted(a[:kept], b[:kept])[:k])
			kept, last, full = k, a[k-1], true
		}
	}
	copy(a, sorted(a[:kept], b[:kept])[:min(k, kept)])
}

// sample copies the last of each so many records.
func sample[T any](dst, src []T, every int) {
	for i := range dst {
		dst[i] = src[(i+1)*every-1]
	}
}

// view is bytes as records.
func view[T any](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}
