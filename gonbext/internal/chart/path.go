package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// polyline writes the path of a line in an SVG, in relative steps of whole pixels or tenths: every report
// in a notebook carries its figures, so their bytes count. Consecutive horizontal or vertical steps
// in one direction are merged.
type polyline struct {
	strings.Builder
	x, y   int // the end of what is written
	dx, dy int // the step that is not written yet
	begun  bool
	fine   bool // the steps are of tenths of pixels
}

// number writes a length.
func (p *polyline) number(n int) string {
	if !p.fine {
		return strconv.Itoa(n)
	}
	return strconv.FormatFloat(float64(n)/10, 'f', -1, 64)
}

func (p *polyline) to(x, y float64) {
	if p.fine {
		x, y = 10*x, 10*y
	}
	px, py := int(math.Round(x)), int(math.Round(y))
	if !p.begun {
		p.begun, p.x, p.y = true, px, py
		p.WriteString("M" + p.number(px) + " " + p.number(py))
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
		p.WriteString("h" + p.number(p.dx))
	case p.dx == 0:
		p.WriteString("v" + p.number(p.dy))
	default:
		p.WriteString("l" + p.number(p.dx))
		if p.dy >= 0 {
			p.WriteByte(' ')
		}
		p.WriteString(p.number(p.dy))
	}
	p.x, p.y, p.dx, p.dy = p.x+p.dx, p.y+p.dy, 0, 0
}

// rects writes the path of rectangles in whole pixels, each relative to the one before.
type rects struct {
	strings.Builder
	x, y int // of the last
}

func (p *rects) add(left, top, right, bottom float64) {
	x, y := int(math.Round(left)), int(math.Round(top))
	w, h := max(int(math.Round(right))-x, 1), max(int(math.Round(bottom))-y, 1)
	fmt.Fprintf(p, "m%d %dh%dv%dh-%dz", x-p.x, y-p.y, w, h, w)
	p.x, p.y = x, y
}

// done returns the path so far.
func (p *polyline) done() string {
	p.flush()
	return p.String()
}
