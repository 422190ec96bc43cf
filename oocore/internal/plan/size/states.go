package size

import (
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/units"
)

// StateBytes returns the most that one slot saves of the box that its operation is filling in
// steps; 0 for stages of other kinds. The partial results of a stage that merges are saved
// instead.
func (s *Stage) StateBytes() int64 {
	if s.Kind != plan.MapStage || s.Factors != nil || s.Merges() || !s.Programs[0].Plain() {
		return 0
	}
	l := &s.Programs[0].Loads[s.Programs[0].Out[0]]
	if l.Kind != plan.LoadBlocks {
		return 0
	}
	return l.Op.Requirements(l.Box(s.Tile)).State
}

// notedState is from how many bytes of states on a plan says that a long run writes them.
const notedState = 16 << 20

// noteStates says what the stage takes on disk in addition to its results: of each state the
// last snapshot, and the one that is being written.
func (p *Plan) noteStates(stage int) {
	s := &p.Stages[stage]
	n := int64(s.Slots) * s.StateBytes()
	if n < notedState || p.OnDevice[stage] != nil {
		return
	}
	s.note("what it has done inside a chunk is saved now and then: up to " + units.Bytes(2*n) + " on disk until it ends")
}

// note adds to what people are told of the stage.
func (s *Stage) note(text string) {
	if s.Note != "" {
		s.Note += "; "
	}
	s.Note += text
}
