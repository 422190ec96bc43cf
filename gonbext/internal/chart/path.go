package chart

import (
	"math"
	"strconv"
	"strings"
)

// polyline writes the path of a line in an SVG, in relative steps of whole pixels: every report
// in a notebook carries its figures, so their bytes count. Consecutive horizontal or vertical steps
// in one direction are merged.
type polyline struct {
	strings.Builder
	x, y   int // the end of what is written
	dx, dy int // the step that is not written yet
	begun  bool
}

func (p *polyline) to(x, y float64) {
	px, py := int(math.Round(x)), int(math.Round(y))
	if !p.begun {
		p.begun, p.x, p.y = true, px, py
		p.WriteString("M" + strconv.Itoa(px) + " " + strconv.Itoa(py))
		return
	}
	dx, dy := px-p.x-p.dx, py-p.y-p.dy
	switch {
	case p.dx == 0 && p.dy == 0, dy == 0 && p.dy == 0 && dx >= 0 && p.dx >= 0, dx == 0 && p.dx == 0 && (dy >= 0) == (p.dy >= 0):
		p.dx, p.dy = p.dx+dx, p.dy+dy
	default:
		p.flush()
		p.dx, p.dy = dx, dy
	}
}

func (p *polyline) flush() {
	switch {
	case p.dx == 0 && p.dy == 0:
		return
	case p.dy == 0:
		p.WriteString("h" + strconv.Itoa(p.dx))
	case p.dx == 0:
		p.WriteString("v" + strconv.Itoa(p.dy))
	default:
		p.WriteString("l" + strconv.Itoa(p.dx))
		if p.dy >= 0 {
			p.WriteByte(' ')
		}
		p.WriteString(strconv.Itoa(p.dy))
	}
	p.x, p.y, p.dx, p.dy = p.x+p.dx, p.y+p.dy, 0, 0
}

// done returns the path so far.
func (p *polyline) done() string {
	p.flush()
	return p.String()
}
