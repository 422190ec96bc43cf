package main

// mostKept is how many bytes of the stack hold what there are no registers for: functions that
// do not split it have little.
const mostKept = 512

// fit chooses results that registers hold up to a step only, those whose next use is farthest, so
// that so many vectors side by side get by with as many registers; false where it cannot.
func (p *formula) fit(vectors, registers int) bool {
	at, uses := map[*value]int{}, make([][]int, len(p.steps))
	for i, v := range p.steps {
		at[v] = i
	}
	use := func(v *value, i int) {
		if v.action == signSet { // which is read from its operand
			v = v.args[0]
		}
		if v.action != constantBits {
			uses[at[v]] = append(uses[at[v]], i)
		}
	}
	for i, v := range p.steps {
		switch v.action {
		case fraction, exponent, lookup:
			return false
		case signSet:
			continue
		}
		for _, a := range v.args {
			use(a, i)
		}
	}
	use(p.result, len(p.steps))
	p.kept = map[int]int{}
	held := func(v, i int) bool { // over step i
		last, kept := p.kept[v]
		if !kept && len(uses[v]) > 0 {
			last = uses[v][len(uses[v])-1]
		}
		return v < i && i <= last
	}
	for {
		most, where := 0, 0
		for i := range len(p.steps) + 1 {
			n := 0
			for v := range i {
				if held(v, i) {
					n++
				}
			}
			if n > most {
				most, where = n, i
			}
		}
		if most*vectors <= registers {
			return true
		}
		longest, chosen, last := 0, 0, 0
		for v := range where {
			if _, kept := p.kept[v]; kept || !held(v, where) {
				continue
			}
			before, next := v, 0
			for _, u := range uses[v] {
				if u < where {
					before = u
				} else {
					next = u
					break
				}
			}
			if next > where && next-before > longest {
				longest, chosen, last = next-before, v, before
			}
		}
		if p.kept[chosen] = last; longest == 0 || 32*len(p.kept)*vectors > mostKept {
			return false
		}
	}
}
