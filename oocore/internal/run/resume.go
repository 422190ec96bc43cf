package run

import (
	"context"
	"encoding/json"

	"github.com/gonbext/gonbext/oocore/internal/budget"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/machine"
)

// Resume continues a run whose tasks Save has left to a cluster, in a process of the cluster:
// file has the plan, and text is what the executor was given.
func Resume(ctx context.Context, file string, text json.RawMessage, c door.Cluster) error {
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	p, err := exec.ReadPlan(file)
	if err != nil {
		return err
	}
	o := &Options{Cluster: c, Cell: s.Cell, Hosted: s.Recorded, Budget: s.Memory, Processes: s.Workers, Workers: s.Cores}
	m := &clusterMemory{measured{Options: o, overhead: budget.Overhead(s.Memory) + p.OpenBytes()}}
	j := &Job{limits: machine.Read(), print: s.Fingerprint, inputs: s.Inputs, elsewhere: true}
	if j.Plan, err = size.New(p, o.workers(m.overhead)); err != nil {
		return err
	}
	m.reserve(j)
	j.forgetFolder()
	_, err = o.continued()(ctx, j)
	return err
}
