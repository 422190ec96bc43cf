package plan

import "slices"

// Growing identifies what a plan computes whatever the length of the first axis of what it reads is: plans with the same
// one make the same of the elements that both have, in tasks that have the same boxes but at the end of that axis. It is ""
// where the result depends on that length in another way, or where the plan cannot tell.
func (p *Plan) Growing(version string) string {
	grows := p.growing()
	if grows == nil || p.Function != "" && version == "" {
		return ""
	}
	what, outputs := p.bare()
	for i := range what.Arrays {
		if grows[i] {
			what.Arrays[i].Shape = longer(what.Arrays[i].Shape)
		}
	}
	for i := range outputs {
		if grows[p.Output] {
			outputs[i].Shape = longer(outputs[i].Shape)
		}
	}
	for i := range what.Stages {
		what.Stages[i].lengthen(grows)
	}
	return digest([]any{p.Revisions, p.arithmetic(), outputsOf(outputs, p.Collections), what, version})
}

// lengthen has a stage of arrays that grow run over a domain of any length.
func (s *Stage) lengthen(grows map[int]bool) {
	if !s.grows(grows) {
		return
	}
	s.Grid.Shape = longer(s.Grid.Shape)
	s.Programs = slices.Clone(s.Programs)
	for i := range s.Programs {
		p := &s.Programs[i]
		p.Domain = longer(p.Domain)
		p.Loads = slices.Clone(p.Loads)
		for k := range p.Loads {
			l := &p.Loads[k]
			if l.View.Shape = longer(l.View.Shape); l.Kind != LoadArray && l.uses() {
				l.Shape = longer(l.Shape)
			}
		}
	}
	s.Folds = slices.Clone(s.Folds)
	for i := range s.Folds {
		if s.Folds[i].Folds(0) {
			s.Folds[i].Count = 0
		}
	}
}

// longer is a shape of any length along the first axis.
func longer(shape []int) []int {
	shape = slices.Clone(shape)
	shape[0] = -1
	return shape
}

// growing are the arrays of which nothing but their elements depends on their length along the first axis: what is stored
// there, and what maps and reductions make of it, element by element. nil where something else depends on it.
func (p *Plan) growing() map[int]bool {
	grows := map[int]bool{}
	for i := range p.Arrays {
		grows[i] = p.Arrays[i].Place == InFile && len(p.Arrays[i].Shape) > 0
	}
	for i := range p.Stages { // what is read in another way does not grow
		for l := range p.Stages[i].Arrays() {
			grows[l.Array] = grows[l.Array] && l.follows(p.Arrays[l.Array].Shape)
		}
	}
	some := false
	for i := range p.Stages {
		s := &p.Stages[i]
		if !s.grows(grows) {
			continue
		}
		if some = true; s.Kind == MatMulStage || s.Factors != nil || s.Grid.Offset != nil || len(s.Programs) != 1 {
			return nil
		}
		for k := range s.Programs[0].Loads {
			l := &s.Programs[0].Loads[k]
			if l.Kind == LoadBlocks || l.Kind == LoadArray && l.uses() && !grows[l.Array] || l.Kind != LoadArray && l.uses() && !l.follows(l.Shape) {
				return nil
			}
		}
		for _, a := range s.Outputs {
			grows[a] = s.Kind == MapStage || !s.Folds[0].Folds(0)
		}
		for k := i + 1; k < len(p.Stages); k++ {
			for l := range p.Stages[k].Arrays() {
				if slices.Contains(s.Outputs, l.Array) && grows[l.Array] && !l.follows(p.Arrays[l.Array].Shape) {
					return nil
				}
			}
		}
	}
	if !some {
		return nil
	}
	return grows
}

// grows reports a stage that reads an array which grows.
func (s *Stage) grows(grows map[int]bool) bool {
	for l := range s.Arrays() {
		if grows[l.Array] {
			return true
		}
	}
	return false
}

// uses reports a load of which the elements depend on the place along the first axis of the domain.
func (l *Load) uses() bool { return slices.Contains(l.View.Axis, 0) }

// follows reports a load that sees the first axis of what it loads, of a shape, as the first of the domain, from its beginning to its end.
func (l *Load) follows(shape []int) bool {
	v := l.View
	return len(v.Axis) > 0 && v.Axis[0] == 0 && v.Start[0] == 0 && v.Step[0] == 1 && v.Shape[0] == shape[0] && !slices.Contains(v.Axis[1:], 0)
}
