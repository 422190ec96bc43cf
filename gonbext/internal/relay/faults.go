package relay

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Fault is what is wrong with a cell's Go.
type Fault struct {
	Cell         int // the execution count of the earlier cell that it is in; 0: the one that runs
	Line, Column int // of the cell, from 1; 0 where it has no place there
	Text         string
	Hint         string // what to do; "" where nobody knows
	source       string // the line
	again        []int  // other lines with the same fault
}

// Faults are the faults of a cell, the causes before what follows from them.
type Faults []Fault

// Error names the first fault, and how many there are.
func (f Faults) Error() string {
	if len(f) == 0 {
		return "the cell does not compile"
	}
	text := f[0].String()
	if len(f) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(f)-1)
	}
	return text
}

// String says the place and the fault in one line.
func (f *Fault) String() string {
	place := ""
	if f.Line > 0 {
		place = fmt.Sprintf("line %d: ", f.Line)
	}
	if f.Cell > 0 {
		place = fmt.Sprintf("cell [%d], line %d: ", f.Cell, f.Line)
	}
	text, _, _ := strings.Cut(f.Text, "\n")
	return place + text
}

// traceback draws the faults with their lines.
func (f Faults) traceback(source []string) (all []string) {
	const red, plain = "\x1b[31m", "\x1b[0m"
	for i := range f {
		x := &f[i]
		text := red + x.String() + plain
		if _, more, ok := strings.Cut(x.Text, "\n"); ok {
			text += "\n" + more
		}
		for k, line := range x.again {
			text += map[bool]string{true: " (also line ", false: ", "}[k == 0] + strconv.Itoa(line)
		}
		if x.again != nil {
			text += ")"
		}
		line := x.source
		if x.Cell == 0 && x.Line > 0 && x.Line <= len(source) {
			line = source[x.Line-1]
		}
		if strings.TrimSpace(line) != "" {
			text += "\n    " + line
			if x.Column > 0 && x.Column <= len(line)+1 {
				mark := strings.Map(func(r rune) rune {
					if r == '\t' {
						return r
					}
					return ' '
				}, line[:x.Column-1])
				text += "\n    " + mark + "^"
			}
		}
		if x.Hint != "" {
			text += "\n" + x.Hint
		}
		all = append(all, text)
	}
	return all
}

// content is that of an error, in outputs and in replies.
func (f Faults) content(source string) map[string]any {
	return map[string]any{"ename": "CompileError", "evalue": f.Error(), "traceback": f.traceback(strings.Split(source, "\n"))}
}

var (
	// compilerLine is a fault in the program that GoNB makes of cells.
	compilerLine = regexp.MustCompile(`^(?:\S*/)?main(?:_test)?\.go:(\d+)(?::(\d+))?: (.*)$`)
	// withoutModule is what the go command says of a package that an unknown module has.
	withoutModule = regexp.MustCompile(`^(?:package gonb_\w+ |failed to run "\S*go get": exit status \d+\s+)((?:imports |go: module |go: )(\S+?)(?: from implicitly required module|: .*))`)
	// cellPlace begins what GoNB adds to a line of the compiler's.
	cellPlace = regexp.MustCompile(`^Cell(?:\[(\d+)\]:)? Line (\d+)\n`)
	// noise is what the go command says besides.
	noise = regexp.MustCompile(`^(#.*|\s*too many errors|exit status \d+|\s*)$`)
	// follows is a fault that goes away with its cause.
	follows = regexp.MustCompile(`^(declared and not used: |"[^"]*" imported and not used|missing return$)`)
)

// faultsOf reads the error of a cell that does not compile: what the compiler says, and with
// each of its lines what GoNB says of that.
func faultsOf(j *job, evalue string, traceback []any) (list Faults) {
	if m := withoutModule.FindStringSubmatch(evalue); m != nil {
		at := slices.IndexFunc(strings.Split(j.source, "\n"), func(line string) bool { return strings.Contains(line, `"`+m[2]) })
		return Faults{{Line: at + 1, Text: m[1]}}
	}
	if !strings.Contains(evalue, "main.go:") && !strings.Contains(evalue, "main_test.go:") {
		return nil
	}
	source := strings.Split(j.source, "\n")
	for i, line := range strings.Split(evalue, "\n") {
		m, text := compilerLine.FindStringSubmatch(line), line
		if m != nil {
			text = m[3]
		}
		switch {
		case m == nil && strings.HasPrefix(line, "\t") && len(list) > 0: // continues the error above
			list[len(list)-1].Text += "\n" + line
			continue
		case noise.MatchString(text):
			continue
		case m == nil:
			list = append(list, Fault{Text: text})
			continue
		}
		f, said := Fault{Text: text}, ""
		if i < len(traceback) {
			said, _ = traceback[i].(string)
		}
		if place := cellPlace.FindStringSubmatch(said); place != nil {
			cell, _ := strconv.Atoi(place[1])
			f.Line, _ = strconv.Atoi(place[2])
			f.Column, _ = strconv.Atoi(m[2])
			f.source = marked(said[len(place[0]):])
			if cell > 0 && int64(cell) != j.count.Load() {
				f.Cell = cell
			} else {
				f.locate(source, j.cell.Lines)
			}
		}
		list = append(list, f)
	}
	return list.ordered()
}

// explained gives faults their hints, each once a line: what one line in place of another mends is said of its first fault.
func (f Faults) explained(source string, explain func(code string, line, column int, fault string) (text, hint string)) (list Faults) {
	for _, x := range f {
		if x.Cell == 0 {
			x.Text, x.Hint = explain(source, x.Line, x.Column, x.Text)
		} else {
			x.Text, x.Hint = explain(x.source, 1, 0, x.Text)
		}
		said := func(y Fault) bool { return y.Hint == x.Hint && y.Line == x.Line && y.Cell == x.Cell }
		if x.Hint == "" || !slices.ContainsFunc(list, said) {
			list = append(list, x)
		}
	}
	return list
}

// locate gives a fault its place in the cell as the user wrote it: what GoNB has compiled
// stands after something generated, or further down.
func (f *Fault) locate(source []string, lines int) {
	if lines > 0 && f.Line > lines {
		f.Line -= lines
	}
	if f.Line > len(source) { // of what was generated below the cell
		f.Line, f.Column = 0, 0
		return
	}
	own := source[f.Line-1]
	trimmed := strings.TrimSpace(own)
	at := strings.Index(f.source, trimmed)
	if at < 0 || trimmed == "" || f.Column <= at {
		f.Column = 0
		return
	}
	f.Column += strings.Index(own, trimmed) - at
}

// marked is the line that GoNB marks with a ^ below it.
func marked(context string) string {
	lines := strings.Split(context, "\n")
	for i := 1; i < len(lines); i++ {
		if strings.TrimLeft(lines[i], " ") == "^" {
			return lines[i-1]
		}
	}
	return ""
}

// ordered puts causes before what follows from them, and says each fault once.
func (f Faults) ordered() (list Faults) {
	cause := func(x Fault) bool { return !follows.MatchString(x.Text) }
	if slices.ContainsFunc(f, func(x Fault) bool { return cause(x) && x.Line > 0 }) {
		f = slices.DeleteFunc(f, func(x Fault) bool { return !cause(x) })
	}
	for _, x := range f {
		same := slices.IndexFunc(list, func(y Fault) bool { return y.Text == x.Text && y.Cell == x.Cell })
		if same < 0 {
			list = append(list, x)
		} else if first := &list[same]; x.Line != first.Line && !slices.Contains(first.again, x.Line) {
			first.again = append(first.again, x.Line)
		}
	}
	return list
}
