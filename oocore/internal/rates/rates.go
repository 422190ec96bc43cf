// Package rates predicts how long plans take on this machine, from the records of its
// earlier runs.
//
// A plan counts what each stage does, in nanoseconds of one core at nominal rates, and a
// record has the time that cores and clocks measured for it. From the latest records the
// package learns by how much this machine differs for each kind of work, how fast its disk
// is, and what a run takes outside its stages. How much longer stages take than their cores
// changes with whatever else the machine does: there the latest stages count most.
// Kinds that no run has done are taken to differ as the others of their activity do, and
// widen the range, which is otherwise that within which nine of ten runs were, each predicted
// by what others tell.
//
// There is no other file than the run log. Records that are torn, of another machine, of
// a run that failed or was resumed, or whose times make no sense, are left out.
package rates

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/plan/cost"
	"github.com/gonbext/gonbext/oocore/record"
)

// Rates are what is known of one machine. A nil *Rates knows nothing. Its fields are exported
// for the file that it is kept in.
type Rates struct {
	All      float64 // what a nominal nanosecond takes
	Activity map[record.Activity]float64
	Kind     map[kind]float64
	Data     map[data]float64 // by how much more than other data some takes to be encoded and decoded
	Overlap  float64          // the share that waiting for each other adds to the time that cores need
	Disk     diskTime
	End      [ends]float64 // seconds that a run takes in addition to its stages, by what it ends with
	Spread   [2]float64    // of predictions, as the logarithm of a factor: of runs that cores limit, and of those that the disk does
}

// kind is one kind of work.
type kind struct {
	Of   record.Activity
	Name string
}

// data is what is encoded or decoded: how long that takes depends on how well it is compressed.
type data struct {
	Of   record.Activity
	Path string // of the stored array that it comes from
}

// MarshalText and UnmarshalText make them keys in a file.
func (k kind) MarshalText() ([]byte, error)         { return joined(k.Of, k.Name), nil }
func (k *kind) UnmarshalText(b []byte) (err error)  { k.Of, k.Name, err = cut(b); return err }
func (d data) MarshalText() ([]byte, error)         { return joined(d.Of, d.Path), nil }
func (d *data) UnmarshalText(b []byte) (err error)  { d.Of, d.Path, err = cut(b); return err }
func joined(of record.Activity, what string) []byte { return []byte(string(of) + ":" + what) }

func cut(b []byte) (record.Activity, string, error) {
	of, what, ok := strings.Cut(string(b), ":")
	if !ok {
		return "", "", fmt.Errorf("rates: %q names no work", b)
	}
	return record.Activity(of), what, nil
}

// stage is a stage that ran.
type stage struct {
	work         []record.Work
	seconds, cpu float64
	cores        float64 // that it could keep busy
}

// diskTime is what waiting for the disk takes: seconds of a byte that is read, of one that is
// written, and of a nominal nanosecond of what chunks that are files take.
type diskTime [3]float64

// firstDisk is a disk until a run has told.
var firstDisk = diskTime{cost.Disk / 1e9, cost.Disk / 1e9, cost.DiskObject / cost.Object / 1e9}

// of is the time of a stage's traffic.
func (d *diskTime) of(t traffic) (seconds float64) {
	for k, n := range t {
		seconds += n * d[k]
	}
	return seconds
}

// run is a run that ended well: its stages, and what it took in addition to them, to open
// arrays, to make durable what it wrote, and to put it in its place.
type run struct {
	title   string
	stages  []stage
	seconds float64       // in addition; 0 where that is not known
	of      [ends]float64 // the run itself, its output, chunks that are files, bytes that are pages to be made durable
}

const ends = 4

const theDisk = "the disk" // as what limits a stage

