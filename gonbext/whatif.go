package gonbext

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/gonbext/gonbext/gonbext/internal/cards"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cluster"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

// The alternatives of a footprint: chunk shapes by budgets, these and the cell's own, on the
// device that the cell names; also GPUs with the plan's own chunks, where it names one.
var budgets = []int64{16 << 20, 64 << 20}

// planner plans one call, in different ways.
type planner func(opts ...oocore.Option) (*oocore.Plan, error)

// footprint returns the option that makes a call record its plan with the alternatives. A
// budget that is too small does not end a footprint: the plan is then that of the smallest
// budget which would do.
func footprint(planned planner, opts []oocore.Option) ([]oocore.Option, error) {
	p, err := planned(opts...)
	if small, ok := errors.AsType[*oocore.MemoryError](err); ok {
		fmt.Println(explain("", err, host.Caller()))
		opts = append(slices.Clone(opts), memory(small.Need))
		p, err = planned(opts...)
	}
	if err != nil {
		return nil, err
	}
	if current.on != "" {
		return append(slices.Clone(opts), host.PlanOnly()), cluster.PrintScaling(os.Stdout, current.on, cluster.Options{}, p)
	}
	return append(slices.Clone(opts), host.PlanOnly(alternatives(whatIf{planned, opts}, host.Sized(p))...)), nil
}

func alternatives(what whatIf, p *host.Plan) []record.WhatIf {
	tried := append(slices.Clone(budgets), p.Budget)
	slices.Sort(tried)
	var rows []record.WhatIf
	tried = slices.Compact(tried)
	for i, chunks := range chunkShapes(p) {
		var option []oocore.Option
		if i > 0 {
			option = append(option, oocore.Chunks(chunks...))
		}
		need := what.need(option...)
		for _, budget := range tried {
			row := what.row(append(option, memory(budget))...)
			row.Chunks, row.Budget, row.Need = chunks, budget, need
			rows = append(rows, row)
		}
	}
	rows = helpful(rows, p.Budget)
	if p.Device.Memory > 0 {
		rows = append(rows, cards.Rows(p.Device, what.plan)...)
	}
	return rows
}

// helpful leaves out rows that tell a reader nothing; the first rows have the plan's own chunks. It
// leaves out rows that differ from another one only in a larger budget, rows that a little more memory
// would make fit, all but the largest of the rows of one shape that do not fit, and rows that take
// ten times what the plan takes. The plan's own row stays where others do.
func helpful(rows []record.WhatIf, budget int64) (kept []record.WhatIf) {
	own := slices.IndexFunc(rows, func(w record.WhatIf) bool { return w.Budget == budget })
	absurd := func(w, own *record.WhatIf) bool {
		if !w.Fits || !own.Fits {
			return false
		}
		return w.Moved > 10*own.Moved || w.Time != nil && own.Time != nil && w.Time.Likely > 10*own.Time.Likely
	}
	for i, w := range rows {
		same := func(v record.WhatIf) bool {
			if !v.Fits || !w.Fits {
				return v.Fits == w.Fits && slices.Equal(v.Chunks, w.Chunks)
			}
			return v.Passes == w.Passes && v.Moved == w.Moved && v.Tasks == w.Tasks && 16*max(v.Peak, w.Peak) <= 17*min(v.Peak, w.Peak)
		}
		told := slices.ContainsFunc(kept, same) || own > i && same(rows[own])
		if !w.Fits {
			told = i+1 < len(rows) && same(rows[i+1]) || w.Need < w.Budget+w.Budget/4
		}
		if i == own || !told && !absurd(&w, &rows[own]) {
			kept = append(kept, w)
		}
	}
	if len(kept) == 1 {
		return nil
	}
	return kept
}

// whatIf plans one call with other options besides its own.
type whatIf struct {
	planned planner
	opts    []oocore.Option
}

func (w whatIf) plan(opts ...oocore.Option) (*host.Plan, error) {
	p, err := w.planned(slices.Concat(w.opts, opts)...)
	if err != nil {
		return nil, err
	}
	return host.Sized(p), nil
}

// need returns the smallest budget that would do, from the error of a budget that is far too small.
func (w whatIf) need(opts ...oocore.Option) int64 {
	_, err := w.plan(append(opts, memory(1))...)
	if small, ok := errors.AsType[*oocore.MemoryError](err); ok {
		return small.Need
	}
	return 0
}

// row returns the figures of one alternative. It has none where the budget is too small.
func (w whatIf) row(opts ...oocore.Option) (row record.WhatIf) {
	p, err := w.plan(opts...)
	if err != nil {
		return row
	}
	h := p.Header()
	row.Fits, row.Passes, row.Peak = true, h.Passes(), p.Peak.Host()
	host.Predict(&h)
	row.Time = h.Seconds
	row.Traffic, _ = host.Traffic(p)
	for _, s := range h.Stages { // on the device, where the plan has one
		row.Moved += s.Read + s.Written
		row.Tasks += s.Tasks
	}
	return row
}

func memory(bytes int64) oocore.Option { return oocore.Memory(strconv.FormatInt(bytes, 10)) }

func last(p *host.Plan) *host.Stage { return &p.Stages[len(p.Stages)-1] }

// chunkShapes are the plan's own chunks, then some that people try: blocks of
// whole rows, a tile, whole columns. A reduction and a product choose their own, and of
// several outputs each has its own.
func chunkShapes(p *host.Plan) [][]int {
	shape := p.Arrays[p.Output].Shape
	shapes := [][]int{last(p).Grid.Chunks}
	if kind := last(p).Kind; kind != device.MapStage || len(p.Others) > 0 || len(shape) == 0 || slices.Min(shape) == 0 {
		return shapes
	}
	rows, tile, columns := slices.Clone(shape), slices.Clone(shape), slices.Clone(shape)
	rows[0] = min(1024, shape[0])
	for i := range tile {
		tile[i] = min(512, shape[i])
	}
	columns[len(shape)-1] = 1
	for _, s := range [][]int{rows, tile, columns} {
		if !slices.ContainsFunc(shapes, func(t []int) bool { return slices.Equal(s, t) }) {
			shapes = append(shapes, s)
		}
	}
	return shapes
}
