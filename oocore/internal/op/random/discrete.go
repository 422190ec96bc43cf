package random

import "math"

// poisson is by multiplication of uniform numbers where the mean is small, and else by
// W. Hörmann, The transformed rejection method for generating Poisson random variables,
// Insurance: Mathematics and Economics 12, 1993.
func (s *stream) poisson(mean float64) float64 {
	if mean < 10 {
		low, product := math.Exp(-mean), 1.0
		for k := 0.0; ; k += 2 {
			u, v := s.uniforms()
			if product *= 1 - u; product <= low {
				return k
			}
			if product *= 1 - v; product <= low {
				return k + 1
			}
		}
	}
	log := math.Log(mean)
	b := 0.931 + 2.53*math.Sqrt(mean)
	a := -0.059 + 0.02483*b
	scale, bound := 1.1239+1.1328/(b-3.4), 0.9277-3.6224/(b-2)
	for {
		u, v := s.uniforms()
		u, v = u-0.5, 1-v
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + mean + 0.43)
		if us >= 0.07 && v <= bound {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		if math.Log(v*scale/(a/(us*us)+b)) <= logPoisson(k, mean, log) {
			return k
		}
	}
}

// binomial is by inversion where few trials succeed, and else by W. Hörmann, The generation
// of binomial random variates, Journal of Statistical Computation and Simulation 46, 1993.
func (s *stream) binomial(n, p float64) float64 {
	if p > 0.5 {
		return n - s.binomial(n, 1-p)
	}
	q := 1 - p
	if n*p < 10 {
		first := math.Exp(n * math.Log1p(-p))
		for {
			u, _ := s.uniforms()
			for k, px := 0.0, first; k <= min(n, 200); k++ { // beyond 200 there is nothing left of 1
				if u < px {
					return k
				}
				u -= px
				px *= (n - k) * p / ((k + 1) * q)
			}
		}
	}
	spread := math.Sqrt(n * p * q)
	b := 1.15 + 2.53*spread
	a := -0.0873 + 0.0248*b + 0.01*p
	bound, alpha := 0.92-4.2/b, (2.83+5.1/b)*spread
	odds, mode := math.Log(p/q), math.Floor((n+1)*p)
	for {
		u, v := s.uniforms()
		u, v = u-0.5, 1-v
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + n*p + 0.5)
		if us >= 0.07 && v <= bound {
			return k
		}
		if k < 0 || k > n {
			continue
		}
		if math.Log(v*alpha/(a/(us*us)+b)) <= (k-mode)*odds-logRatio(mode, k-mode)-logRatio(n-mode, mode-k) {
			return k
		}
	}
}

// geometric is by inversion: the number of the first trial that succeeds.
func (s *stream) geometric(p float64) float64 {
	u, _ := s.uniforms()
	return max(math.Ceil(math.Log(1-u)/math.Log1p(-p)), 1)
}

// negativeBinomial is a Poisson number whose mean is a gamma number: how many trials fail before
// n succeed.
func (s *stream) negativeBinomial(n, p float64) float64 {
	return s.poisson(min(s.gamma(n)*((1-p)/p), most))
}

// hypergeometric is by drawing one after the other where few are drawn, or left, and else by
// E. Stadlober, The ratio of uniforms approach for generating discrete random variates, Journal
// of Computational and Applied Mathematics 31, 1990. Of those drawn and those left it counts
// the fewer ones.
func (s *stream) hypergeometric(good, bad, drawn float64) float64 {
	few := min(drawn, good+bad-drawn)
	var found float64
	if few < 10 {
		found = s.drawFew(good, bad, few)
	} else if found = s.ratioOfUniforms(min(good, bad), max(good, bad), few); good > bad {
		found = few - found
	}
	if few < drawn {
		return good - found
	}
	return found
}

// drawFew counts the good ones of a few.
func (s *stream) drawFew(good, bad, n float64) float64 {
	left := good
	for ; n > 0; n-- {
		if u, _ := s.uniforms(); math.Floor(u*(left+bad)) < left {
			left--
		} else {
			bad--
		}
	}
	return good - left
}

// ratioOfUniforms counts those of the rarer kind among so many, at most half of all.
func (s *stream) ratioOfUniforms(rare, other, n float64) float64 {
	all := rare + other
	share := rare / all
	centre := n*share + 0.5
	spread := math.Sqrt((all-n)*n*share*(1-share)/(all-1) + 0.5)
	width := 2*math.Sqrt(2/math.E)*spread + 3 - 2*math.Sqrt(3/math.E)
	mode := math.Floor((n + 1) * (rare + 1) / (all + 2))
	end := min(min(n, rare)+1, math.Floor(centre+16*spread))
	log := func(k float64) float64 {
		return logFactorial(k) + logFactorial(rare-k) + logFactorial(n-k) + logFactorial(other-n+k)
	}
	highest := log(mode)
	for {
		u, v := s.uniforms()
		u = 1 - u
		x := centre + width*(v-0.5)/u
		if x < 0 || x >= end {
			continue
		}
		k := math.Floor(x)
		if 2*math.Log(u) <= highest-log(k) {
			return k
		}
	}
}

// logSeries is by A. Kemp, Efficient Generation of Logarithmically Distributed Pseudo-Random
// Variables, Applied Statistics 30, 1981.
func (s *stream) logSeries(p float64) float64 {
	for {
		v, u := s.uniforms()
		if v >= p {
			return 1
		}
		if v == 0 {
			continue
		}
		power := math.Log1p(-p) * (1 - u)
		q := -math.Expm1(power)
		switch {
		case v <= q*q:
			return math.Floor(1 + math.Log(v)/math.Log1p(-math.Exp(power)))
		case v >= q:
			return 1
		default:
			return 2
		}
	}
}

// zipf is by L. Devroye, Non-Uniform Random Variate Generation, 1986, X.6.1, of whole numbers
// up to 2**62.
func (s *stream) zipf(a float64) float64 {
	if a >= 1025 {
		return 1 // others have no chance that a float has
	}
	a--
	below := math.Expm1(-62 * math.Ln2 * a)
	excess := math.Expm1(a * math.Ln2)
	for {
		u, v := s.uniforms()
		x := math.Floor(math.Exp(-math.Log1p(u*below) / a))
		if !(x >= 1 && x <= most) {
			continue
		}
		step := a * math.Log1p(1/x)
		if v*x*math.Expm1(step)/excess <= math.Exp(step-a*math.Ln2) {
			return x
		}
	}
}

// manyTerms is from where on the logarithm of a factorial has too few digits to be subtracted
// from another.
const manyTerms = 1e9

// logPoisson is the logarithm of the chance of k where the mean, of that logarithm, is given.
func logPoisson(k, mean, log float64) float64 {
	if k < manyTerms {
		return k*log - mean - logFactorial(k)
	}
	return k*math.Log1p((mean-k)/k) + (k - mean) - math.Log(2*math.Pi*k)/2 - 1/(12*k)
}

// logRatio is the logarithm of (m+more)!/m!, by the terms of Stirling's series where both are
// large. more has digits that sums with m have not.
func logRatio(m, more float64) float64 {
	k := m + more
	if min(k, m) < manyTerms {
		return logFactorial(k) - logFactorial(m)
	}
	return more*(math.Log(m)-1) + (k+0.5)*math.Log1p(more/m) + (1/k-1/m)/12
}

// logFactorial is the logarithm of 1·2·…·k.
func logFactorial(k float64) float64 {
	log, _ := math.Lgamma(k + 1)
	return log
}
