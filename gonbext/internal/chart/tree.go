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

// maxBranches is how many stages of a plan are drawn.
const maxBranches = 40

// The columns of the drawn tree, in pixels.
const (
	treeRow    = 46.0
	treeHead   = 46.0
	treeMemory = 364.0
	treeRead   = 578.0
	treeWrite  = 652.0
	treeTime   = 748.0
	treeBar    = 86.0
)

// treeFigure draws the stages of a run in the order in which they run, with what each reads
// of the others: what was predicted above what was measured.
func treeFigure(stages []record.StageReport) *figure {
	if len(stages) == 0 {
		return nil
	}
	f := &figure{Title: "Plan", Alt: fmt.Sprintf("The plan of %s; its text is below.", counted(len(stages), "stage", "stages"))}
	var most int64
	var longest float64
	for i := range stages {
		most = max(most, hostBytes(stages[i].Predicted))
		if m := stages[i].Measured; m != nil {
			most, longest = max(most, hostBytes(m.Reserved)), max(longest, m.Seconds)
		}
	}
	drawn := stages[:min(len(stages), maxBranches)]
	if len(drawn) < len(stages) {
		f.Caption = fmt.Sprintf("The first %d of %s stages; the text below has all.", maxBranches, units.Count(int64(len(stages))))
	}
	d := &tree{drawing: newDrawing(760, treeHead+treeRow*float64(len(drawn))+6), most: most, longest: longest}
	d.text(14, 18, "m", "stage")
	d.text(treeMemory, 18, "m", "memory")
	d.text(treeRead, 18, "m r", "read")
	d.text(treeWrite, 18, "m r", "written")
	legend := "predicted"
	if slices.ContainsFunc(stages, func(s record.StageReport) bool { return s.Seconds.Known() }) {
		d.text(treeTime, 18, "m r", "time")
	} else if longest > 0 {
		d.text(treeTime, 18, "m r", "time and rate")
	}
	if longest > 0 {
		legend = "above: predicted · below: measured"
	}
	d.text(14, 34, "m", legend)
	for i := range drawn {
		y := treeHead + treeRow*float64(i)
		d.printf(`<path class="g" d="M8 %sH752"/>`, num(y-3))
		d.stage(&drawn[i], y)
	}
	f.Picture = d.done()
	return f
}

// tree is the drawing of treeFigure.
type tree struct {
	*drawing
	most    int64   // bytes of the largest stage
	longest float64 // seconds of the slowest
}

func (d *tree) stage(s *record.StageReport, y float64) {
	const x = 14
	const room = 48 // characters up to the column of memory
	name := fmt.Sprintf("%d %s · %s", s.Stage, plain(s.Kind), plain(s.Name))
	d.text(x, y+15, "", clip(name, room))
	where := units.Count(int64(s.Tasks)) + " × " + units.Shape(s.Chunks) + " " + plain(s.DType)
	if s.Writes != "" {
		where += " → " + plain(filepath.Base(s.Writes))
	}
	stages := ""
	for i, from := range s.From {
		stages += []string{"from ", " and "}[min(i, 1)] + fmt.Sprint(from)
	}
	if stages != "" {
		where = stages + ": " + where
	}
	d.text(x, y+31, "m", clip(where, room))
	d.bar(s.Predicted, y+6, ` fill-opacity=".45"`)
	d.text(treeRead, y+15, "m r", dashIfNone(s.Read, units.Traffic(s.Read)))
	d.text(treeWrite, y+15, "m r", dashIfNone(s.Written, units.Traffic(s.Written)))
	m := s.Measured
	if m == nil {
		if s.Seconds.Known() {
			d.text(treeTime, y+15, "m r", secondsText(s.Seconds.Likely))
		}
		return
	}
	d.bar(m.Reserved, y+22, "")
	d.text(treeRead, y+31, "r", dashIfNone(m.Read, units.Traffic(m.Read)))
	d.text(treeWrite, y+31, "r", dashIfNone(m.Written, units.Traffic(m.Written)))
	took := m.Took()
	if d.longest > 0 {
		w := max(80*m.Seconds/d.longest, 1)
		d.printf(`<rect x="%s" y="%s" width="%s" height="5" fill="%s"/>`, num(treeTime-w), num(y+36), num(w), processColor)
	}
	above := units.Rate(m.Read+m.Written, took)
	if s.Seconds.Known() {
		above = secondsText(s.Seconds.Likely)
	}
	d.text(treeTime, y+15, "m r", above)
	d.text(treeTime, y+31, "r", units.Duration(took))
}

// bar draws bytes by class, to the scale of the largest stage, and their sum beside it.
func (d *tree) bar(bytes map[string]int64, y float64, opacity string) {
	x := treeMemory
	d.printf(`<g%s>`, opacity)
	for c := range record.Device {
		if n := bytes[c.String()]; n > 0 {
			w := treeBar * float64(n) / float64(max(d.most, 1))
			d.printf(`<path fill="%s" d="M%s %sh%sv10H%[2]s"/>`, classColors[c], num(x), num(y), num(w))
			x += w
		}
	}
	d.printf(`</g>`)
	if n := hostBytes(bytes); n > 0 {
		d.text(x+4, y+9, "", units.Bytes(n))
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

// secondsRange is the likely time with its range, however wide that is.
func secondsRange(s *record.Seconds) string {
	return fmt.Sprintf("%s (%s to %s)", secondsText(s.Likely), secondsText(s.Low), secondsText(s.High))
}
