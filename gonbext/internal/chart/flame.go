package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// leaf is what held memory, from the outermost: a line of the cell, what it computes, and the
// class; or the calls that allocated a value of Go.
type leaf struct {
	Path   []string `json:"path"`
	Color  string   `json:"color"`
	From   int      `json:"from"` // of the points of its timeline: the first that Values are for
	Values []int64  `json:"values"`
	most   int64
}

// maxLeaves is how many a flame view has, and maxFlameStages how many stages of a run are told
// apart in it.
const (
	maxLeaves      = 28
	maxFlameStages = 32
)

// leaves splits the arena and the Go heap at each sample by who held them, the largest first.
// What no task had, as between two of them, is that of the stage that ran then.
func (t *timeline) leaves(all []*summary) []leaf {
	n := len(t.samples)
	values := map[string]*leaf{}
	var names []string
	note := func(i int, bytes int64, color string, path ...string) {
		if bytes <= 0 {
			return
		}
		name := strings.Join(path, "\x00")
		l := values[name]
		if l == nil {
			l = &leaf{Path: path, Color: color, Values: make([]int64, n)}
			values[name] = l
			names = append(names, name)
		}
		l.Values[i] += bytes
		l.most = max(l.most, l.Values[i])
	}
	for _, s := range all {
		if s.h.Process || len(s.stages) == 0 {
			continue
		}
		held := s.held(t.samples)
		at := 0
		for i := range t.samples {
			for at < len(s.timeline) && s.timeline[at].At+s.offset <= t.samples[i].At {
				at++
			}
			arena := s.arenaAt(at, t.samples[i].At-s.offset)
			now := s.stageAt(t.samples[i].At - s.offset)
			for c := range record.Device {
				var sum int64
				for k := range held {
					sum += held[k][i][c]
				}
				for k := range held {
					st := s.stages[k]
					bytes := held[k][i][c]
					if sum > arena[c] { // of a moment nearby
						bytes = int64(float64(bytes) / float64(sum) * float64(arena[c]))
					}
					note(i, bytes, classColors[c], lineOf(st.Site), clip(plain(cmp.Or(s.h.Shown, st.Name)), 60), c.String())
				}
				note(i, arena[c]-sum, classColors[c], lineOf(now.Site), clip(plain(cmp.Or(s.h.Shown, now.Name)), 60), c.String())
			}
		}
	}
	for i := range t.samples {
		rest := t.samples[i].GoHeap
		for k, l := range t.heap {
			held, sum := int64(l.y[i]), 0.0
			rest -= held
			for _, st := range t.stacks[t.lines[k].Site] {
				sum += st.y[i]
			}
			for _, st := range t.stacks[t.lines[k].Site] {
				if calls := strings.Split(plainLines(st.name), "\n"); sum > 0 {
					part := int64(l.y[i] * min(st.y[i]/sum, 1))
					note(i, part, l.color, calls...)
					held -= part
				}
			}
			note(i, held, l.color, t.lines[k].Site, cmp.Or(t.lines[k].Code, "values"))
		}
		note(i, rest, heapColor, "Go heap, other")
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(values[b].most, values[a].most) })
	var leaves []leaf
	for _, name := range names[:min(len(names), maxLeaves)] {
		l := values[name]
		for l.From = 0; l.Values[l.From] == 0; l.From++ {
		}
		end := n
		for ; l.Values[end-1] == 0; end-- {
		}
		l.Values = l.Values[l.From:end]
		for i, v := range l.Values {
			l.Values[i] = int64(digits(float64(v), 4))
		}
		leaves = append(leaves, *l)
	}
	return leaves
}

// stageAt is the stage that was at work, or the next, or else the last.
func (s *summary) stageAt(at time.Duration) *stageSummary {
	for _, st := range s.stages {
		if at <= st.end {
			return st
		}
	}
	return s.stages[len(s.stages)-1]
}

// lineOf is the place of an operation as those of Go values are named.
func lineOf(site string) string {
	if line, ok := strings.CutPrefix(site, "cell:"); ok {
		return "line " + plain(line)
	}
	return cmp.Or(plain(site), "the program")
}

