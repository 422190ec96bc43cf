package codec

import (
	"math"
	"slices"
)

// Blocks of 256 elements have parts of 16 or 32 with a scale each, and some an offset. Scales are fitted to the
// elements by least squares over some tries, then rounded to a few bits of a scale in float16; elements are rounded last.

// offsets says how parts are fitted that have a scale and an offset.
type offsets struct {
	part  int     // elements
	top   int     // of the integers that elements become
	first float32 // what the first try adds to top, a tenth less than the second
	tries int
	most  int // of the integers that scales and offsets become
	// absolute takes magnitudes as weights and errors, and no squares.
	absolute bool
}

var (
	offsetsQ2 = offsets{16, 3, -0.5, 16, 15, true}
	offsetsQ4 = offsets{32, 15, -1, 21, 63, false}
	offsetsQ5 = offsets{32, 31, -0.5, 16, 63, false}
)

// eight are eight parts of up to 32 elements, a part in each lane.
type eight [32][8]float32

// lanes are what a try to fit each of eight parts begins with, and what it gives.
type lanes struct {
	inverse, least     [8]float32 // a level is the integer nearest to inverse·(x - least)
	sumL, sumL2, sumXL [8]float32 // of the levels, by tryLevels
	scale, offset      [8]float32 // what stands for an element is scale·level + offset
	err                [8]float32 // by tryErrors
}

func eightOf(x []float32, part int) *eight {
	e := new(eight)
	for l := range 8 {
		for i, v := range x[l*part:][:part] {
			e[i][l] = v
		}
	}
	return e
}

// tryLevels sums the levels of parts by weights. xw are products of weights and elements where these are to be multiplied
// first, else nil.
func tryLevels(rows int, x, w, xw *eight, t *lanes, low, high int) {
	if hasAVX2 {
		var product *float32
		if xw != nil {
			product = &xw[0][0]
		}
		levels8AVX2(rows, &x[0][0], &w[0][0], product, &t.inverse[0], int32(low), int32(high))
		return
	}
	t.sumL, t.sumL2, t.sumXL = [8]float32{}, [8]float32{}, [8]float32{}
	for i := range rows {
		for l, v := range &x[i] {
			level := float32(max(low, min(high, nearest(float32(t.inverse[l]*(v-t.least[l]))))))
			wl := float32(w[i][l] * level)
			t.sumL[l] += wl
			t.sumL2[l] += float32(wl * level)
			if xw != nil {
				t.sumXL[l] += float32(xw[i][l] * level)
			} else {
				t.sumXL[l] += float32(wl * v)
			}
		}
	}
}

// tryErrors sums the weighted errors of parts: their squares, or their magnitudes.
func tryErrors(rows int, x, w *eight, t *lanes, high int, magnitudes bool) {
	if hasAVX2 && !magnitudes {
		errors8AVX2(rows, &x[0][0], &w[0][0], &t.inverse[0], 0, int32(high))
		return
	}
	t.err = [8]float32{}
	for i := range rows {
		for l, v := range &x[i] {
			level := max(0, min(high, nearest(float32(t.inverse[l]*(v-t.least[l])))))
			diff := float32(t.scale[l]*float32(level)) + t.offset[l] - v
			if magnitudes {
				diff = absolute(diff)
			} else {
				diff = float32(diff * diff)
			}
			t.err[l] += float32(w[i][l] * diff)
		}
	}
}

// fit returns the scales of eight parts and what is taken from their elements, and sets q to the integers.
func (o *offsets) fit(elements []float32, q []uint8) (scale, offset [8]float32) {
	x, w := eightOf(elements, o.part), new(eight)
	var base, sumW, sumX [8]float32
	if !o.absolute {
		for i := range o.part {
			for l, v := range &x[i] {
				base[l] += float32(v * v)
			}
		}
		for l, v := range base {
			base[l] = float32(math.Sqrt(float64(v / 32)))
		}
	}
	least, most := x[0], x[0]
	for i := range o.part {
		for l, v := range &x[i] {
			w[i][l] = base[l] + absolute(v)
			if v < least[l] {
				least[l] = v
			}
			if v > most[l] {
				most[l] = v
			}
			sumW[l] += w[i][l]
			sumX[l] += float32(w[i][l] * v)
		}
	}
	var t, best lanes
	var flat [8]bool
	top := float32(o.top)
	for l := range 8 {
		if least[l] > 0 {
			least[l] = 0
		}
		flat[l] = most[l] == least[l]
		t.inverse[l] = top / (most[l] - least[l])
		scale[l] = 1 / t.inverse[l]
	}
	t.least, t.scale, t.offset = least, scale, least
	tryErrors(o.part, x, w, &t, o.top, o.absolute)
	best = t
	for i := range o.tries {
		for l := range 8 {
			t.inverse[l] = (float32(o.first+float32(0.1*float32(i))) + top) / (most[l] - least[l])
		}
		t.least = least
		tryLevels(o.part, x, w, nil, &t, 0, o.top)
		var solved [8]bool
		for l := range 8 {
			sumL, sumL2, sumXL := t.sumL[l], t.sumL2[l], t.sumXL[l]
			d := float32(sumW[l]*sumL2) - float32(sumL*sumL)
			if solved[l] = d > 0; !solved[l] {
				continue
			}
			t.scale[l] = (float32(sumW[l]*sumXL) - float32(sumX[l]*sumL)) / d
			t.offset[l] = (float32(sumL2*sumX[l]) - float32(sumL*sumXL)) / d
			if t.offset[l] > 0 {
				t.offset[l], t.scale[l] = 0, sumXL/sumL2
			}
		}
		tryErrors(o.part, x, w, &t, o.top, o.absolute)
		for l := range 8 {
			if solved[l] && t.err[l] < best.err[l] {
				best.inverse[l], best.least[l], best.err[l] = t.inverse[l], t.least[l], t.err[l]
				scale[l], least[l] = t.scale[l], t.offset[l]
			}
		}
	}
	for l := range 8 {
		out := q[l*o.part:][:o.part]
		offset[l] = -least[l]
		if flat[l] {
			clear(out)
			scale[l] = 0
			continue
		}
		for i := range out {
			out[i] = uint8(max(0, min(o.top, nearest(float32(best.inverse[l]*(x[i][l]-best.least[l]))))))
		}
	}
	return scale, offset
}

