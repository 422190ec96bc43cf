package main

// formulas is all of them. The name of one is that of the operation and of the
// type, in lower case first.
func formulas() (all []*formula) {
	for _, f := range []struct {
		op             string
		params         int
		double, single func(p *formula)
	}{
		{"Exp", 1, exponential, exponentialSingle},
		{"Exp2", 1, exponentialOfTwo, exponentialOfTwoSingle},
		{"Expm1", 1, exponentialLessOne, exponentialLessOneSingle},
		{"Sinh", 1, hyperbolicSine, func(p *formula) { p.halvesSingle(p.params[0], true) }},
		{"Cosh", 1, hyperbolicCosine, func(p *formula) { p.halvesSingle(p.params[0], false) }},
		{"Tanh", 1, hyperbolicTangent, hyperbolicTangentSingle},
		{"Log", 1, naturalLogarithm, naturalLogarithmSingle},
		{"Log2", 1, binaryLogarithm, binaryLogarithmSingle},
		{"Log10", 1, decimalLogarithm, decimalLogarithmSingle},
		{"Log1p", 1, logarithmOfOneMore, logarithmOfOneMoreSingle},
		{"Erf", 1, errorFunction, errorFunctionSingle},
		{"Sin", 1, func(p *formula) { circular(p, 0) }, func(p *formula) { p.sineSingle(0) }},
		{"Cos", 1, func(p *formula) { circular(p, 1) }, func(p *formula) { p.sineSingle(1) }},
		{"Tan", 1, tangent, tangentSingle},
		{"Arctan", 1, arctangent, arctangentSingle},
		{"Arctan2", 2, angle, angleSingle},
		{"Arcsin", 1, arcsine, arcsineSingle},
		{"Arccos", 1, arccosine, arccosineSingle},
		{"Arcsinh", 1, areaSine, areaSineSingle},
		{"Arccosh", 1, areaCosine, areaCosineSingle},
		{"Arctanh", 1, areaTangent, areaTangentSingle},
		{"Cbrt", 1, cubeRoot, cubeRootSingle},
		{"Hypot", 2, hypotenuse, hypotenuseSingle},
		{"Power", 2, power, nil},
	} {
		for _, t := range []struct {
			name  string
			size  int
			in    width
			build func(p *formula)
		}{{"Float64", 8, double, f.double}, {"Float32", 4, single, f.single}} {
			if t.build == nil {
				t.build, t.in = powerSingle, double
			}
			p := newFormula("formula"+f.op+t.name, f.params, t.in)
			p.op, p.size = f.op, t.size
			t.build(p)
			p.trim()
			all = append(all, p)
		}
	}
	return all
}

// plainFormulas have no loops: they are for rare operands.
func plainFormulas() (all []*formula) {
	for _, f := range []struct {
		name   string
		params int
		build  func(p *formula)
	}{
		{"formulaPowerWide", 2, wholePower},
		{"formulaSinReduced", 3, reducedCircular},
		{"formulaTanReduced", 3, reducedTangent},
	} {
		p := newFormula(f.name, f.params, double)
		p.size = double.bytes
		f.build(p)
		p.trim()
		all = append(all, p)
	}
	return all
}

// abreast is how many vectors at a time leave few waits for one another's steps. Where
// there is little compared with divisions and roots, whose unit is but one, more than two
// begin with them at once and end without.
func (p *formula) abreast() int {
	slow := 0
	for _, v := range p.steps {
		if v.action == quotient || v.action == squareRoot {
			slow++
		}
	}
	if len(p.steps) < 40*slow {
		return 2
	}
	return 4
}

// formulaLoops is the vector loops of formulas.
func formulaLoops(all []*formula) (loops []loop) {
	for _, p := range all {
		t := "Float64"
		if p.size == 4 {
			t = "Float32"
		}
		in := make([]int, len(p.params))
		for i := range in {
			in[i] = p.size
		}
		body := func(m *machine, in [][]vec) []vec {
			if p.size == p.bytes {
				return m.formula(p, in)
			}
			for _, each := range in {
				for i, x := range each {
					each[i] = m.vector()
					m.VCVTPS2PD(x, each[i])
				}
			}
			out := m.formula(p, in)
			for i, v := range out {
				out[i] = m.shorten(v)
			}
			return out
		}
		l := loop{
			name: "vec" + p.op + t, keys: []key{{op: p.op, from: t}},
			in: in, out: p.size, lanes: perElement(p.bytes), rare: p.rare != nil,
			body: func(m *machine, in []vec) vec { return body(m, [][]vec{in})[0] },
		}
		l.many = body
		for _, wide := range []bool{false, true} {
			n := &l.abreast[level(wide)]
			for *n = p.abreast(); *n > 1 && !l.fits(wide); {
				*n--
			}
		}
		loops = append(loops, l)
	}
	return loops
}
