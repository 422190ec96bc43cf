package size

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/internal/arena"
	"github.com/gonbext/gonbext/oocore/internal/plan"
)

// workShare is the share of a device's memory, one in workShare, that is reserved for stages
// where operands are resident.
const workShare = 4

// operandName names an operand whose elements are those of a stored array; "" for others,
// which another run would not have again.
func operandName(p *plan.Plan, prog *plan.Program) string {
	if len(prog.Code) > 0 || len(prog.Loads) != 1 || prog.Loads[0].Kind != plan.LoadArray {
		return ""
	}
	l := &prog.Loads[0]
	a := &p.Arrays[l.Array]
	if a.Place != plan.InFile {
		return ""
	}
	return fmt.Sprint(a.Path, a.ID, a.Shape, a.DType, l.View)
}

// keep makes a product's operands resident on the device, as far as there is room besides the
// stage's own memory and the operands that are resident already. A resident operand crosses
// the link once.
func (p *Plan) keep(s *DeviceStage, room int64) {
	if p.kept == nil {
		return
	}
	free := p.Device.Memory - max(s.DevicePeak, p.Device.Memory/workShare) - p.kept.total()
	if p.Device.OnHost {
		free = min(free, (room-p.takes(s))/2)
	}
	down, across := s.Super.supers()
	bytesA, bytesB := s.operandBytes()
	rows, cols, k := s.Super.lengths()
	for i, o := range []struct{ bytes, times, panel int64 }{
		{s.batch() * bytesA, across, int64(rows) * int64(k) * int64(s.operand(0).Size())},
		{s.batch() * bytesB, down, int64(cols) * int64(k) * int64(s.operand(1).Size())},
	} {
		name := operandName(p.Plan, &s.Programs[i])
		if name == "" || o.bytes == 0 {
			continue
		}
		there := min(p.kept[name], o.bytes)
		panels := o.bytes/max(o.panel, 1) + 1
		more := max(min(free, o.bytes+panels*(arena.Reserved(1)-1)-there), 0)
		if there+more < o.panel {
			continue // not even one panel stays
		}
		s.Memory.Kept[i] = KeptOperand{name, there + more}
		stays := min(there+more, o.bytes)
		s.Up -= there + (o.times-1)*stays
		s.Read = s.Up
		s.Kept += stays
		s.DevicePeak += more
		free -= more
	}
	p.rate(s)
}
