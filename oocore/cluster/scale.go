package cluster

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// Scale is what a plan takes on some number of workers, predicted from the plan alone.
type Scale struct {
	Workers     int
	Seconds     float64
	WorkerHours float64 // that workers are held
	Memory      int64   // of each
	Limit       string  // what the longest stage waits for
}

const (
	// sharedRate is what is assumed of storage for all workers together, in bytes a second.
	sharedRate = 5e9
	// touchRate is at how many bytes a second an element, which is a process, gets its memory: the system clears it.
	touchRate = 2e9
)

// Scaling predicts a plan on a cluster for numbers of workers. Storage is taken to give 200 MB/s to a worker, unless
// runs on this machine have told more, and 5 GB/s to all; a queue is taken to be empty. .ci/bench/cluster.py --scaling
// holds it to runs.
func Scaling(on string, p *oocore.Plan, workers ...int) ([]Scale, error) {
	b, err := find(on)
	if err != nil {
		return nil, err
	}
	sized, err := sizedOf(p)
	if err != nil {
		return nil, err
	}
	return b.rows(sized, &Options{}, workers), nil
}

// sizedOf returns what a plan was sized to, which one that an earlier cell of a notebook has made does not tell.
func sizedOf(p *oocore.Plan) (*size.Plan, error) {
	if p == nil || door.PlanOf(p) == nil {
		return nil, errors.New("the *oocore.Plan has no sizes here: call Array.Plan or PlanAll in this program")
	}
	return door.PlanOf(p), nil
}

func (b *batch) rows(p *size.Plan, o *Options, workers []int) (all []Scale) {
	seconds := taskSeconds(p)
	for _, n := range workers {
		s, _ := b.scale(p, seconds, o, n)
		all = append(all, s)
	}
	return all
}

// predict says in a header what is asked for each worker of a plan, and what all take together.
func predict(h *record.Header, on string, o *Options, p *size.Plan) {
	b, err := find(on)
	if err != nil {
		return // load and On have found it
	}
	n := p.Workers / max(p.Each.Workers, 1)
	h.Cluster = &record.Cluster{Name: b.Name, Workers: n, Memory: p.Each.Budget}
	s, stages := b.scale(p, taskSeconds(p), o, n)
	h.Seconds = &record.Seconds{Low: b.Begin, Likely: s.Seconds, High: b.Begin, Limit: s.Limit}
	for i := range stages {
		h.Stages[i].Seconds = &stages[i]
		h.Seconds.Low += stages[i].Low + b.HandOver
		h.Seconds.High += stages[i].High + b.HandOver
	}
}

// scale is one row, with the seconds of each stage. seconds are those of a task of each.
func (b *batch) scale(p *size.Plan, seconds []record.Seconds, o *Options, workers int) (s Scale, stages []record.Seconds) {
	s = Scale{Workers: workers, Seconds: b.Begin, Memory: p.Each.Budget, WorkerHours: b.HandOver * float64(len(p.Stages)) / 3600}
	longest := 0.0
	for i := range p.Stages {
		tasks := p.Stages[i].Tasks()
		each := b.pack(&p.Stages[i], seconds[i].Likely, o, workers)
		elements := (tasks + each - 1) / each
		storage := float64(p.Stages[i].Read+p.Stages[i].Written) / sharedRate
		takes := func(task float64) float64 {
			return max(b.takes(tasks, elements, workers, task, p.Each.Budget), storage)
		}
		took := record.Seconds{Low: takes(seconds[i].Low), Likely: takes(seconds[i].Likely), High: takes(seconds[i].High), Limit: "computing and its own storage link"}
		switch {
		case storage >= took.Likely:
			took.Limit = "storage that all workers share"
		case elements < workers && each == 1:
			took.Limit = plural(elements, "task, which is", "tasks, which are") + " not cut further"
		case elements < workers:
			least, _ := b.least(o)
			took.Limit = fmt.Sprintf("%s of %v", plural(elements, "element", "elements"), units.Duration(least))
		case b.Start > seconds[i].Likely*float64(each):
			took.Limit = "the start of elements"
		}
		if took.Likely > longest {
			longest, s.Limit = took.Likely, took.Limit
		}
		stages = append(stages, took)
		s.Seconds += took.Likely + b.HandOver
		s.WorkerHours += took.Likely * float64(min(workers, elements)) / 3600
	}
	return s, stages
}

func plural(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return units.Count(int64(n)) + " " + many
}

// takes is how many seconds the elements of a stage take on some workers, where storage does not keep them waiting. seconds are those of a
// task, memory is a worker's.
func (b *batch) takes(tasks, elements, workers int, seconds float64, memory int64) float64 {
	rounds := (elements + workers - 1) / workers // of elements of almost the same size
	return float64(rounds) * (b.Start + float64(memory)/touchRate + seconds*float64(tasks)/float64(max(elements, 1)))
}

// elementsEach is how many elements a worker is to have, so that one that is slow does not keep all waiting at the end.
const elementsEach = 4

// least is the least predicted work of an element, and that where workers would have few of them otherwise; 0 is the same.
func (b *batch) least(o *Options) (least, short time.Duration) {
	if o.ElementTime > 0 {
		return o.ElementTime, 0
	}
	return b.Least, b.Short
}

// pack is how many tasks an element has: those of some work at least, and so many that the workers end together.
func (b *batch) pack(s *size.Stage, seconds float64, o *Options, workers int) int {
	tasks, unit := s.Tasks(), 1
	least, short := b.least(o)
	if dims := len(s.Grid.Shape); s.Kind == plan.MatMulStage && tasks >= s.Grid.Count(dims-1)*workers {
		unit = s.Grid.Count(dims - 1) // a row of tiles, which share what they read of the first operand
	}
	work := least.Seconds()
	if short > 0 {
		each := seconds * float64(tasks) / float64(workers) // of work that starts at once, which costs nothing more
		work = min(work, max(short.Seconds(), each/elementsEach), max(short.Seconds()/4, each))
	}
	each := max(int(math.Ceil(work/seconds)), (tasks+mostOfStage-1)/mostOfStage, 1)
	if elements := (tasks + each - 1) / each; elements > workers {
		elements -= elements % workers
		each = (tasks + elements - 1) / elements
	}
	return min((each+unit-1)/unit*unit, max(tasks, 1))
}

// PrintScaling prints a table with what a plan takes on one worker to a thousand, and on those that it is for.
func PrintScaling(w io.Writer, on string, o Options, p *oocore.Plan) error {
	b, err := find(on)
	if err != nil {
		return err
	}
	sized, err := sizedOf(p)
	if err != nil {
		return err
	}
	workers := []int{1, 2, 4, 8, 16, 32, 64, 128, 1000, sized.Workers / max(sized.Each.Workers, 1)}
	slices.Sort(workers)
	rows := b.rows(sized, &o, slices.Compact(workers))
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "workers on %s\tpredicted\tworker-hours\tmemory each\tlimited by\n", on)
	for _, s := range rows {
		fmt.Fprintf(t, "%s\t%s\t%.2g\t%s\t%s\n", units.Count(int64(s.Workers)), units.Duration(time.Duration(s.Seconds*float64(time.Second))), s.WorkerHours, units.Bytes(s.Memory), s.Limit)
	}
	return t.Flush()
}
