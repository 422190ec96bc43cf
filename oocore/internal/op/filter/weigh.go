package filter

import "slices"

// weighPlain is weigh in plain Go. Products are rounded before they are added, on
// every processor.
func weighPlain(dst, src []float64, offsets []int, weights []float64) {
	at := 0
	for ; at+4 <= len(dst); at += 4 {
		a, b, c, d := dst[at], dst[at+1], dst[at+2], dst[at+3]
		for k, w := range weights {
			x := src[at+offsets[k]:][:4]
			a += float64(w * x[0])
			b += float64(w * x[1])
			c += float64(w * x[2])
			d += float64(w * x[3])
		}
		dst[at], dst[at+1], dst[at+2], dst[at+3] = a, b, c, d
	}
	for ; at < len(dst); at++ {
		sum := dst[at]
		for k, w := range weights {
			sum += float64(w * src[at+offsets[k]])
		}
		dst[at] = sum
	}
}

// quad is how many rows of results share their neighbours in weighRows.
const quad = 4

// taps are the weights of a window, and where in a tile its elements lie from the first.
type taps struct {
	offsets []int
	weights []float64
	// Of windows without zeros: how many planes they have, of how many rows by columns,
	// and the weights that rows of results have for the neighbours that all of them share.
	planes, rows, columns int
	shared                []float64
}

// newTaps leaves out weights of zero. offsets are those of all, in numbers; sizes are the
// window's as far as it has a border.
func newTaps(offsets []int, weights []float64, sizes []int) *taps {
	if slices.Contains(weights, 0) {
		p := &taps{}
		for k, w := range weights {
			if w != 0 {
				p.offsets, p.weights = append(p.offsets, offsets[k]), append(p.weights, w)
			}
		}
		return p
	}
	p := &taps{offsets: offsets, weights: weights}
	if len(sizes) < 2 || sizes[len(sizes)-2] < quad {
		return p
	}
	p.rows, p.columns = sizes[len(sizes)-2], sizes[len(sizes)-1]
	p.planes = len(weights) / (p.rows * p.columns)
	for plane := range p.planes {
		own := weights[plane*p.rows*p.columns:]
		for k := (quad - 1) * p.columns; k < p.rows*p.columns; k++ {
			for r := range quad {
				p.shared = append(p.shared, own[k-r*p.columns])
			}
		}
	}
	return p
}

// sum sets the rows of a tile to their sums.
func (p *taps) sum(dst, src []float64, r rows) {
	clear(dst)
	lines := 1 // rows that follow each other at equal distances
	if len(r.shape) > 0 {
		lines = r.shape[len(r.shape)-1]
	}
	i := 0
	for from, to := range r.all() {
		switch line := i % lines; {
		case p.shared != nil && line < lines-lines%quad:
			if line%quad == 0 {
				p.four(dst[to:], src[from:], r.n, r.stride[len(r.stride)-1])
			}
		default:
			weigh(dst[to:][:r.n], src[from:], p.offsets, p.weights)
		}
		i++
	}
}

// four sums quad rows of n results, which follow each other, over rows of neighbours that
// are stride apart. In each plane a row's first neighbours are its own, then come those
// that it shares with the others, and then its last: its sum has them in the order that
// it has alone.
func (p *taps) four(dst, src []float64, n, stride int) {
	done := n
	for plane := range p.planes {
		first := plane * p.rows * p.columns
		last := first + p.rows*p.columns
		shared := p.shared[plane*(p.rows-quad+1)*p.columns*quad:]
		for r := range quad {
			own := first + (quad-1-r)*p.columns
			weigh(dst[r*n:][:done], src[r*stride:], p.offsets[first:own], p.weights[first:own])
		}
		done = weighRows(dst, n, n, src, p.offsets[first+(quad-1)*p.columns:last], shared)
		for r := range quad {
			own := last - r*p.columns
			weigh(dst[r*n:][:done], src[r*stride:], p.offsets[own:last], p.weights[own:last])
		}
	}
	for r := range quad {
		rest := dst[r*n:][done:n]
		clear(rest)
		weigh(rest, src[r*stride+done:], p.offsets, p.weights)
	}
}