// block sets the integers of all elements, and of the scales and offsets of all parts, whose units it stores at dst.
func (o *offsets) block(dst []byte, x []float32, q *[256]uint8, scales, mins *[16]uint8) {
	var scale, offset [16]float32
	parts := 256 / o.part
	var most, deepest float32
	for j := range parts {
		if j%8 == 0 {
			by, less := o.fit(x[j*o.part:], q[j*o.part:])
			copy(scale[j:], by[:])
			copy(offset[j:], less[:])
		}
		most, deepest = max(most, scale[j]), max(deepest, offset[j])
	}
	units := func(dst []byte, most float32, of *[16]float32, to *[16]uint8) float32 {
		if most > 0 {
			inverse := float32(o.most) / most
			for j := range parts {
				to[j] = min(uint8(nearest(float32(inverse*of[j]))), uint8(o.most))
			}
		}
		return putHalf(dst, most/float32(o.most))
	}
	d, m := units(dst, most, &scale, scales), units(dst[2:], deepest, &offset, mins)
	for j := range parts {
		by, less := float32(d*float32(scales[j])), float32(m*float32(mins[j]))
		if by == 0 {
			continue
		}
		out := q[j*o.part:][:o.part]
		for i, v := range x[j*o.part:][:o.part] {
			out[i] = uint8(max(0, min(o.top, nearest((v+less)/by))))
		}
	}
}

func encodeQ2K(dst []byte, x []float32) {
	var q [256]uint8
	var scales, mins [16]uint8
	offsetsQ2.block(dst[80:], x, &q, &scales, &mins)
	for j, s := range scales {
		dst[j] = s | mins[j]<<4
	}
	packQuarters(dst[16:80], &q, 0)
}

// packQuarters stores two bits of each element from one on, of four elements in a byte.
func packQuarters(dst []byte, q *[256]uint8, from int) {
	for i := range dst {
		at := i/32*128 + i%32
		dst[i] = q[at]>>from&3 | q[at+32]>>from&3<<2 | q[at+64]>>from&3<<4 | q[at+96]>>from&3<<6
	}
}

func encodeQ4K(dst []byte, x []float32) {
	var q [256]uint8
	encodeQ45K(dst, x, &offsetsQ4, &q)
	packHalves(dst[16:], &q)
}

func encodeQ5K(dst []byte, x []float32) {
	var q [256]uint8
	encodeQ45K(dst, x, &offsetsQ5, &q)
	high := dst[16:48]
	clear(high)
	for i, v := range q {
		high[i%32] |= v >> 4 << (i / 32)
	}
	packHalves(dst[48:], &q)
}

func encodeQ45K(dst []byte, x []float32, o *offsets, q *[256]uint8) {
	var scales, mins [16]uint8
	o.block(dst, x, q, &scales, &mins)
	for j := range 4 { // scaleK reads them
		dst[4+j] = scales[j] | scales[j+4]>>4<<6
		dst[8+j] = mins[j] | mins[j+4]>>4<<6
		dst[12+j] = scales[j+4]&15 | mins[j+4]<<4
	}
}

// packHalves stores the four low bits of each element.
func packHalves(dst []byte, q *[256]uint8) {
	for i := range 128 {
		at := i/32*64 + i%32
		dst[i] = q[at]&15 | q[at+32]<<4
	}
}

// negligible is the largest magnitude of a part that is all zeros.
const negligible = 1e-15

