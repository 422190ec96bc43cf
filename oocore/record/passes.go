package record

// Passes returns how often the run reads stored data. Its stages are grouped by the arrays that they share, and it is the
// number of stages that read in the group with the most: the arrays of a checkpoint, which have nothing in common, are read
// in one pass. Plans, runs and their alternatives all count so.
func (h *Header) Passes() int {
	if h == nil {
		return 0
	}
	group := make([]int, len(h.Stages)) // of each stage: another of its group, or itself
	first := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	reads := map[string]int{} // the first stage that reads an array
	for i := range h.Stages {
		group[i] = i
		for _, from := range h.Stages[i].From {
			if from >= 0 && from < i {
				group[first(i)] = first(from)
			}
		}
		for _, name := range h.Stages[i].Inputs {
			if earlier, ok := reads[name]; ok {
				group[first(i)] = first(earlier)
			} else {
				reads[name] = i
			}
		}
	}
	most, passes := 0, map[int]int{}
	for i := range h.Stages {
		if st := &h.Stages[i]; st.Read > 0 {
			passes[first(i)] += max(st.Runs, 1)
			most = max(most, passes[first(i)])
		}
	}
	return most
}
