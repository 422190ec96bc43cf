// Package chunking proposes the chunks of a stored array for the reads that are to come. What a read costs is counted: the chunks
// that it touches, on average over all places where it may lie.
package chunking

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Read is a kind of read: a box of some lengths, anywhere in the array.
type Read struct {
	Weight  float64 `json:"weight"` // how often it comes, beside the others
	Lengths []int   `json:"lengths"`
}

// Count is what reads take on average.
type Count struct {
	Bytes    float64 `json:"bytes"` // of the chunks, before compression, and of shards' indexes
	Requests float64 `json:"requests"`
}

// Candidate is a layout with what the reads take, weighted and each by itself.
type Candidate struct {
	Chunks []int `json:"chunks"`
	Shards []int `json:"shards,omitempty"`
	Count
	Reads []Count `json:"reads"`
}

// Limits are what chunks may have.
type Limits struct{ Least, Most int64 } // bytes

// Usual are the limits of chunks for disks and object stores: a request for less costs more than its bytes, and a task
// holds several of them.
var usual = Limits{1 << 20, 8 << 20}

// Array is what is to be stored.
type Array struct {
	Shape  []int
	Item   int // bytes of an element
	Limits Limits
}

// NewArray is an array with the usual limits.
func NewArray(shape []int, item int) Array { return Array{shape, item, usual} }

// touched is how many chunks of a length, along an axis of n elements, w elements touch, on average over all places.
func touched(n, w, chunk int) float64 {
	floors := func(x int) float64 { // the sum of i/chunk over i from 0 to x
		q, r := (x+1)/chunk, (x+1)%chunk
		return float64(chunk)*float64(q)*float64(q-1)/2 + float64(r)*float64(q)
	}
	places := n - w
	return 1 + (floors(n-1)-floors(w-2)-floors(places))/float64(places+1)
}

func (a *Array) bytes(chunks []int) float64 {
	n := float64(a.Item)
	for _, c := range chunks {
		n *= float64(c)
	}
	return n
}

// Count counts what reads take of chunks, or of chunks in shards.
func (a *Array) Count(chunks, shards []int, reads []Read) Candidate {
	c := Candidate{Chunks: chunks, Shards: shards}
	weights := 0.0
	each := a.bytes(chunks)
	for _, r := range reads {
		n, objects, parts := 1.0, 1.0, 1.0
		for d, w := range r.Lengths {
			n *= touched(a.Shape[d], w, chunks[d])
			if shards != nil {
				objects *= touched(a.Shape[d], w, shards[d])
				parts *= float64(shards[d] / chunks[d])
			}
		}
		one := Count{n * each, n}
		if shards != nil {
			one.Bytes += objects * (16*parts + 4)
			one.Requests += objects
		}
		c.Reads = append(c.Reads, one)
		c.Bytes += r.Weight * one.Bytes
		c.Requests += r.Weight * one.Requests
		weights += r.Weight
	}
	c.Bytes, c.Requests = c.Bytes/weights, c.Requests/weights
	return c
}