// fitQ3 returns the scale of a part for integers of -4 to 3, and sets q to these integers, from 0 on.
func fitQ3(x []float32, q []uint8) float32 {
	most, magnitude := largest(x)
	if magnitude < negligible {
		clear(q[:16])
		return 0
	}
	var l [16]float32
	inverse := -4 / most
	var sumXL, sumL2 float32
	for i, v := range x {
		l[i] = float32(max(-4, min(3, nearest(float32(inverse*v)))))
		w := float32(v * v)
		sumXL += float32(float32(w*v) * l[i])
		sumL2 += float32(float32(w*l[i]) * l[i])
	}
	for changed, try := true, 0; changed && try < 5; try++ {
		changed = false
		for i, v := range x {
			w := float32(v * v)
			xl := sumXL - float32(float32(w*v)*l[i])
			if !(xl > 0) {
				continue
			}
			l2 := sumL2 - float32(float32(w*l[i])*l[i])
			to := float32(max(-4, min(3, nearest(float32(v*l2)/xl))))
			if to == l[i] {
				continue
			}
			xl += float32(float32(w*v) * to)
			l2 += float32(float32(w*to) * to)
			if l2 > 0 && float32(float32(xl*xl)*sumL2) > float32(float32(sumXL*sumXL)*l2) {
				l[i], sumXL, sumL2, changed = to, xl, l2, true
			}
		}
	}
	for i, l := range l {
		q[i] = uint8(int(l) + 4)
	}
	if sumL2 > 0 {
		return sumXL / sumL2
	}
	return 0
}

// fitQ6 returns the scales of eight parts for integers of -32 to 31, and sets q to these integers, from 0 on.
func fitQ6(elements []float32, q []uint8) (scale [8]float32) {
	x, w, xw := eightOf(elements, 16), new(eight), new(eight)
	for i := range 16 {
		for l, v := range &x[i] {
			w[i][l] = float32(v * v)
			xw[i][l] = float32(w[i][l] * v)
		}
	}
	var t lanes
	var most, magnitude, best, inverse [8]float32
	for l := range 8 {
		most[l], magnitude[l] = largest(elements[l*16:][:16])
	}
	for try := range 19 {
		add := try - 10 // the middle first
		if try == 0 {
			add = 0
		} else if add >= 0 {
			add++
		}
		for l := range 8 {
			t.inverse[l] = -(32 + float32(0.1*float32(add))) / most[l]
		}
		tryLevels(16, x, w, xw, &t, -32, 31)
		for l := range 8 {
			sumXL, sumL2 := t.sumXL[l], t.sumL2[l]
			if try > 0 && !(sumL2 > 0 && float32(sumXL*sumXL) > float32(best[l]*sumL2)) {
				continue
			}
			if scale[l] = 0; sumL2 != 0 {
				scale[l] = sumXL / sumL2
			}
			best[l], inverse[l] = float32(scale[l]*sumXL), t.inverse[l]
		}
	}
	for l := range 8 {
		out := q[l*16:][:16]
		if magnitude[l] < negligible {
			clear(out)
			scale[l] = 0
			continue
		}
		for i := range out {
			out[i] = uint8(max(-32, min(31, nearest(float32(inverse[l]*x[i][l])))) + 32)
		}
	}
	return scale
}

// centred sets the integers of the elements, from 0 on, and of the scales, whose unit it stores at dst; middle is
// what stands for zero, and most the largest magnitude of a scale's integer.
func centred(dst []byte, x []float32, q *[256]uint8, fit func([]float32, []uint8) [8]float32, middle int, most float32) (scales [16]int) {
	var fitted [16]float32
	for j := 0; j < 16; j += 8 {
		eight := fit(x[j*16:], q[j*16:])
		copy(fitted[j:], eight[:])
	}
	largest, magnitude := largest(fitted[:])
	if magnitude == 0 || middle == 32 && magnitude < negligible {
		putHalf(dst, 0)
		if middle == 32 {
			clear(q[:])
			return scales
		}
		return [16]int(slices.Repeat([]int{-32}, 16))
	}
	inverse := -most / largest
	d := putHalf(dst, 1/inverse)
	for j := range scales {
		scales[j] = min(int(most)-1, nearest(float32(inverse*fitted[j])))
		by := d * float32(scales[j])
		if by == 0 {
			continue
		}
		for i, v := range x[j*16:][:16] {
			q[j*16+i] = uint8(max(-middle, min(middle-1, nearest(v/by))) + middle)
		}
	}
	return scales
}

func encodeQ3K(dst []byte, x []float32) {
	var q [256]uint8
	scales := centred(dst[108:], x, &q, func(x []float32, q []uint8) (scale [8]float32) {
		for l := range scale {
			scale[l] = fitQ3(x[l*16:][:16], q[l*16:])
		}
		return scale
	}, 4, 32)
	clear(dst[:108])
	for j, s := range scales {
		s := uint8(s + 32)
		dst[96+j%8] |= s & 15 << (j / 8 * 4)
		dst[104+j%4] |= s >> 4 << (j / 4 * 2)
	}
	for i, v := range q {
		dst[i%32] |= v >> 2 << (i / 32)
	}
	packQuarters(dst[32:96], &q, 0)
}

func encodeQ6K(dst []byte, x []float32) {
	var q [256]uint8
	scales := centred(dst[208:], x, &q, fitQ6, 32, 128)
	for j, s := range scales {
		dst[192+j] = byte(s)
	}
	for i := range 128 { // four rows of 32 share bytes, twice
		at := i/64*128 + i%64
		dst[i] = q[at]&15 | q[at+64]<<4
	}
	packQuarters(dst[128:192], &q, 4)
}
