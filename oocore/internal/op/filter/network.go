package filter

import (
	"slices"
	"sync"
)

// network selects an element of given rank from what a window shows by minima and maxima
// of whole rows, each of which is computed once however many windows share it: a row of
// windows has the columns of its neighbours. As many windows as a vector has lanes go
// through it at once.
//
// The columns are sorted, and neighbouring ones merged to 2, 4 … columns, by Batcher's
// odd-even merge (Knuth, The Art of Computer Programming 3, 5.3.4). Before each merge
// goes what cannot be of that rank, since too many are above or below it.
type network struct {
	steps     []step
	registers int
	result    int // register
	extra     int // elements that registers have beyond the row of results
}

// step computes a row from two others, of n elements more than there are results. Those
// below registers are; the others are the window's rows, from network.registers on.
type step struct {
	larger bool // the maximum, or else the minimum
	dst    int
	a, b   place
	extra  int
}

// place is a row seen from an element on.
type place struct{ row, shift int }

// lane is a value of each window along a row: that of a node, so many elements on.
type lane struct{ node, shift int }

// node is a row that the network computes, or one of the window's.
type node struct {
	input  bool
	larger bool
	a, b   lane
}

// builder makes a network. Equal nodes are one.
type builder struct {
	nodes []node
	known map[node]int
}

func (b *builder) add(n node) int {
	if i, ok := b.known[n]; ok {
		return i
	}
	b.nodes = append(b.nodes, n)
	b.known[n] = len(b.nodes) - 1
	return len(b.nodes) - 1
}

// fold is the smaller or larger of two lanes.
func (b *builder) fold(larger bool, x, y lane) lane {
	base := min(x.shift, y.shift)
	x.shift -= base
	y.shift -= base
	return lane{b.add(node{larger: larger, a: x, b: y}), base}
}

// merge is two sorted lists as one.
func (b *builder) merge(x, y []lane) []lane {
	switch {
	case len(x) == 0:
		return y
	case len(y) == 0:
		return x
	case len(x) == 1 && len(y) == 1:
		return []lane{b.fold(false, x[0], y[0]), b.fold(true, x[0], y[0])}
	}
	even, odd := b.merge(every(x, 0), every(y, 0)), b.merge(every(x, 1), every(y, 1))
	out := []lane{even[0]}
	for i := range max(len(even)-1, len(odd)) {
		switch {
		case i >= len(odd):
			out = append(out, even[i+1])
		case i+1 >= len(even):
			out = append(out, odd[i])
		default:
			out = append(out, b.fold(false, odd[i], even[i+1]), b.fold(true, odd[i], even[i+1]))
		}
	}
	return out
}

func every(x []lane, from int) (out []lane) {
	for i := from; i < len(x); i += 2 {
		out = append(out, x[i])
	}
	return out
}

func (b *builder) sort(x []lane) []lane {
	if len(x) < 2 {
		return x
	}
	return b.merge(b.sort(x[:len(x)/2]), b.sort(x[len(x)/2:]))
}

// columns are so many sorted columns in one list, from a shift on; count is a power of two.
func (b *builder) columns(column []lane, shift, count int) []lane {
	if count > 1 {
		return b.merge(b.columns(column, shift, count/2), b.columns(column, shift+count/2, count/2))
	}
	out := slices.Clone(column)
	for i := range out {
		out[i].shift += shift
	}
	return out
}

// candidates leaves out of a sorted list, of n elements in all of which the one of a
// rank is wanted, those that are surely before it, and those that are surely after it.
// It returns how many went of both.
func candidates(x []lane, n, rank int) (left []lane, before, after int) {
	before = max(len(x)-(n-rank), 0)
	after = max(len(x)-(rank+1), 0)
	return x[before : len(x)-after], before, after
}

// selected is the element of a rank of two sorted lists: the least, over all ways to
// take rank+1 elements of both, of the largest that is taken.
func (b *builder) selected(x, y []lane, rank int) lane {
	var least lane
	first := true
	for i := max(rank+1-len(y), 0); i <= min(rank+1, len(x)); i++ {
		j := rank + 1 - i
		var largest lane
		switch {
		case i == 0:
			largest = y[j-1]
		case j == 0:
			largest = x[i-1]
		default:
			largest = b.fold(true, x[i-1], y[j-1])
		}
		if first {
			least, first = largest, false
			continue
		}
		least = b.fold(false, least, largest)
	}
	return least
}

