package slots

// A pyramid's slot holds a chunk of each level. A chunk of the last is filled part by part, each of a
// chunk of the level before it, which is filled in the same way, down to those that are computed.

// level is one after the first.
type level struct {
	eval    *Evaluator
	factors []int
	below   []int // the shape of the level before, and its chunks
	chunks  []int
	chunk   []int
	size    int
	part    []byte // what a chunk of the level before makes
	out     []byte // a chunk
	sinks   []*Sink
}

func newLevels(s *Slot) (all []*level, err error) {
	st := s.Stage
	if st.Factors != nil {
		s.held = map[int]chunkInMemory{}
	}
	for i := range st.Factors {
		d := &st.Buffers.Slot.Levels[i]
		below, of := &s.Run.Plan.Arrays[st.Outputs[i]], &s.Run.Plan.Arrays[st.Outputs[i+1]]
		l := &level{factors: st.Factors[i], below: below.Shape, chunks: below.Layout.Unit, chunk: of.Layout.Unit, size: of.DType.Size()}
		buffers, err := s.Alloc(d.Part, d.Out)
		if err != nil {
			return nil, err
		}
		l.part, l.out = buffers[0], buffers[1]
		if l.eval, err = NewEvaluator(s, &st.Programs[i+1], &d.Lane); err != nil {
			return nil, err
		}
		out, err := NewSink(s, st.Outputs[i+1], &d.Write)
		if err != nil {
			return nil, err
		}
		l.sinks = append(l.sinks, out)
		all = append(all, l)
	}
	if n := len(all); n > 0 && len(st.Outputs) > n+1 {
		all[n-1].sinks = append(all[n-1].sinks, &Sink{slot: s, array: st.Outputs[n+1]})
	}
	return all, nil
}
