package linalg

func dotPlain(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}

func axpyPlain(s float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += s * v
	}
}

func rotatePlain(x, y []float64, cos, sin float64) {
	y = y[:len(x)]
	for k, a := range x {
		b := y[k]
		x[k] = cos*a - sin*b
		y[k] = sin*a + cos*b
	}
}
