package fft

import "math"

// A pass of radix r splits transforms of length r·m, s of them side by side, into r
// times as many of length m: y[s(rp+k)+q] is the sum over j of x[s(p+mj)+q]·u^(jk),
// u = exp(-2πi/r), times exp(-2πipk/(rm)), which is roots[pk·step].

func pass2(x, y []complex128, m, s int, roots []complex128, step int) {
	for p := range m {
		w := roots[p*step]
		x0, x1 := x[s*p:][:s], x[s*(p+m):][:s]
		y0, y1 := y[s*2*p:][:s], y[s*(2*p+1):][:s]
		for q, a := range x0 {
			b := x1[q]
			y0[q] = a + b
			y1[q] = (a - b) * w
		}
	}
}

func pass3(x, y []complex128, m, s int, roots []complex128, step int) {
	const half = 0.5
	sin := math.Sqrt(3) / 2
	for p := range m {
		w1, w2 := roots[p*step], roots[2*p*step]
		x0, x1, x2 := x[s*p:][:s], x[s*(p+m):][:s], x[s*(p+2*m):][:s]
		y0, y1, y2 := y[s*3*p:][:s], y[s*(3*p+1):][:s], y[s*(3*p+2):][:s]
		for q, a := range x0 {
			b, c := x1[q], x2[q]
			sum, d := b+c, b-c
			mid := complex(real(a)-half*real(sum), imag(a)-half*imag(sum))
			turned := complex(sin*imag(d), -sin*real(d)) // -i·sin·d
			y0[q] = a + sum
			y1[q] = (mid + turned) * w1
			y2[q] = (mid - turned) * w2
		}
	}
}

func pass4(x, y []complex128, m, s int, roots []complex128, step int) {
	for p := range m {
		w1, w2, w3 := roots[p*step], roots[2*p*step], roots[3*p*step]
		x0, x1, x2, x3 := x[s*p:][:s], x[s*(p+m):][:s], x[s*(p+2*m):][:s], x[s*(p+3*m):][:s]
		y0, y1, y2, y3 := y[s*4*p:][:s], y[s*(4*p+1):][:s], y[s*(4*p+2):][:s], y[s*(4*p+3):][:s]
		for q, a := range x0 {
			b, c, d := x1[q], x2[q], x3[q]
			even, odd := a+c, a-c
			sum, e := b+d, b-d
			turned := complex(imag(e), -real(e)) // -i·(b-d)
			y0[q] = even + sum
			y1[q] = (odd + turned) * w1
			y2[q] = (even - sum) * w2
			y3[q] = (odd - turned) * w3
		}
	}
}

func pass5(x, y []complex128, m, s int, roots []complex128, step int) {
	sin1, cos1 := math.Sincos(2 * math.Pi / 5)
	sin2, cos2 := math.Sincos(4 * math.Pi / 5)
	for p := range m {
		w1, w2, w3, w4 := roots[p*step], roots[2*p*step], roots[3*p*step], roots[4*p*step]
		x0, x1, x2, x3, x4 := x[s*p:][:s], x[s*(p+m):][:s], x[s*(p+2*m):][:s], x[s*(p+3*m):][:s], x[s*(p+4*m):][:s]
		y0, y1, y2, y3, y4 := y[s*5*p:][:s], y[s*(5*p+1):][:s], y[s*(5*p+2):][:s], y[s*(5*p+3):][:s], y[s*(5*p+4):][:s]
		for q, a := range x0 {
			b, c, d, e := x1[q], x2[q], x3[q], x4[q]
			outer, o := b+e, b-e
			inner, i := c+d, c-d
			mid1 := complex(real(a)+(cos1*real(outer)+cos2*real(inner)), imag(a)+(cos1*imag(outer)+cos2*imag(inner)))
			mid2 := complex(real(a)+(cos2*real(outer)+cos1*real(inner)), imag(a)+(cos2*imag(outer)+cos1*imag(inner)))
			// -i times the odd parts.
			turned1 := complex(sin1*imag(o)+sin2*imag(i), -(sin1*real(o) + sin2*real(i)))
			turned2 := complex(sin2*imag(o)-sin1*imag(i), -(sin2*real(o) - sin1*real(i)))
			y0[q] = a + (outer + inner)
			y1[q] = (mid1 + turned1) * w1
			y2[q] = (mid2 + turned2) * w2
			y3[q] = (mid2 - turned2) * w3
			y4[q] = (mid1 - turned1) * w4
		}
	}
}

// passOdd is the pass of an odd prime up to largest: elements j and r-j are joined
// first, so that half of the products are left.
func passOdd(x, y []complex128, r, m, s int, roots []complex128, step int) {
	var cos, sin [largest]float64
	for j := range r {
		u := root(j, r)
		cos[j], sin[j] = real(u), -imag(u)
	}
	h := (r - 1) / 2
	var sum, diff [largest/2 + 1]complex128
	for p := range m {
		for q := range s {
			a := x[s*p+q]
			total := a
			for j := 1; j <= h; j++ {
				b, c := x[s*(p+m*j)+q], x[s*(p+m*(r-j))+q]
				sum[j], diff[j] = b+c, b-c
				total += sum[j]
			}
			y[s*r*p+q] = total
			for k := 1; k <= h; k++ {
				re, im := real(a), imag(a)
				var oddRe, oddIm float64
				at := 0
				for j := 1; j <= h; j++ {
					if at += k; at >= r {
						at -= r
					}
					re += cos[at] * real(sum[j])
					im += cos[at] * imag(sum[j])
					oddRe += sin[at] * real(diff[j])
					oddIm += sin[at] * imag(diff[j])
				}
				y[s*(r*p+k)+q] = complex(re+oddIm, im-oddRe) * roots[p*k*step]
				y[s*(r*p+r-k)+q] = complex(re-oddIm, im+oddRe) * roots[p*(r-k)*step]
			}
		}
	}
}
