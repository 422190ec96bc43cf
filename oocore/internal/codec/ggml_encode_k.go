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

func (o *offsets) weights(w, x []float32) {
	base := float32(0)
	if !o.absolute {
		for _, v := range x {
			base += float32(v * v)
		}
		base = float32(math.Sqrt(float64(base / 32)))
	}
	for i, v := range x {
		w[i] = base + absolute(v)
	}
}

// fit returns the scale of a part and what is taken from its elements, and sets q to the integers.
func (o *offsets) fit(x []float32, q []uint8) (scale, offset float32) {
	var weights [32]float32
	var tried [32]uint8
	w, try := weights[:len(x)], tried[:len(x)]
	o.weights(w, x)
	q = q[:len(x)]
	least, most, sumW, sumX := x[0], x[0], w[0], float32(w[0]*x[0])
	for i, v := range x[1:] {
		if v < least {
			least = v
		}
		if v > most {
			most = v
		}
		sumW += w[i+1]
		sumX += float32(w[i+1] * v)
	}
	if least > 0 {
		least = 0
	}
	if most == least {
		clear(q)
		return 0, -least
	}
	top := float32(o.top)
	inverse := top / (most - least)
	scale = 1 / inverse
	for i, v := range x {
		q[i] = uint8(max(0, min(o.top, nearest(float32(inverse*(v-least))))))
	}
	best := o.err(x, w, q, scale, least, math.MaxFloat32)
	for i := range o.tries {
		inverse := (float32(o.first+float32(0.1*float32(i))) + top) / (most - least)
		var sumL, sumL2, sumXL float32
		for i, v := range x {
			l := max(0, min(o.top, nearest(float32(inverse*(v-least)))))
			try[i] = uint8(l)
			wl := float32(w[i] * float32(l))
			sumL += wl
			sumL2 += float32(wl * float32(l))
			sumXL += float32(wl * v)
		}
		d := float32(sumW*sumL2) - float32(sumL*sumL)
		if !(d > 0) {
			continue
		}
		thisScale := (float32(sumW*sumXL) - float32(sumX*sumL)) / d
		thisLeast := (float32(sumL2*sumX) - float32(sumL*sumXL)) / d
		if thisLeast > 0 {
			thisLeast, thisScale = 0, sumXL/sumL2
		}
		if err := o.err(x, w, try, thisScale, thisLeast, best); err < best {
			copy(q, try)
			best, scale, least = err, thisScale, thisLeast
		}
	}
	return scale, -least
}

// err is the weighted error of a part, or a sum of some elements' that is no less than enough.
func (o *offsets) err(x, w []float32, q []uint8, scale, least, enough float32) (sum float32) {
	w, q = w[:len(x)], q[:len(x)]
	for i, v := range x {
		diff := float32(scale*float32(q[i])) + least - v
		if o.absolute {
			diff = absolute(diff)
		} else {
			diff = float32(diff * diff)
		}
		sum += float32(w[i] * diff)
		if i%8 == 7 && sum >= enough {
			break
		}
	}
	return sum
}

// block sets the integers of all elements, and of the scales and offsets of all parts, whose units it stores at dst.
func (o *offsets) block(dst []byte, x []float32, q *[256]uint8, scales, mins *[16]uint8) {
	var scale, offset [16]float32
	parts := 256 / o.part
	var most, deepest float32
	for j := range parts {
		scale[j], offset[j] = o.fit(x[j*o.part:][:o.part], q[j*o.part:])
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

// fitQ6 returns the scale of a part for integers of -32 to 31, and sets q to these integers, from 0 on.
func fitQ6(x []float32, q []uint8) (scale float32) {
	most, magnitude := largest(x)
	if magnitude < negligible {
		clear(q[:16])
		return 0
	}
	level := func(inverse, v float32) int { return max(-32, min(31, nearest(float32(inverse*v)))) }
	best := float32(0)
	for try := range 19 {
		add := try - 10 // the middle first
		if try == 0 {
			add = 0
		} else if add >= 0 {
			add++
		}
		inverse := -(32 + float32(0.1*float32(add))) / most
		var sumXL, sumL2 float32
		for _, v := range x {
			l := float32(level(inverse, v))
			w := float32(v * v)
			sumXL += float32(float32(w*v) * l)
			sumL2 += float32(float32(w*l) * l)
		}
		if try > 0 && !(sumL2 > 0 && float32(sumXL*sumXL) > float32(best*sumL2)) {
			continue
		}
		for i, v := range x {
			q[i] = uint8(level(inverse, v) + 32)
		}
		if scale = 0; sumL2 != 0 {
			scale = sumXL / sumL2
		}
		best = float32(scale * sumXL)
	}
	return scale
}

// centred sets the integers of the elements, from 0 on, and of the scales, whose unit it stores at dst; middle is
// what stands for zero, and most the largest magnitude of a scale's integer.
func centred(dst []byte, x []float32, q *[256]uint8, fit func([]float32, []uint8) float32, middle int, most float32) (scales [16]int) {
	var fitted [16]float32
	for j := range fitted {
		fitted[j] = fit(x[j*16:][:16], q[j*16:])
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
	scales := centred(dst[108:], x, &q, fitQ3, 4, 32)
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
