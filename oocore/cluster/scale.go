package cluster

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/internal/lazy"
	"github.com/gonbext/gonbext/oocore/internal/plan"
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
	sized := lazy.PlanOf(p)
	var all []Scale
	for _, n := range workers {
		all = append(all, scale(b, sized, taskSeconds(sized), n))
	}
	return all, nil
}

// scale is one row. seconds are those of a task of each stage.
func scale(b *batch, p *plan.Sized, seconds []float64, workers int) Scale {
	s := Scale{Workers: workers, Seconds: b.Begin, Memory: p.Each.Budget, WorkerHours: b.HandOver * float64(len(p.Stages)) / 3600}
	longest := 0.0
	for i := range p.Stages {
		tasks := p.Stages[i].Tasks()
		each := pack(&p.Stages[i], seconds[i], b.Least, b.Short, workers)
		elements := (tasks + each - 1) / each
		took := b.takes(tasks, elements, workers, seconds[i], p.Each.Budget)
		limit := "computing and its own storage link"
		switch storage := float64(p.Stages[i].Read+p.Stages[i].Written) / sharedRate; {
		case storage > took:
			took, limit = storage, "storage that all workers share"
		case elements < workers && each == 1:
			limit = plural(elements, "task, which is", "tasks, which are") + " not cut further"
		case elements < workers:
			limit = fmt.Sprintf("%s of %v", plural(elements, "element", "elements"), units.Duration(b.Least))
		case b.Start > seconds[i]*float64(each):
			limit = "the start of elements"
		}
		if took > longest {
			longest, s.Limit = took, limit
		}
		s.Seconds += took + b.HandOver
		s.WorkerHours += took * float64(min(workers, elements)) / 3600
	}
	return s
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

// pack is how many tasks an element has: those of some work at least, and so many that the workers end together. short, if
// it is set, is the least work where workers would have few elements.
func pack(s *plan.SizedStage, seconds float64, least, short time.Duration, workers int) int {
	tasks, unit := s.Tasks(), 1
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

// PrintScaling prints a table with what a plan takes on one worker to a thousand.
func PrintScaling(w io.Writer, on string, p *oocore.Plan) error {
	rows, err := Scaling(on, p, 1, 2, 4, 8, 16, 32, 64, 128, 1000)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "workers on %s\tpredicted\tworker-hours\tmemory each\tlimited by\n", on)
	for _, s := range rows {
		fmt.Fprintf(t, "%s\t%s\t%.2g\t%s\t%s\n", units.Count(int64(s.Workers)), units.Duration(time.Duration(s.Seconds*float64(time.Second))), s.WorkerHours, units.Bytes(s.Memory), s.Limit)
	}
	return t.Flush()
}
