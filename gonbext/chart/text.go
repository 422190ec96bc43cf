package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// longestText is how many stages a report in text shows one by one: it has nothing to unfold.
const longestText = 8

// textReport is the report for a terminal, or for whoever reads a notebook's
// source.
func textReport(views []*view) string {
	var b strings.Builder
	for i, v := range views {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n%s\n", v.Title, v.Verdict)
		if line := sparkline(v.s.timeline); line != "" {
			fmt.Fprintf(&b, "\nmemory over %s, up to %s\n%s\n", units.Duration(v.s.last), units.Bytes(v.s.peak), line)
		}
		for _, words := range []string{v.s.laneWords(), v.s.workerWords()} {
			if words != "" {
				fmt.Fprintf(&b, "\n%s\n", words)
			}
		}
		for _, noted := range v.s.h.Series {
			b.WriteByte('\n')
			b.WriteString(seriesText(noted))
		}
		if len(v.Operations) > 0 {
			b.WriteByte('\n')
			b.WriteString(operationsText(v))
		}
		if v.TreeText != "" {
			tree := v.TreeText
			if len(v.s.stages) > longestText {
				tree = ""
			}
			fmt.Fprintf(&b, "\nplan: %s\n%s\n", v.PlanLine(), tree)
		}
		for _, t := range v.WhatIf {
			b.WriteByte('\n')
			b.WriteString(t.text())
		}
		if len(v.Lines) > 0 {
			rows := [][]string{{"Go heap by line", "code", "most at once", "allocated"}}
			for _, l := range v.Lines {
				rows = append(rows, []string{"  " + l.Site, clip(l.Code, 50), sizeOrDash(l.Live), sizeOrDash(l.Allocated)})
			}
			b.WriteByte('\n')
			b.WriteString(align(rows, 2))
		}
		if len(v.Rest) > 0 {
			fmt.Fprintf(&b, "\nthe process at its largest: %s\n", v.RestWhen())
			rows := [][]string{}
			for _, p := range v.Rest {
				rows = append(rows, []string{"  " + p.Name, sizeOrDash(p.Bytes)})
			}
			b.WriteString(align(rows, 1))
		}
		if len(v.Notes) > 0 {
			fmt.Fprintf(&b, "\n%s\n", strings.Join(v.Notes, "\n"))
		}
		if v.Hint.Text != "" {
			fmt.Fprintf(&b, "\n%s\n", v.Hint.Text)
		}
		if v.Hint.Line != "" {
			fmt.Fprintf(&b, "    %s\n", v.Hint.Line)
		}
	}
	return b.String()
}

func operationsText(v *view) string {
	rows := [][]string{v.operationHead()}
	shown := v.Operations
	if len(v.s.stages) > longestText {
		shown = mostCostly(v.Operations)
	}
	for _, o := range shown {
		row := []string{clip(o.Name, 40)}
		if !o.Head {
			row[0] = "  " + row[0]
		}
		for _, c := range v.operationCells(&o) {
			row = append(row, c.text)
		}
		rows = append(rows, row)
	}
	text := align(rows, 1)
	if more := len(v.s.stages) - longestText; more > 0 {
		text += fmt.Sprintf("and %s that cost less\n", counted(more, "operation", "operations"))
	}
	return text
}

// mostCostly are the operations that took longest or, before a run, hold most, in their order and
// without their parts.
func mostCostly(operations []operation) []operation {
	heads := slices.DeleteFunc(slices.Clone(operations), func(o operation) bool { return !o.Head })
	bySize := slices.Clone(heads)
	slices.SortStableFunc(bySize, func(a, b operation) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Predicted, a.Predicted))
	})
	least := bySize[min(longestText, len(bySize))-1]
	kept := 0
	return slices.DeleteFunc(heads, func(o operation) bool {
		drop := kept == longestText || o.Time < least.Time || o.Time == least.Time && o.Predicted < least.Predicted
		if !drop {
			kept++
		}
		return drop
	})
}

// text is the table without its caption.
func (t *Table) text() string {
	rows := t.Rows
	if len(t.Head) > 0 {
		rows = append([][]string{t.Head}, rows...)
	}
	return align(rows, t.Texts)
}

// align sets rows in columns: the first texts to the left, the others to the right.
func align(rows [][]string, texts int) string {
	var widths []int
	for _, r := range rows {
		for i, s := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		var line strings.Builder
		for i, s := range r {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s))
			if i > 0 {
				line.WriteString("  ")
			}
			if i < texts {
				line.WriteString(s + pad)
			} else {
				line.WriteString(pad + s)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// sparkline draws the arena's bytes in one line of at most 60 characters: the
// most in each stretch of time.
func sparkline(samples []record.Sample) string {
	const width = 60
	if len(samples) < 2 {
		return ""
	}
	var most int64
	end := max(samples[len(samples)-1].At, 1)
	columns := make([]int64, min(width, len(samples)))
	for i := range columns {
		columns[i] = -1
	}
	for i := range samples {
		n := samples[i].Arena.Host()
		most = max(most, n)
		c := min(len(columns)-1, int(samples[i].At*time.Duration(len(columns))/end))
		if c >= 0 {
			columns[c] = max(columns[c], n)
		}
	}
	if most <= 0 {
		return ""
	}
	marks := []rune(" ▁▂▃▄▅▆▇█")
	line := make([]rune, len(columns))
	last := int64(0)
	for i, n := range columns {
		if n < 0 {
			n = last // no sample in this stretch: as it was
		}
		last = n
		line[i] = marks[int(float64(n)/float64(most)*float64(len(marks)-1)+0.5)]
	}
	return string(line)
}