// endsOf counts what a run ends with.
func endsOf(h *record.Header) (of [ends]float64) {
	of[0] = 1
	if h.Output != "" {
		of[1] = 1
	}
	for i := range h.Stages {
		for _, w := range h.Stages[i].Work {
			switch {
			case w.Kind == record.ChunksWritten:
				of[2] += w.Nanos
			case w.Of == record.Writing && w.Kind == record.PagesWritten:
				of[3] += float64(min(w.Bytes, mostPages))
			}
		}
	}
	return of
}

const (
	mostOverlap   = 10      // on a machine that others use, too
	mostPages     = 1 << 30 // bytes that are left to be made durable: runs do that about once a second
	leastTraffic  = 8 << 20 // bytes that a stage has to move for the disk to be seen
	stiffness     = 0.03    // with which kinds of work are held to their activity
	halfLife      = 10      // of a stage's weight, in stages that ran since
	folds         = 5       // of plans, in turn predicted by the others
	within        = 0.92    // of the runs so predicted are in the range
	fewRuns       = 8       // that tell no spread of their own
	mostPredicted = 64      // of the latest runs: each fold takes a fit
	leastCPU      = 2e-3    // seconds: a shorter time says little
	narrowest     = 0.1
	widest        = 1.5
	leastTold     = 5e-3 // seconds of a run that tells how far off predictions are
	unknown       = 0.7  // the logarithm of the factor by which kinds that no run has done may be off
)

// learn fits rates to what ran; nil where nothing did.
func learn(runs []run) *Rates {
	r := fit(runs)
	if r != nil {
		r.spreads(runs)
	}
	return r
}

// fit is learn, without the spread of what it predicts.
func fit(runs []run) *Rates {
	var stages []stage
	for i := range runs {
		for _, s := range runs[i].stages {
			if s.cpu >= leastCPU && s.seconds > 0 && nanos(s.work) > 0 {
				stages = append(stages, s)
			}
		}
	}
	if len(stages) == 0 {
		return nil
	}
	r := &Rates{Activity: map[record.Activity]float64{}, Kind: map[kind]float64{}, Data: map[data]float64{}, Disk: firstDisk, Spread: [2]float64{unknown, unknown}}
	var ratios []float64
	for _, s := range stages {
		ratios = append(ratios, s.cpu*1e9/nanos(s.work))
	}
	r.All = quantile(ratios, 0.5)
	nominal := func(w record.Work) float64 { return w.Nanos }
	fitWork(stages, nominal, func(w record.Work) record.Activity { return w.Of }, func(record.Activity) float64 { return r.All }, r.Activity)
	fitWork(stages, nominal, func(w record.Work) kind { return kind{w.Of, w.Kind} }, func(k kind) float64 { return r.of(k.Of) }, r.Kind)
	ofKind := func(w record.Work) float64 { return w.Nanos * r.Kind[kind{w.Of, w.Kind}] }
	fitWork(stages, ofKind, dataOf, func(data) float64 { return 1 }, r.Data)
	maps.DeleteFunc(r.Data, func(d data, _ float64) bool { return d.Path == "" })
	r.waits(stages)
	r.endings(runs)
	return r
}

// of is the factor of an activity.
func (r *Rates) of(a record.Activity) float64 {
	if f, ok := r.Activity[a]; ok {
		return f
	}
	return r.All
}

// dataOf is the data that work encodes or decodes; the zero value is none.
func dataOf(w record.Work) data {
	if w.Of == record.Encoding || w.Of == record.Decoding {
		return data{w.Of, w.Path}
	}
	return data{}
}

// fitWork finds by how much work differs from what is expected, in nanoseconds, by a
// property of it, where the cores' time tells.
func fitWork[K comparable](stages []stage, expected func(record.Work) float64, of func(record.Work) K, prior func(K) float64, to map[K]float64) {
	var keys []K
	index := map[K]int{}
	p := problem{}
	for _, s := range stages {
		var row []term
		for _, w := range s.work {
			k := of(w)
			if _, ok := index[k]; !ok {
				index[k] = len(keys)
				keys = append(keys, k)
				p.prior, p.stiffness = append(p.prior, prior(k)), append(p.stiffness, stiffness)
			}
			value := expected(w) / 1e9 / s.cpu
			if i := slices.IndexFunc(row, func(t term) bool { return t.coefficient == index[k] }); i >= 0 {
				row[i].value += value
			} else {
				row = append(row, term{index[k], value})
			}
		}
		p.add(s.cpu/(s.cpu+5*leastCPU), row...)
	}
	for i, f := range p.solve() {
		to[keys[i]] = f
	}
}

