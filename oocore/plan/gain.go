package plan

import (
	"github.com/gonbext/gonbext/oocore/plan/cost"
	"github.com/gonbext/gonbext/oocore/record"
)

// diskSeconds is what a usual disk takes for a stage's traffic. It only says where a device
// gains nothing, and decides nothing.
func (s *SizedStage) diskSeconds() float64 { return float64(s.Read+s.Written) * cost.Disk / 1e9 }

// compare predicts what the host takes for a stage that the device does, without the
// device and in any case.
func (p *Sized) compare(stage int) {
	v := p.OnDevice[stage]
	v.CPU = p.coreSeconds(&p.Stages[stage]) / float64(max(p.Workers, 1))
	v.Disk = v.diskSeconds()
}

// coreSeconds is what one core takes to compute a stage, without a device and at nominal
// rates.
func (p *Sized) coreSeconds(s *SizedStage) (seconds float64) {
	for _, w := range p.workOf(s, false) {
		if w.Of == record.Computing {
			seconds += w.Nanos / 1e9
		}
	}
	return seconds
}

// Estimate is about how long a stage takes by the figures of a usual machine and the rates
// of the device, and what limits it.
func (p *Sized) Estimate(stage int) (seconds float64, limit string) {
	seconds, limit = p.coreSeconds(&p.Stages[stage])/float64(max(p.Workers, 1)), "the cores"
	if v := p.OnDevice[stage]; v != nil {
		seconds, limit = v.Seconds, v.Limit
	}
	if disk := p.Placed(stage).diskSeconds(); disk > seconds {
		return disk, "the disk"
	}
	return seconds, limit
}