// lengths are the chunk lengths that are tried along an axis: those that divide it evenly, those of the reads, and powers of two, thinned so that
// each is larger by a ratio than the one before.
func (a *Array) lengths(d int, reads []Read, ratio float64) (all []int) {
	n := a.Shape[d]
	for k := 1; k <= n; k = max(k+1, int(float64(k)*ratio)) {
		all = append(all, (n+k-1)/k)
	}
	for k := 1; k < n; k = max(k+1, int(float64(k)*ratio)) {
		all = append(all, k)
	}
	slices.Sort(all)
	kept := all[:0]
	for _, v := range all {
		if len(kept) == 0 || float64(v) >= float64(kept[len(kept)-1])*ratio || v == n {
			kept = append(kept, v)
		}
	}
	for _, r := range reads {
		kept = append(kept, r.Lengths[d])
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// mostTried bounds how many shapes are tried.
const mostTried = 300_000

// Choose returns the chunks within the limits of which the reads take the fewest bytes and, among those, requests.
func (a *Array) Choose(reads []Read) Candidate {
	dims := len(a.Shape)
	least := min(float64(a.Limits.Least), a.bytes(a.Shape))
	var tried [][]int
	for ratio := 1.04; ; ratio *= 1.3 {
		n := 1.0
		tried = tried[:0]
		for d := range dims {
			tried = append(tried, a.lengths(d, reads, ratio))
			n *= float64(len(tried[d]))
		}
		if n*float64(len(reads)) <= mostTried*8 || ratio > 1e6 {
			break
		}
	}
	// along each axis, for each length and read: how many chunks it touches
	counts := make([][][]float64, dims)
	for d := range dims {
		for _, c := range tried[d] {
			row := make([]float64, len(reads))
			for i, r := range reads {
				row[i] = touched(a.Shape[d], r.Lengths[d], c)
			}
			counts[d] = append(counts[d], row)
		}
	}
	best, lowest := []int(nil), Count{math.Inf(1), 0}
	at := make([]int, dims)
	partial := make([][]float64, dims+1) // of each read, the product over the axes before
	for d := range partial {
		partial[d] = make([]float64, len(reads))
	}
	for i, r := range reads {
		partial[0][i] = r.Weight
	}
	var try func(d int, bytes float64)
	try = func(d int, bytes float64) {
		if d == dims {
			if bytes < least {
				return
			}
			n := 0.0
			for _, v := range partial[d] {
				n += v
			}
			if c := (Count{n * bytes, n}); c.less(lowest) {
				lowest, best = c, a.at(tried, at)
			}
			return
		}
		for k, c := range tried[d] {
			next := bytes * float64(c)
			if next > float64(a.Limits.Most) && c > 1 {
				break
			}
			at[d] = k
			for i, v := range counts[d][k] {
				partial[d+1][i] = partial[d][i] * v
			}
			try(d+1, next)
		}
	}
	if try(0, float64(a.Item)); best == nil { // elements, or all steps between lengths, are larger than the limits
		best = make([]int, dims)
		for d := range best {
			best[d] = 1
		}
	}
	return a.Count(a.refine(best, reads), nil, reads)
}

func (c Count) less(d Count) bool {
	return c.Bytes < d.Bytes*(1-1e-12) || c.Bytes <= d.Bytes*(1+1e-12) && c.Requests < d.Requests
}

func (a *Array) at(tried [][]int, at []int) (chunks []int) {
	for d, k := range at {
		chunks = append(chunks, tried[d][k])
	}
	return chunks
}

// refine changes one length at a time by a little, and two against each other, while that helps.
func (a *Array) refine(chunks []int, reads []Read) []int {
	least := min(float64(a.Limits.Least), a.bytes(a.Shape))
	best := a.Count(chunks, nil, reads)
	for better := true; better; {
		better = false
		for d := range chunks {
			for _, by := range []int{-8, -3, -2, -1, 1, 2, 3, 8} {
				c := slices.Clone(best.Chunks)
				c[d] = min(max(c[d]+by, 1), a.Shape[d])
				if n := a.bytes(c); n < least || n > float64(a.Limits.Most) {
					continue
				}
				if got := a.Count(c, nil, reads); got.less(best.Count) {
					best, better = got, true
				}
			}
		}
	}
	return best.Chunks
}

const (
	// manyChunks is from how many chunks on objects of several of them are proposed.
	manyChunks = 10_000
	// shardBytes is about what they have.
	shardBytes = 64 << 20
)

// Shard proposes shards for a candidate: nil where there are few chunks. They grow along the axes by which the reads open the fewest of them.
func (a *Array) Shard(c Candidate, reads []Read) Candidate {
	n := 1.0
	for d, k := range c.Chunks {
		n *= math.Ceil(float64(a.Shape[d]) / float64(k))
	}
	if n < manyChunks {
		return c
	}
	best := a.Count(c.Chunks, slices.Clone(c.Chunks), reads)
	for a.bytes(best.Shards) < shardBytes {
		var next *Candidate
		for d := range c.Chunks {
			if best.Shards[d] >= a.Shape[d] {
				continue
			}
			shards := slices.Clone(best.Shards)
			shards[d] *= 2
			if got := a.Count(c.Chunks, shards, reads); next == nil || got.Requests < next.Requests {
				next = &got
			}
		}
		if next == nil {
			break
		}
		best = *next
	}
	return best
}

// Candidates are the layouts to compare: what is proposed, what is there, and for each kind of read what is best for it alone.
func (a *Array) Candidates(present, shards []int, reads []Read) []Candidate {
	all := []Candidate{a.Shard(a.Choose(reads), reads)}
	add := func(chunks, shards []int) {
		if !slices.ContainsFunc(all, func(c Candidate) bool { return slices.Equal(c.Chunks, chunks) && slices.Equal(c.Shards, shards) }) {
			all = append(all, a.Count(chunks, shards, reads))
		}
	}
	if present != nil {
		add(present, shards)
	}
	for i := range reads {
		if len(reads) > 1 && i < 8 {
			add(a.Choose(reads[i:i+1]).Chunks, nil)
		}
	}
	slices.SortStableFunc(all[1:], func(a, b Candidate) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return all
}

// errNoReads is of a file without reads.
var errNoReads = errors.New("it has no reads: write lines such as 100 :x1x1, a weight and lengths along the axes, : for a whole axis")

// Parse reads a list of reads of an array: in each line a weight and the lengths along the axes, : for all of one. What is behind # is a
// comment.
func Parse(from io.Reader, shape []int) (reads []Read, err error) {
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		r, err := parse(words, shape)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if reads = append(reads, r); len(reads) > mostReads {
			return nil, fmt.Errorf("line %d: more than %d kinds of reads are not taken", n, mostReads)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(reads) == 0 {
		return nil, errNoReads
	}
	return reads, nil
}

const mostReads = 100

func parse(words []string, shape []int) (r Read, err error) {
	if len(words) != 2 {
		return r, fmt.Errorf("%.80q is not a weight and lengths, as in 100 :x1x1", strings.Join(words, " "))
	}
	if r.Weight, err = strconv.ParseFloat(words[0], 64); err != nil || !(r.Weight > 0) || r.Weight > 1e30 {
		return r, fmt.Errorf("%.80q is not a weight: give a number above 0", words[0])
	}
	lengths := strings.Split(words[1], "x")
	if len(lengths) != len(shape) {
		return r, fmt.Errorf("%.80q has %d lengths, the array has %d axes", words[1], len(lengths), len(shape))
	}
	for d, text := range lengths {
		n := shape[d]
		if text != ":" {
			if n, err = strconv.Atoi(text); err != nil || n < 1 {
				return r, fmt.Errorf("%.80q is not a length: give 1 or more, or : for a whole axis", text)
			}
		}
		r.Lengths = append(r.Lengths, max(min(n, shape[d]), 1))
	}
	return r, nil
}