// held is what the tasks of each stage held at each of the samples, by a walk over its rows.
func (s *summary) held(samples []record.Sample) [][]record.Bytes {
	held := make([][]record.Bytes, min(len(s.stages), maxFlameStages))
	for k := range held {
		held[k] = make([]record.Bytes, len(samples)+1)
	}
	for t := range s.run.Tasks() {
		if int(t.Stage) >= len(held) {
			continue
		}
		start := possible(t.Start) + s.offset
		end := start + possible(t.Duration)
		from, _ := slices.BinarySearchFunc(samples, start, func(m record.Sample, at time.Duration) int { return cmp.Compare(m.At, at) })
		to, _ := slices.BinarySearchFunc(samples, end, func(m record.Sample, at time.Duration) int { return cmp.Compare(m.At, at) })
		for c, n := range t.Reserved {
			held[t.Stage][from][c] += n
			held[t.Stage][to][c] -= n
		}
	}
	for _, h := range held { // of changes, sums
		for i := 1; i < len(h); i++ {
			add(&h[i], &h[i-1])
		}
	}
	return held
}

// flameFigure draws who held the memory when it was most; the script draws it for any moment.
func (t *timeline) flameFigure() *figure {
	var best int
	var most int64
	for i := range t.samples {
		var sum int64
		for _, l := range t.flame {
			sum += l.at(i)
		}
		if sum > most {
			best, most = i, sum
		}
	}
	if most == 0 || len(t.flame) < 2 {
		return nil
	}
	depths := []int{3}
	for _, l := range t.flame {
		if l.at(best) > 0 {
			depths = append(depths, len(l.Path))
		}
	}
	f := &figure{Title: "Memory by line and operation", live: live{Height: (1+slices.Max(depths))*flameRow + 4, Flame: t.flame, Moment: best},
		Caption: "When it was largest; where scripts run, a click on the chart above chooses another moment."}
	d := newDrawing(760, float64(f.Height))
	d.printf(`<g fill-opacity=".53" stroke="%s" stroke-width=".7">`, edgeColor)
	var labels strings.Builder
	var words []string
	tree := flameTree(t.flame, best)
	var draw func(n *flameNode, depth int, x float64)
	draw = func(n *flameNode, depth int, x float64) {
		width := 760 * float64(n.bytes) / float64(most)
		y := depth * flameRow
		d.printf(`<path d="M%s %dh%sv%dh-%sz" fill="%s"/>`, num(x), y+2, num(width), flameRow, num(width), n.color)
		name := n.name + " " + units.Bytes(n.bytes)
		if depth == 1 && len(words) < 4 {
			words = append(words, name)
		}
		if text := clip(name, int(width/6.6)-1); len(text) > 4 {
			fmt.Fprintf(&labels, `<text x="%.0f" y="%d">%s</text>`, x+4, y+2+flameRow-6, escape(text))
		}
		for _, c := range n.children {
			draw(c, depth+1, x)
			x += 760 * float64(c.bytes) / float64(most)
		}
	}
	draw(tree, 0, 0)
	d.printf(`</g>%s`, labels.String())
	f.Alt = fmt.Sprintf("Memory by line and operation after %s: %s.", units.Duration(t.samples[best].At), strings.Join(words, ", "))
	f.Picture = d.done()
	return f
}

// flameRow is the height of a row of a flame view.
const flameRow = 20

// at is what a leaf held at a point.
func (l *leaf) at(i int) int64 {
	if i -= l.From; i < 0 || i >= len(l.Values) {
		return 0
	}
	return l.Values[i]
}

// flameNode is a box of a flame view, with those below it, the largest first.
type flameNode struct {
	name, color string
	bytes       int64
	children    []*flameNode
}

// groupColor is that of boxes that are made of others.
const groupColor = "#8888"

func flameTree(leaves []leaf, point int) *flameNode {
	root := &flameNode{name: "arena and Go heap", color: groupColor}
	for _, l := range leaves {
		n := l.at(point)
		if n == 0 {
			continue
		}
		root.bytes += n
		at := root
		for depth, name := range l.Path {
			i := slices.IndexFunc(at.children, func(c *flameNode) bool { return c.name == name })
			if i < 0 {
				i = len(at.children)
				at.children = append(at.children, &flameNode{name: name, color: groupColor})
			}
			at = at.children[i]
			at.bytes += n
			if depth == len(l.Path)-1 {
				at.color = l.Color
			}
		}
	}
	root.sort()
	return root
}

func (n *flameNode) sort() {
	slices.SortStableFunc(n.children, func(a, b *flameNode) int { return cmp.Compare(b.bytes, a.bytes) })
	for _, c := range n.children {
		c.sort()
	}
}