// newNetwork selects the element of a rank, from 0, of windows of rows elements by
// columns, which follow each other along a row.
func newNetwork(rows, columns, rank int) *network {
	b := &builder{known: map[node]int{}}
	inputs := make([]lane, rows)
	for i := range inputs {
		inputs[i] = lane{len(b.nodes), 0}
		b.nodes = append(b.nodes, node{input: true})
	}
	column := b.sort(inputs)
	n := rows * columns
	var lists [][]lane
	for at := 0; at < columns; {
		count := 1
		for at+2*count <= columns && 2*count < columns {
			count *= 2
		}
		lists = append(lists, b.columns(column, at, count))
		at += count
	}
	// The smallest lists are merged first. Each continues with its candidates alone.
	for len(lists) > 2 {
		k := len(lists)
		lists = append(lists[:k-2], b.merge(b.narrow(lists, k-2, &n, &rank), b.narrow(lists, k-1, &n, &rank)))
	}
	if len(lists) == 1 {
		return b.schedule(lists[0][rank], rows)
	}
	x := b.narrow(lists, 0, &n, &rank)
	y := b.narrow(lists, 1, &n, &rank)
	return b.schedule(b.selected(x, y, rank), rows)
}

func (b *builder) narrow(lists [][]lane, i int, n, rank *int) []lane {
	left, before, after := candidates(lists[i], *n, *rank)
	*n -= before + after
	*rank -= before
	return left
}

// schedule orders what the result needs, each just before it is first used, and gives
// registers, which are used again.
func (b *builder) schedule(result lane, rows int) *network {
	extra := make([]int, len(b.nodes))
	uses := make([]int, len(b.nodes))
	var order []int
	state := make([]bool, len(b.nodes))
	var visit func(i int)
	visit = func(i int) {
		if state[i] || b.nodes[i].input {
			return
		}
		state[i] = true
		n := b.nodes[i]
		visit(n.a.node)
		visit(n.b.node)
		order = append(order, i)
	}
	visit(result.node)
	for _, i := range slices.Backward(order) {
		for _, l := range []lane{b.nodes[i].a, b.nodes[i].b} {
			extra[l.node] = max(extra[l.node], extra[i]+l.shift)
			uses[l.node]++
		}
	}
	net := &network{}
	register := slices.Repeat([]int{-1}, len(b.nodes))
	var free []int
	release := func(l lane) {
		if uses[l.node]--; uses[l.node] == 0 && register[l.node] >= 0 {
			free = append(free, register[l.node])
		}
	}
	for _, i := range order {
		n := b.nodes[i]
		// The result goes to a register of its own, since a shift keeps it from being
		// written where an operand is read.
		var to int
		if len(free) > 0 {
			to, free = free[len(free)-1], free[:len(free)-1]
		} else {
			to = net.registers
			net.registers++
		}
		register[i] = to
		net.steps = append(net.steps, step{larger: n.larger, dst: to, extra: extra[i]})
		release(n.a)
		release(n.b)
		net.extra = max(net.extra, extra[i])
	}
	// Nodes become rows: registers first, then the window's.
	row := func(l lane) place {
		if l.node < rows {
			return place{net.registers + l.node, l.shift}
		}
		return place{register[l.node], l.shift}
	}
	for k, i := range order {
		net.steps[k].a, net.steps[k].b = row(b.nodes[i].a), row(b.nodes[i].b)
	}
	net.result = row(result).row
	return net
}

// networks are made once for windows of a form.
var networks sync.Map

func networkOf(rows, columns, rank int) *network {
	key := [3]int{rows, columns, rank}
	once, ok := networks.Load(key)
	if !ok {
		once, _ = networks.LoadOrStore(key, sync.OnceValue(func() *network { return newNetwork(rows, columns, rank) }))
	}
	return once.(func() *network)()
}
