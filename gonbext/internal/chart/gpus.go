package chart

import (
	"fmt"
	"slices"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// gpusTable has a row for what the plan means on each GPU.
func gpusTable(rows [][]string) Table {
	return Table{Caption: "On other GPUs", Head: []string{"device", "may take", "stages on it", "passes", "over the link", "time", "limit", ""}, Rows: joinEqual(rows), Texts: 1,
		note: "By the makers' data sheets, with a usual machine's disk and this one's cores. Where the disk or the link is the limit, a faster GPU gains nothing."}
}

func gpuRow(w *record.WhatIf, stages int) []string {
	name, memory, note := plain(w.Device), units.Bytes(w.Memory), plain(w.Note)
	if !w.Fits {
		return []string{name, memory, "–", "–", "–", "–", "–", note}
	}
	return []string{name, memory, fmt.Sprintf("%d of %d", w.OnDevice, stages), units.Count(int64(w.Passes)), dashIfNone(w.Link, units.Traffic(w.Link)),
		units.Duration(time.Duration(w.Seconds * float64(time.Second))), plain(w.Limit), note}
}

// joinEqual joins the rows of cards after the first, which is the plan's own, where they say the same: a
// faster card that changes nothing is no news.
func joinEqual(cards [][]string) (joined [][]string) {
	var first []string // of the cards of the last row
	count := 0
	for i, card := range cards {
		if i < 2 || !slices.Equal(card[2:], first[2:]) {
			joined, first, count = append(joined, slices.Clone(card)), card, 1
			continue
		}
		count++
		row := joined[len(joined)-1]
		row[0] = fmt.Sprintf("%s to %s: %d cards", first[0], card[0], count)
		row[1] = first[1] + " to " + card[1]
	}
	return joined
}
