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
	var parts []string // each ends its last line
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	for _, v := range views {
		say("%s\n%s\n", v.Title, v.Verdict)
		if line := sparkline(v.s.timeline); line != "" {
			say("memory over %s, up to %s\n%s\n", units.Duration(v.s.last), units.Bytes(v.s.peak), line)
		}
		for _, words := range []string{v.s.laneWords(), v.s.workerWords()} {
			if words != "" {
				say("%s\n", words)
			}
		}
		for _, noted := range v.s.h.Series {
			say("%s", seriesText(noted))
		}
		if len(v.Operations) > 0 {
			say("%s", operationsText(v))
		}
		switch {
		case v.TreeText != "" && len(v.s.stages) > longestText:
			say("plan: %s\n\n", v.PlanLine())
		case v.TreeText != "":
			say("plan: %s\n%s\n", v.PlanLine(), v.TreeText)
		}
		for _, t := range v.WhatIf {
			say("%s", t.text())
		}
		if len(v.Lines) > 0 {
			t := Table{Head: []string{"Go heap by line", "code", "most at once", "allocated"}, Texts: 2}
			for _, l := range v.Lines {
				t.Rows = append(t.Rows, []string{"  " + l.Site, clip(l.Code, 50), sizeOrDash(l.Live), sizeOrDash(l.Allocated)})
			}
			say("%s", t.text())
		}
		if len(v.Rest) > 0 {
			t := Table{Texts: 1}
			for _, p := range v.Rest {
				t.Rows = append(t.Rows, []string{"  " + p.Name, sizeOrDash(p.Bytes)})
			}
			say("the process at its largest: %s\n%s", v.RestWhen(), t.text())
		}
		if len(v.Notes) > 0 {
			say("%s\n", strings.Join(v.Notes, "\n"))
		}
		if v.Hint.Text != "" {
			say("%s\n", v.Hint.Text)
		}
		if v.Hint.Line != "" {
			parts[len(parts)-1] += "    " + v.Hint.Line + "\n"
		}
	}
	return strings.Join(parts, "\n")
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

// mostCostly returns the operations that took longest or, before a run, hold most, in their order and
// without their parts.
func mostCostly(operations []operation) []operation {
	heads := slices.DeleteFunc(slices.Clone(operations), func(o operation) bool { return !o.Head })
	order := make([]int, len(heads))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(heads[b].Time, heads[a].Time), cmp.Compare(heads[b].Predicted, heads[a].Predicted))
	})
	var most []operation
	for _, i := range slices.Sorted(slices.Values(order[:min(longestText, len(order))])) {
		most = append(most, heads[i])
	}
	return most
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
	columns := slices.Repeat([]int64{-1}, min(width, len(samples)))
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

// clip shortens s to n characters, by an ellipsis.
func clip(s string, n int) string {
	r := []rune(s)
	switch {
	case len(r) <= n:
		return s
	case n < 2:
		return ""
	}
	return string(r[:n-1]) + "…"
}