// waits finds how much longer stages take than their cores, and how fast the disk is.
func (r *Rates) waits(stages []stage) {
	var longer, all []weighted
	for i, s := range stages {
		one := weighted{s.seconds * s.cores / s.cpu, recency(i)}
		all = append(all, one)
		if !trafficOf(s.work).much() {
			longer = append(longer, one)
		}
	}
	if len(longer) < 5 { // stages that cannot wait for the disk are too few
		longer = all
	}
	r.Overlap = min(max(median(longer), 1), mostOverlap)
	// The disk is what limits a stage whose cores are idle; that others were faster than it
	// tells, too.
	for range 8 {
		p := problem{prior: slices.Clone(r.Disk[:])}
		for _, first := range firstDisk {
			p.stiffness = append(p.stiffness, 0.05/sq(first))
		}
		for _, s := range stages {
			t := trafficOf(s.work)
			io, cores := r.Disk.of(t), r.Overlap*s.cpu/s.cores
			if t.much() && (s.seconds > 1.25*cores || io > s.seconds) {
				var row []term
				for k, n := range t {
					row = append(row, term{k, n / s.seconds})
				}
				p.add(1, row...)
			}
		}
		copy(r.Disk[:], p.solve())
	}
}

// endings finds what runs take in addition to their stages.
func (r *Rates) endings(runs []run) {
	p := problem{prior: []float64{1e-3, 5e-3, 1e-9, 1e-10}, stiffness: []float64{1, 1, 1e10, 1e15}}
	for _, e := range runs {
		if e.seconds <= 0 {
			continue
		}
		var row []term
		for k, n := range e.of {
			row = append(row, term{k, n / e.seconds})
		}
		p.add(1, row...)
	}
	copy(r.End[:], p.solve())
}

// spreads finds how far off predictions are: those of a fifth of the plans by what the others
// tell. A fit is nearer to the plans that it was made of than to those that follow. What is
// left out of them are kinds of work that the others have not done, which widen a range by
// themselves.
func (r *Rates) spreads(runs []run) {
	runs = runs[:min(len(runs), mostPredicted)]
	fold := foldsOf(runs)
	var off [2][]float64
	for f := range folds {
		var others []run
		for i := range runs {
			if fold[i] != f {
				others = append(others, runs[i])
			}
		}
		by := fit(others)
		if by == nil {
			continue
		}
		for i := range runs {
			if fold[i] != f {
				continue
			}
			var took, new float64
			var all record.Seconds
			for _, s := range runs[i].stages {
				cpu, _, unseen := by.cpu(s.work)
				took, new = took+s.seconds, max(new, unseen/max(cpu, 1e-9))
				likely := by.stage(s.work, s.cores)
				all = *all.Plus(&likely)
			}
			if runs[i].seconds > 0 {
				took += runs[i].seconds
				all.Likely += by.end(runs[i].of)
			}
			if all.Likely > 0 && took > leastTold && new < 0.1 {
				k := limitedBy(all.Limit)
				off[k] = append(off[k], math.Abs(math.Log(took/all.Likely)))
			}
		}
	}
	both := slices.Concat(off[0], off[1])
	for k := range off {
		if len(off[k]) < fewRuns {
			off[k] = both
		}
		if n := float64(len(off[k])); n > 0 {
			r.Spread[k] = min(max(quantile(off[k], within)*(1+2/n), narrowest), widest)
		}
	}
}

