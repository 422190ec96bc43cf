package record

import (
	"fmt"
	"iter"
)

// Rows are the rows of tasks in the form that a record's file has them, to be carried
// from one process to another. The zero value has none.
type Rows []byte

// Add appends the row of a task.
func (r *Rows) Add(t *Task) {
	if r == nil || t == nil {
		return
	}
	var row [taskSize]byte
	var c cursor
	c.encode(row[:], kindTask, t)
	*r = append(*r, row[:]...)
}

// Check returns an error for bytes that are not rows of tasks.
func (r Rows) Check() error {
	if len(r)%taskSize != 0 {
		return fmt.Errorf("%d bytes are no rows of tasks: each has %d", len(r), taskSize)
	}
	for at := 0; at < len(r); at += taskSize {
		if r[at] != kindTask {
			return fmt.Errorf("row %d is not that of a task", at/taskSize)
		}
	}
	return nil
}

// All iterates over rows that Check has passed. The task is valid until the next.
func (r Rows) All() iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		var t Task
		var c cursor
		for at := 0; at+taskSize <= len(r); at += taskSize {
			c.decode(r[at:at+taskSize], &t)
			if !yield(&t) {
				return
			}
		}
	}
}
