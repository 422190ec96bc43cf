package gonbext

import (
	"crypto/rand"
	"flag"
	"fmt"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/cluster"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/units"
)

// cell is the state of a cell that Memory or Footprint began.
type cell struct {
	id, chart string
	on        string // a cluster; "" for none
	planOnly  bool
	plain     bool
	chunks    []int // of results with as many dimensions
	report    bool  // the kernel does not
	ended     sync.Once
	process   *process // nil under Footprint
	why       string   // the error that ends it
	displayer *displayer
	noCommand bool // there is no command to start as one
}

// current is the cell that this process runs.
var current = &cell{}

func init() { host.SetDefaults(host.Cell("")) } // runs of a notebook leave records

// Memory sets the budget, the device and the record of all runs of the cell. The
// function that it returns is to be deferred: it reports what the runs
// allocated, where the kernel does not.
//
// Like GoNB's own %%, it parses the program's flags.
func Memory(opts ...Option) func() { return begin(&cell{}, caller(), opts) }

// Footprint is Memory for a cell that computes nothing: Save plans, and returns
// an array that stands for what it would have written; Collect and Show end the
// cell where they need values. The report shows the plan and its alternatives.
// Calls of oocore itself plan too: Array.Save returns such an array, and what has
// to return values returns oocore.ErrPlanned.
func Footprint(opts ...Option) func() { return begin(&cell{planOnly: true}, caller(), opts) }

// Plain sets the default options of the runs of a cell without Memory and Footprint. The kernel
// shows the progress of runs that take long, and what they saved.
func Plain(opts ...Option) { begin(&cell{plain: true}, caller(), opts) }

func begin(c *cell, at host.Site, opts []Option) func() {
	if !flag.Parsed() {
		flag.Parse()
	}
	var s settings
	for _, o := range opts {
		if o != nil {
			o.apply(&s)
		}
	}
	c.id, c.chart, c.report = s.cell, s.chart, s.cell == ""
	if c.report {
		c.id = rand.Text()
	}
	var locate func(host.Site) host.Site
	if s.line > 0 {
		locate = cellLines(at, s.line, s.funcs)
		host.Relocate(locate)
	}
	current = c
	defaults, err := s.defaults()
	if err == nil && s.chunks != "" {
		c.chunks, err = host.ParseShape(s.chunks)
	}
	if err != nil {
		fail("gonbext", err)
	}
	c.on = s.on
	defaults = append(defaults, host.Cell(c.id))
	if c.planOnly { // what calls oocore itself computes nothing either
		defaults = append(defaults, host.PlanOnly())
	}
	host.SetDefaults(defaults...)
	budget := int64(0)
	if s.on == "" { // where it is a worker's
		budget, _ = units.ParseSize(s.budget) // checked by defaults
	}
	host.LimitOpening(budget)
	switch {
	case c.planOnly:
		checkLog()
	case !c.plain:
		c.process = watchProcess(c.id, budget, at, locate)
	}
	return c.end
}

// defaults returns the settings as options of oocore.
func (s *settings) defaults() (opts []oocore.Option, err error) {
	if s.budget != "" {
		if _, err := units.ParseSize(s.budget); err != nil {
			return nil, err
		}
		opts = append(opts, oocore.Memory(s.budget))
	}
	if s.device != "" {
		device, err := cuda.Open(s.device)
		if err != nil {
			return nil, err
		}
		opts = append(opts, oocore.On(device))
	}
	if s.processes != "" {
		n, err := strconv.Atoi(s.processes)
		if err != nil {
			return nil, err
		}
		opts = append(opts, oocore.Processes(n))
	}
	if s.on != "" {
		on, err := cluster.On(s.on, cluster.Options{Ask: true, Tell: tellCluster()})
		if err != nil {
			return nil, err
		}
		opts = append(opts, on)
	}
	if s.fresh {
		opts = append(opts, oocore.Fresh())
	}
	if s.workers != "" {
		n, err := strconv.Atoi(s.workers)
		if err != nil {
			return nil, err
		}
		opts = append(opts, host.Nominal(), oocore.Workers(n))
	}
	return opts, nil
}

// tellCluster prints the first line of a run on a cluster, which says what it costs. Later lines, which say how far
// it is, replace one another.
func tellCluster() func(line string) {
	first, drawn := true, 0
	return func(line string) {
		line = units.Line(line)
		if first {
			first = false
			fmt.Println(line)
			return
		}
		fmt.Printf("\r%-*s", drawn, line)
		drawn = utf8.RuneCountInString(line)
	}
}

// end reports, once: it runs deferred, and before an exit.
func (c *cell) end() {
	showLast()
	c.ended.Do(func() {
		if c.process != nil {
			c.process.done(c.why)
		}
		if c.report {
			c.showReport()
		}
	})
}

// Time is Plain for a cell that prints how long it took as its last line. Defer the function that it
// returns.
func Time(opts ...Option) func() {
	end := begin(&cell{plain: true}, caller(), opts)
	begun, cpu := time.Now(), machine.CPUTime()
	return func() {
		end()
		said := record.Card{Text: fmt.Sprintf("Wall time %s · CPU time %s\n", units.Duration(time.Since(begun)), units.Duration(machine.CPUTime()-cpu))}
		if !drawn(&said) {
			fmt.Print(said.Text)
		}
	}
}
