package types

// Verification is what comparing a stored array with its receipt has shown.
type Verification struct {
	Chunks  int      // that were compared, by the parts that tasks write
	Damaged []Box    // that are not what was written, or cannot be read
	Faults  []string // for each of these: why it cannot be read; "" where it can
	Unknown int      // parts of which the receipt does not tell
	// Details says that shape, type, codec or attributes are not those of what was written.
	Details bool
	// Trusted says that all parts have cryptographic digests, which nobody can change the array to.
	Trusted bool
	// Recomputed is how many parts were computed anew from the inputs; those that came out otherwise are among Damaged.
	Recomputed int
	// Repaired are the parts that were damaged and are computed again.
	Repaired []Box
	// Changed are inputs that are not as they were read: parts that were computed anew of them, and came out otherwise, count as Unknown.
	Changed []string
}

// Whole reports an array that is as it was written.
func (v *Verification) Whole() bool {
	return v != nil && len(v.Damaged) == 0 && v.Unknown == 0 && !v.Details
}

// Lineage is what a stored array was made of.
type Lineage struct {
	Path       string       `json:"path"`
	Expression string       `json:"expression,omitempty"` // "" of an array without a receipt
	Changed    string       `json:"changed,omitempty"`    // what it is since: "changed", "gone"; "" for as it was
	Inputs     []Lineage    `json:"inputs,omitempty"`
	Task       *LineageTask `json:"task,omitempty"` // that made a chunk, where one was asked for
}

// LineageTask is one of a run, with what it has read.
type LineageTask struct {
	Index int           `json:"index"`
	Box   Box           `json:"box"`
	Reads []LineageRead `json:"reads,omitempty"`
}

// LineageRead is the chunks of an input that a task has read, by their numbers in C order. Inputs that have no versions of
// their chunks are not among them.
type LineageRead struct {
	Path   string `json:"path"`
	Chunks []int  `json:"chunks"`
}
