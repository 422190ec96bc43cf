package plan

// Draft is a program that is being made. Load i is the value -1-i, and instruction i is i.
type Draft struct {
	Domain []int
	Loads  []Load
	code   []Instr
}

// Load adds a load, and returns its value.
func (d *Draft) Load(l Load) int {
	d.Loads = append(d.Loads, l)
	return -len(d.Loads)
}

// Emit adds an instruction, and returns its value.
func (d *Draft) Emit(in Instr) int {
	d.code = append(d.code, in)
	return len(d.code) - 1
}

// Program finishes the draft: the numbers of loads come first, then those of instructions.
func (d *Draft) Program(out, checks []int) Program {
	number := func(values []int) {
		for i, v := range values {
			if v < 0 {
				values[i] = -1 - v
			} else {
				values[i] = v + len(d.Loads)
			}
		}
	}
	for i := range d.code {
		number(d.code[i].Args)
	}
	number(out)
	number(checks)
	return Program{Domain: d.Domain, Loads: d.Loads, Code: d.code, Out: out, Checks: checks}
}
