package chart

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// maxBranches is how many lines of a tree of stages are drawn.
const maxBranches = 40

// The columns of the drawn tree, in pixels.
const (
	treeRow    = 46.0
	treeHead   = 46.0
	treeIndent = 18.0
	treeMemory = 364.0
	treeRead   = 578.0
	treeWrite  = 652.0
	treeTime   = 748.0
	treeBar    = 86.0
)

// treeFigure draws the stages of a run as a tree, the last first and below each those
// that it reads: what was predicted above what was measured.
func treeFigure(stages []record.StageReport) (*figure, string) {
	branches := record.Branches(stages)
	if len(branches) == 0 {
		return nil, ""
	}
	f := &figure{Title: "Plan", Alt: fmt.Sprintf("The plan as a tree of %s; its text is below.", counted(len(stages), "stage", "stages"))}
	if len(branches) > maxBranches {
		f.Caption = fmt.Sprintf("The first %d of %s lines; the text below has all.", maxBranches, units.Count(int64(len(branches))))
		branches = branches[:maxBranches]
	}
	var most int64
	var longest float64
	for i := range stages {
		most = max(most, hostBytes(stages[i].Predicted))
		if m := stages[i].Measured; m != nil {
			most, longest = max(most, hostBytes(m.Reserved)), max(longest, m.Seconds)
		}
	}
	d := &tree{drawing: newDrawing(760, treeHead+treeRow*float64(len(branches))+6), most: most, longest: longest}
	d.text(14, 18, "start", "m", "stage")
	d.text(treeMemory, 18, "start", "m", "memory")
	d.text(treeRead, 18, "end", "m", "read")
	d.text(treeWrite, 18, "end", "m", "written")
	legend := "predicted"
	if slices.ContainsFunc(stages, func(s record.StageReport) bool { return s.Seconds != nil }) {
		d.text(treeTime, 18, "end", "m", "time")
	} else if longest > 0 {
		d.text(treeTime, 18, "end", "m", "time and rate")
	}
	if longest > 0 {
		legend = "above: predicted · below: measured"
	}
	d.text(14, 34, "start", "m", legend)
	var parents []float64 // by depth, the y that the lines to children begin at
	for i, b := range branches {
		y := treeHead + treeRow*float64(i)
		parents = append(parents[:min(b.Depth, len(parents))], y+36)
		d.printf(`<path class="g" d="M8 %sH752"/>`, num(y-3))
		x := 14 + treeIndent*float64(min(b.Depth, 8))
		if b.Depth > 0 && b.Depth <= 8 {
			d.printf(`<path class="a" fill="none" d="M%s %sV%sh11"/>`, num(x-treeIndent+5), num(parents[b.Depth-1]), num(y+11))
		}
		d.branch(&stages[b.Stage], b, x, y)
	}
	return f, d.done()
}

// tree is the drawing of treeFigure.
type tree struct {
	*drawing
	most    int64   // bytes of the largest stage
	longest float64 // seconds of the slowest
}

func (d *tree) branch(s *record.StageReport, b record.Branch, x, y float64) {
	number := fmt.Sprintf("%d", b.Stage)
	switch {
	case b.Again:
		d.text(x, y+16, "start", "m", "stage "+number+", as above")
		return
	case b.Below:
		d.text(x, y+16, "start", "m", "stage "+number+", below")
		return
	}
	room := int((treeMemory - 16 - x) / 6.4)
	d.text(x, y+15, "start", "", clip(number+" "+plain(s.Kind)+" · "+plain(s.Name), room))
	where := units.Count(int64(s.Tasks)) + " × " + units.Shape(s.Chunks) + " " + plain(s.DType)
	if s.Writes != "" {
		where += " → " + plain(filepath.Base(s.Writes))
	}
	d.text(x, y+31, "start", "m", clip(where, room))
	d.bar(s.Predicted, y+6, ".45")
	d.text(treeRead, y+15, "end", "m", dashIfNone(s.Read, units.Traffic(s.Read)))
	d.text(treeWrite, y+15, "end", "m", dashIfNone(s.Written, units.Traffic(s.Written)))
	m := s.Measured
	if m == nil {
		if s.Seconds != nil {
			d.text(treeTime, y+15, "end", "m", secondsText(s.Seconds.Likely))
		}
		return
	}
	d.bar(m.Reserved, y+22, "1")
	d.text(treeRead, y+31, "end", "", dashIfNone(m.Read, units.Traffic(m.Read)))
	d.text(treeWrite, y+31, "end", "", dashIfNone(m.Written, units.Traffic(m.Written)))
	took := m.Took()
	if d.longest > 0 {
		w := max(80*m.Seconds/d.longest, 1)
		d.printf(`<rect x="%s" y="%s" width="%s" height="5" fill="%s"/>`, num(treeTime-w), num(y+36), num(w), processColor)
	}
	above := units.Rate(m.Read+m.Written, took)
	if s.Seconds != nil {
		above = secondsText(s.Seconds.Likely)
	}
	d.text(treeTime, y+15, "end", "m", above)
	d.text(treeTime, y+31, "end", "", units.Duration(took))
}

// bar draws bytes by class, to the scale of the largest stage, and their sum beside it.
func (d *tree) bar(bytes map[string]int64, y float64, opacity string) {
	x := treeMemory
	for c := range record.Device {
		if n := bytes[c.String()]; n > 0 {
			w := treeBar * float64(n) / float64(max(d.most, 1))
			d.printf(`<rect x="%s" y="%s" width="%s" height="10" fill="%s" fill-opacity="%s"/>`, num(x), num(y), num(w), classColors[c], opacity)
			x += w
		}
	}
	if n := hostBytes(bytes); n > 0 {
		d.text(x+4, y+9, "start", "", units.Bytes(n))
	}
}

// hostBytes is the sum of the classes that the budget covers.
func hostBytes(byClass map[string]int64) (n int64) {
	for c := range record.Device {
		n += byClass[c.String()]
	}
	return n
}

func secondsText(seconds float64) string {
	return units.Duration(time.Duration(seconds * float64(time.Second)))
}

// treeText is the same for a terminal, and the picture's alternative.
func treeText(stages []record.StageReport) string {
	return strings.TrimRight(plainLines(record.Tree(stages)), "\n")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return units.Count(int64(n)) + " " + many
}