// foldsOf deals runs out: all runs of one plan to one fold, or, where plans are too few, each
// run by itself.
func foldsOf(runs []run) []int {
	fold, of := make([]int, len(runs)), map[string]int{}
	for i := range runs {
		title := runs[i].title
		if _, ok := of[title]; !ok {
			of[title] = len(of) % folds
		}
		fold[i] = of[title]
	}
	if len(of) < folds {
		for i := range fold {
			fold[i] = i % folds
		}
	}
	return fold
}

// limitedBy is the index of a limit in Spread.
func limitedBy(limit string) int {
	if limit == theDisk {
		return 1
	}
	return 0
}

// end predicts what a run takes in addition to its stages.
func (r *Rates) end(of [ends]float64) (seconds float64) {
	for k, n := range of {
		seconds += n * r.End[k]
	}
	return seconds
}

// cpu predicts the time of cores that work takes, in all, by activity, and of kinds that no
// run has done.
func (r *Rates) cpu(work []record.Work) (all float64, by map[record.Activity]float64, new float64) {
	by = map[record.Activity]float64{}
	for _, w := range work {
		f, ok := r.Kind[kind{w.Of, w.Kind}]
		if !ok {
			f = r.of(w.Of)
		}
		if of, ok := r.Data[dataOf(w)]; ok {
			f *= of
		}
		t := w.Nanos / 1e9 * f
		if !ok {
			new += t
		}
		all += t
		by[w.Of] += t
	}
	return all, by, new
}

// stage predicts the time of a stage's work on so many cores.
func (r *Rates) stage(work []record.Work, cores float64) record.Seconds {
	cpu, by, new := r.cpu(work)
	s := record.Seconds{Likely: r.Overlap * cpu / cores}
	for _, a := range []record.Activity{record.Computing, record.Reading, record.Decoding, record.Encoding, record.Writing, record.Organising} {
		if s.Limit == "" || by[a] > by[record.Activity(s.Limit)] {
			s.Limit = string(a)
		}
	}
	if io := r.Disk.of(trafficOf(work)); io > s.Likely {
		s.Likely, s.Limit = io, theDisk
	}
	spread := r.Spread[limitedBy(s.Limit)]
	if cpu > 0 {
		spread += unknown * new / cpu
	}
	s.Low, s.High = s.Likely*math.Exp(-spread), s.Likely*math.Exp(spread)
	return s
}

// nanos is the sum of work.
func nanos(work []record.Work) (sum float64) {
	for _, w := range work {
		sum += w.Nanos
	}
	return sum
}

// traffic is what waits for the disk while a stage runs: bytes that come from it, bytes that go
// there, and what chunks that are files take, each of which waits. What is smaller goes there at
// the run's end.
type traffic [3]float64

func trafficOf(work []record.Work) (t traffic) {
	for _, w := range work {
		switch {
		case w.Of == record.Reading:
			t[0] += float64(w.Disk)
		case w.Of == record.Writing && w.Bytes >= disk.LargeFile:
			t[1] += float64(w.Bytes)
		case w.Kind == record.ChunksWritten:
			t[2] += w.Nanos
		}
	}
	if t[1] == 0 {
		t[2] = 0
	}
	return t
}

// much reports enough traffic for the disk to be seen.
func (t traffic) much() bool { return t[0]+t[1] >= leastTraffic }

func sq(x float64) float64 { return x * x }

// weighted is a value that counts for more or less than others.
type weighted struct{ value, weight float64 }

// recency is the weight of the i-th latest: how much else the machine has to do changes.
func recency(i int) float64 { return math.Exp2(-float64(i) / halfLife) }

// median has as much weight below it as above; it sorts the values.
func median(values []weighted) float64 {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	var all, below float64
	for _, v := range values {
		all += v.weight
	}
	for _, v := range values {
		if below += v.weight; below >= all/2 {
			return v.value
		}
	}
	return 0
}

// quantile of values, which it sorts; 0 of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[int(q*float64(len(values)-1))]
}
