package order

import (
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
			return numbered{c, t.Size()}
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
		return plain[uint8]{c}
	case 2:
		return plain[uint16]{c}
	case 4:
		return plain[uint32]{c}
	}
	return plain[uint64]{c}
}

// plain are keys that give back their elements.
type plain[W word] struct{ class }

func (plain[W]) size() int { var w W; return int(unsafe.Sizeof(w)) }

func (p plain[W]) load(dst, src []byte, at, step, n int, _ int64) {
	encode(p.class, words[W](dst), words[W](src), at, step, n)
}

func (p plain[W]) sort(a, b []byte) []byte {
	if len(a) == 0 {
		return a
	}
	return bytesOf(sortWords(words[W](a), words[W](b), 0))
}

func (p plain[W]) merge(all, b, room []byte, from, to []int64) []byte {
	mergeWords(words[W](all), words[W](b), words[W](room), from, to)
	return b
}

func (p plain[W]) store(dst []byte, at, step int, src []byte) {
	decode(p.class, words[W](dst), at, step, words[W](src))
}

func (p plain[W]) first(a, b []byte, k int) {
	first(words[W](a), words[W](b), k, func(a, b W) bool { return a < b }, func(a, b []W) []W { return sortWords(a, b, 0) })
}

func (p plain[W]) samples(dst, src []byte, every int) { sample(words[W](dst), words[W](src), every) }

func (p plain[W]) split(all []byte, from, to []int64, rank int64, counts []int64) {
	split(words[W](all), from, to, rank, counts, func(a, b W) bool { return a < b })
}

// numbered are keys of at most 32 bits above positions of 32 bits.
type numbered struct {
	class
	bytes int // of a key
}

func (numbered) size() int { return 8 }

func (r numbered) load(dst, src []byte, at, step, n int, first int64) {
	kernel.BySize(r.bytes, number[uint8], number[uint16], number[uint32])(r.class, words[uint64](dst)[:n], src, at, step, uint64(first))
}

func number[W word](c class, dst []uint64, bytes []byte, at, step int, first uint64) {
	src := words[W](bytes)
	var keys [256]W
	for i := 0; i < len(dst); i += len(keys) {
		n := min(len(keys), len(dst)-i)
		encode(c, keys[:], src, at+i*step, step, n)
		for k, key := range keys[:n] {
			dst[i+k] = uint64(key)<<32 | (first + uint64(i+k))
		}
	}
}

func (r numbered) sort(a, b []byte) []byte {
	if len(a) == 0 {
		return a
	}
	return bytesOf(sortNumbered(words[uint64](a), words[uint64](b)))
}

func sortNumbered(a, b []uint64) []uint64 {
	return sortWords(a, b, 32) // positions of equal keys rise
}

func (r numbered) merge(all, b, _ []byte, from, to []int64) []byte {
	return r.sort(gather(all, from, to, r.size()), b)
}

func (r numbered) store(dst []byte, at, step int, src []byte) {
	d := words[uint64](dst)
	for _, k := range words[uint64](src) {
		d[at] = k & (1<<32 - 1)
		at += step
	}
}

func (r numbered) first(a, b []byte, k int) {
	first(words[uint64](a), words[uint64](b), k, func(a, b uint64) bool { return a < b }, sortNumbered)
}

func (r numbered) samples(dst, src []byte, every int) {
	sample(words[uint64](dst), words[uint64](src), every)
}

func (r numbered) split(all []byte, from, to []int64, rank int64, counts []int64) {
	split(words[uint64](all), from, to, rank, counts, func(a, b uint64) bool { return a < b })
}

// list are records of several words.
type list[T pair | quad] struct {
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
	src := words[W](bytes)
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
	d := words[uint64](dst)
	for i := range src {
		d[at+i*step] = src[i].with
	}
}

func fillValues64(flip uint64) func(dst []pair, src []byte, at, step int, _ int64) {
	return func(dst []pair, src []byte, at, step int, _ int64) {
		for i := range dst {
			z := dtype.Slice[complex64](src)[at+i*step]
			dst[i] = pair{keys32(real(z), imag(z)) ^ flip, words[uint64](src)[at+i*step]}
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
	d := words[uint64](dst)
	for i := range src {
		d[at+i*step] = src[i].with
	}
}

func fillValues128(flip uint64) func(dst []quad, src []byte, at, step int, _ int64) {
	return func(dst []quad, src []byte, at, step int, _ int64) {
		for i := range dst {
			z := dtype.Slice[complex128](src)[at+i*step]
			high, low := keys64(real(z), imag(z))
			parts := words[uint64](src)[2*(at+i*step):]
			dst[i] = quad{high ^ flip, low ^ flip, parts[0], parts[1]}
		}
	}
}

func emptyValues128(dst []byte, at, step int, src []quad) {
	for i := range src {
		parts := words[uint64](dst)[2*(at+i*step):]
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
