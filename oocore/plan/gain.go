package plan

import "github.com/gonbext/gonbext/oocore/dtype"

// What the host takes for a stage, in figures of a usual machine. They only say where a
// device gains nothing, and decide nothing.
const (
	storeRate   = 2e9  // bytes a second that files are read and written at
	productRate = 1e11 // operations a second of one core on a product of float32
)

// compare predicts what the host takes for a stage that the device does, without the
// device and in any case.
func (p *Sized) compare(s *SizedStage) {
	on := s.Device
	on.CPU = s.coreSeconds() / float64(max(p.Workers, 1))
	on.Disk = float64(on.Read+on.Written) / storeRate
}

// coreSeconds estimates how long one core takes to compute a stage, including the parts that
// the CPU computes where a device runs the stage.
func (s *SizedStage) coreSeconds() float64 {
	if s.Kind == MatMulStage {
		rate := productRate
		switch t := s.operand(0); {
		case t == dtype.Float64:
			rate /= 2
		case t != dtype.Float32:
			rate /= 4
		}
		return s.multiplications() / rate
	}
	prog := &s.Programs[0]
	nanos := 0.0 // of an element
	for v := range prog.Loads {
		if prog.Loads[v].Kind != LoadConst {
			nanos += leastNanos * float64(prog.Type(v).Size())
		}
	}
	for _, in := range prog.Code {
		size := float64(in.Type.Size())
		if in.Op == 0 { // a cast
			size = max(size, float64(in.To.Size()))
		}
		nanos += max(opNanos(in.Op)*size, leastNanos)
	}
	nanos += readNanos * float64(len(s.Folds))
	n := 1.0
	for _, length := range prog.Domain {
		n *= float64(length)
	}
	return n * nanos / 1e9
}

// multiplications are those of a product, and as many additions.
func (s *SizedStage) multiplications() float64 {
	m := s.Super
	n := 2 * float64(m.M) * float64(m.N) * float64(m.depth())
	for _, length := range s.Grid.Shape[:len(s.Grid.Shape)-2] {
		n *= float64(length)
	}
	return n
}

// Estimate is about how long a stage takes by the figures of a usual machine and the rates
// of the device, and what limits it.
func (p *Sized) Estimate(stage int) (seconds float64, limit string) {
	s := &p.Stages[stage]
	seconds, limit = s.coreSeconds()/float64(max(p.Workers, 1)), "the cores"
	if s.Device != nil {
		seconds, limit = s.Device.Seconds, s.Device.Limit
	}
	on := s.OnDevice()
	if disk := float64(on.Read+on.Written) / storeRate; disk > seconds {
		return disk, "the disk"
	}
	return seconds, limit
}
