package chart

import (
	"fmt"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// gpu is what a plan means on one GPU, ready to be shown.
type gpu struct{ Name, Memory, Where, Passes, Link, Time, Limit, Note string }

// gpuHead are the columns of the table of GPUs.
var gpuHead = []string{"device", "may take", "stages on it", "passes", "over the link", "time", "limit", ""}

func (g gpu) Cells() []string {
	return []string{g.Name, g.Memory, g.Where, g.Passes, g.Link, g.Time, g.Limit, g.Note}
}

func newGPU(w *record.WhatIf, stages int) gpu {
	g := gpu{Name: plain(w.Device), Memory: units.Bytes(w.Memory), Note: plain(w.Note)}
	if !w.Fits {
		g.Where, g.Passes, g.Link, g.Time, g.Limit = "–", "–", "–", "–", "–"
		return g
	}
	g.Where = fmt.Sprintf("%d of %d", w.OnDevice, stages)
	g.Passes, g.Link = units.Count(int64(w.Passes)), dashIfNone(w.Link, units.Traffic(w.Link))
	g.Time, g.Limit = units.Duration(time.Duration(w.Seconds*float64(time.Second))), plain(w.Limit)
	return g
}

// joinEqual joins cards after the first, which is the plan's own, whose rows say the same to one
// row: a faster card that changes nothing is no news.
func joinEqual(cards []gpu) (joined []gpu) {
	first, count := gpu{}, 0 // of the last row
	for i, g := range cards {
		same := first
		same.Name, same.Memory = g.Name, g.Memory
		if i < 2 || g != same {
			joined, first, count = append(joined, g), g, 1
			continue
		}
		count++
		row := &joined[len(joined)-1]
		row.Name = fmt.Sprintf("%s to %s: %d cards", first.Name, g.Name, count)
		row.Memory = first.Memory + " to " + g.Memory
	}
	return joined
}

func gpusText(v *view) string {
	rows := [][]string{gpuHead}
	for _, g := range v.GPUs {
		rows = append(rows, g.Cells())
	}
	return align(rows, 1)
}
