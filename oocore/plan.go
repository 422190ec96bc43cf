package oocore

import (
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/bill"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/record"
)

// Plan is what Save or Collect would do within its budget.
type Plan struct {
	Title  string // the expression
	Budget int64  // bytes of the whole process; on a cluster of each worker, as Need and Peak are
	// Need is the smallest budget that would do. It is of the whole process: under a memory limit
	// of Need bytes, and with Memory of as many, the run finishes. With Processes it is of this
	// process and its workers together. Files in a tmpfs, which lie in memory, are in it.
	Need          int64
	Peak          record.Bytes   // predicted, by class, when the most is reserved
	DevicePeak    int64          // predicted, of the device's own memory
	Stages        []record.Stage // in the order of the run
	Passes        int            // over stored data: of stages that share no array, those of one
	Read, Written int64          // bytes from and to files
	// Traffic is what the run asks object stores and web servers for, by place, with the opening of inputs: as of a run from a cold
	// start, to places where nothing lies, of inputs without missing chunks. TrafficAbout says why it may be somewhat more or less;
	// "" where it is exact.
	Traffic      []record.Traffic
	TrafficAbout string
	// Deprecated: Plan is the plan itself.
	Plan *Plan

	sized
	//lint:ignore U1000 package door calls its method
	carrier
}

type sized = door.Plan

// String returns the plan as a tree of stages.
func (p *Plan) String() string {
	if p != nil && door.PlanOf(p) != nil {
		return door.PlanOf(p).String()
	}
	if p == nil || door.CopyOf(p) == nil {
		return errNoPlan.Error()
	}
	return door.CopyOf(p).Text
}

// errNoPlan is the error of a plan that no function of this package made.
var errNoPlan = errors.New("the *oocore.Plan has no stages: make one with Array.Plan or PlanAll")

// Encode returns what a worker process needs of the plan, whatever its budget. A plan that calls a
// function of this program cannot be encoded.
func (p *Plan) Encode() ([]byte, error) {
	if p != nil && door.PlanOf(p) != nil {
		return door.PlanOf(p).Encode()
	}
	if p == nil || door.CopyOf(p) == nil {
		return nil, fmt.Errorf("encode: %w", errNoPlan)
	}
	if c := door.CopyOf(p); c.Error != "" {
		return nil, errors.New(c.Error)
	}
	return door.CopyOf(p).Encoded, nil
}

// shown returns a plan as programs see it.
func shown(s *size.Plan) *Plan {
	h := s.PlanHeader()
	p := &Plan{Title: h.Title, Budget: h.Budget, Need: h.Need, Peak: h.Predicted, DevicePeak: s.DevicePeak, Stages: h.Stages, Passes: h.Passes(), sized: door.NewPlan(s)}
	for _, stage := range h.Stages {
		p.Read, p.Written = p.Read+stage.Read, p.Written+stage.Written
	}
	p.Traffic, p.TrafficAbout = bill.Of(s)
	p.Plan = p
	return p
}

// Plan returns what Save to a path would do, and Collect where the path is empty:
// passes, chunks and predicted bytes. It reads nothing.
func (a *Array) Plan(path string, opts ...Option) (*Plan, error) {
	r, err := a.prepare(graph.Caller(), path, opts)
	if err != nil {
		return nil, err
	}
	return shown(r.Plan), nil
}

// Explain returns the plan of saving to a path, or of Collect where the path is empty, as a
// tree of stages: what each reads, computes and writes, the memory that it will take, why
// it is there, and what is computed again rather than stored. It reads nothing.
func (a *Array) Explain(path string, opts ...Option) (string, error) {
	p, err := a.Plan(path, opts...)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}
