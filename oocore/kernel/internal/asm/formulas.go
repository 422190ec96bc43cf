package main

import "math"

// formulas is all of them. The name of one is that of the operation and of the
// type, in lower case first.
func formulas() (all []*formula) {
	for _, f := range []struct {
		op             string
		params         int
		double, single func(p *formula)
	}{
		{"Exp", 1, exponential, nil},
		{"Exp2", 1, exponentialOfTwo, exponentialOfTwoSingle},
		{"Expm1", 1, exponentialLessOne, exponentialLessOneSingle},
		{"Sinh", 1, hyperbolicSine, func(p *formula) { p.halvesOnce(p.params[0], true) }},
		{"Cosh", 1, hyperbolicCosine, func(p *formula) { p.halvesOnce(p.params[0], false) }},
		{"Tanh", 1, hyperbolicTangent, nil},
		{"Log", 1, naturalLogarithm, logarithmSingle(math.Ln2, 1)},
		{"Log2", 1, binaryLogarithm, logarithmSingle(1, math.Log2E)},
		{"Log10", 1, decimalLogarithm, logarithmSingle(math.Ln2/math.Ln10, math.Log10E)},
		{"Log1p", 1, logarithmOfOneMore, logarithmOfOneMoreSingle},
		{"Sin", 1, func(p *formula) { circular(p, 0) }, func(p *formula) { circularSingle(p, 0) }},
		{"Cos", 1, func(p *formula) { circular(p, 1) }, func(p *formula) { circularSingle(p, 1) }},
		{"Tan", 1, tangent, tangentSingle},
		{"Arctan", 1, arctangent, arctangentSingle},
		{"Arctan2", 2, angle, angleSingle},
		{"Arcsin", 1, arcsine, arcsineSingle},
		{"Arccos", 1, arccosine, arccosineSingle},
		{"Arcsinh", 1, areaSine, areaSineSingle},
		{"Arccosh", 1, areaCosine, areaCosineSingle},
		{"Arctanh", 1, areaTangent, areaTangentSingle},
		{"Cbrt", 1, func(p *formula) { p.cubeRoot(false) }, func(p *formula) { p.cubeRoot(true) }},
		{"Hypot", 2, hypotenuse, hypotenuseSingle},
		{"Power", 2, power, powerSingle},
	} {
		for _, t := range []struct {
			name  string
			size  int
			build func(p *formula)
		}{{"Float64", 8, f.double}, {"Float32", 4, f.single}} {
			if t.build == nil {
				continue
			}
			p := newFormula("formula"+f.op+t.name, f.params)
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
		p := newFormula(f.name, f.params)
		f.build(p)
		p.trim()
		all = append(all, p)
	}
	return all
}

// formulaLoops is the vector loops of formulas. Those of float32 are computed
// in float64 and rounded once.
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
		loops = append(loops, loop{
			name: "vec" + p.op + t, keys: []key{{op: p.op, from: t}},
			in: in, out: p.size, lanes: perElement(8), rare: p.rare != nil,
			body: func(m *machine, in []vec) vec {
				if p.size == 8 {
					return m.formula(p, in)
				}
				for i, x := range in {
					in[i] = m.vector()
					m.VCVTPS2PD(x, in[i])
				}
				return m.shorten(m.formula(p, in))
			},
		})
	}
	return loops
}
