package run

import (
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

// Options say how a job is planned and run.
type Options struct {
	Budget    int64         // 0: the machine's default, or what the pool has
	Pool      *Pool         // nil: the run shares the process with all that are in none
	NoWait    bool          // a run that would wait for others is an error
	Device    device.Device // nil: the CPU
	Workers   int           // 0: the cores that Go uses
	Processes int           // worker processes; 0: this process
	Cluster   door.Cluster  // nil: tasks run on this machine

	Fresh     bool     // computes also what was saved before
	Version   string   // of the Go functions that the expression calls
	Reads     []string // files that these functions read by themselves
	NoClobber bool     // an output that exists is an error

	PlanOnly     bool            // nothing is made
	Nominal      bool            // the plan is that of any machine
	Alternatives []record.WhatIf // to a plan, for its record
	Dry          *Dry            // nil where runs are made
	Group        *Group          // nil for a run by itself
	Foreseen     int64           // overhead that the algorithm of the run was planned with; 0 where it was not planned
	Least        int64           // budget that all runs of the algorithm need; 0 where it was not planned
	Held         int64           // bytes that the algorithm holds in addition
	Loop         string          // that takes what the run makes; "" for none

	SideReductions *SideReductions // nil where a run gives nothing but its array
	Cell           string
	Shown          string                 // what the run only shows; "" of one that computes for its own sake
	Hosted         bool                   // runs leave a record, of a cell or of none
	Progress       *Watcher               // nil where nobody asks
	Report         Report                 // nil where nobody asks
	Warn           func(string)           // of what a plan warns; nil where nobody asks
	Inspect        func(*size.Plan) error // before anything is read; nil where nobody asks
}

// OfRun reports options that a run has, and an output does not.
func (o *Options) OfRun() bool {
	return o.Budget != 0 || o.Pool != nil || o.NoWait || o.Device != nil || o.Workers != 0 || o.Processes != 0 || o.Cluster != nil || o.Fresh || o.Version != "" || o.Reads != nil ||
		o.PlanOnly || o.Cell != "" || o.Group != nil || o.Dry != nil || o.SideReductions != nil || o.Progress != nil || o.Report != nil
}

// MakesNothing reports options under which runs are only planned.
func (o *Options) MakesNothing() bool { return o.PlanOnly || o.Dry != nil }

// Log is where the records of runs go.
func (o *Options) Log() (dir string, err error) {
	if !o.recorded() {
		return "", record.ErrOff
	}
	return record.Dir()
}

func (o *Options) recorded() bool { return o.Hosted || record.Asked() }

// shared is where a run waits for others.
func (o *Options) shared() *budget.Pool {
	if o.Pool == nil {
		return &budget.Process
	}
	return &o.Pool.runs
}
