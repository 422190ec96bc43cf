package random

import "math"

// gamma is by G. Marsaglia and W. Tsang, A Simple Method for Generating Gamma Variables, ACM
// TOMS 26, 2000.
func (s *stream) gamma(shape float64) float64 {
	if shape == 0 {
		return 0
	}
	less := 1.0
	if shape < 1 {
		u, _ := s.uniforms()
		less = math.Pow(1-u, 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.normal()
		u, _ := s.uniforms()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-u) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * less
		}
	}
}

// beta is by M. Jöhnk, Erzeugung von betaverteilten und gammaverteilten Zufallszahlen, Metrika 8,
// 1964, where neither shape is above 1, and else of two gamma numbers.
func (s *stream) beta(a, b float64) float64 {
	if a > 1 || b > 1 {
		x, y := s.gamma(a), s.gamma(b)
		return 1 / (1 + y/x)
	}
	const tiny = 3e-103 // all but 0 and 1 has no chance below it
	if a < tiny && b < tiny {
		if u, _ := s.uniforms(); u*(a+b) < a {
			return 1
		}
		return 0
	}
	for {
		u, v := s.uniforms()
		x, y := math.Log(1-u)/a, math.Log(1-v)/b
		larger := max(x, y)
		if sum := larger + math.Log(math.Exp(x-larger)+math.Exp(y-larger)); sum <= 0 {
			return math.Exp(x - sum)
		}
	}
}

// triangular is by inversion.
func (s *stream) triangular(left, mode, right float64) float64 {
	u, _ := s.uniforms()
	width := right - left
	if below := (mode - left) / width; u <= below {
		return left + width*math.Sqrt(u*below)
	}
	return right - width*math.Sqrt((1-u)*((right-mode)/width))
}

// vonMises is by D. Best and N. Fisher, Efficient Simulation of the von Mises Distribution,
// Applied Statistics 28, 1979, in radians from -pi to pi. Where it is narrow it is normal.
func (s *stream) vonMises(mean, concentration float64) float64 {
	const narrow = 1e6
	if concentration > narrow {
		return math.Remainder(mean+s.normal()/math.Sqrt(concentration), 2*math.Pi)
	}
	if concentration < 1e-8 {
		u, _ := s.uniforms()
		return math.Pi * (2*u - 1)
	}
	spread := 1/concentration + concentration // where it is wide
	if concentration >= 1e-5 {
		r := 1 + math.Sqrt(1+4*concentration*concentration)
		rho := (r - math.Sqrt(2*r)) / (2 * concentration)
		spread = (1 + rho*rho) / (2 * rho)
	}
	for {
		u, v := s.uniforms()
		z := math.Cos(math.Pi * u)
		cos := (1 + spread*z) / (spread + z)
		y := concentration * (spread - cos)
		if v = 1 - v; y*(2-y)-v < 0 && math.Log(y/v)+1-y < 0 {
			continue
		}
		angle := math.Acos(max(-1, min(cos, 1)))
		if side, _ := s.uniforms(); side < 0.5 {
			angle = -angle
		}
		return math.Remainder(mean+angle, 2*math.Pi)
	}
}

// wald is by J. Michael, W. Schucany and R. Haas, Generating Random Variates Using
// Transformations with Multiple Roots, American Statistician 30, 1976: the roots are mean/q and
// mean·q.
func (s *stream) wald(mean, scale float64) float64 {
	x := s.normal()
	y := mean / scale * x * x
	q := 1 + (y+math.Sqrt(y)*math.Sqrt(4+y))/2
	if u, _ := s.uniforms(); u <= 1/(1+1/q) {
		return mean / q
	}
	return mean * q
}
