package checkpoint

import (
	"fmt"
	"iter"
	"slices"
)

// Range is the tasks First ≤ index < End of a stage.
type Range struct {
	First int `json:"first"`
	End   int `json:"end"`
}

// Len returns the number of tasks.
func (r Range) Len() int { return r.End - r.First }

// String names the tasks for people.
func (r Range) String() string {
	if r.Len() == 1 {
		return fmt.Sprintf("task %d", r.First)
	}
	return fmt.Sprintf("tasks %d to %d", r.First, r.End-1)
}

// Tasks is a set of a stage's tasks: ranges in order, apart from each other.
type Tasks []Range

// All are the first n tasks.
func All(n int) (t Tasks) {
	t.Add(0, n)
	return t
}

// Add puts the n tasks from first on into the set.
func (t *Tasks) Add(first, n int) {
	if n <= 0 {
		return
	}
	r := Range{first, first + n}
	from := t.search(first - 1) // one that ends where this begins becomes a part of it
	to := from
	for ; to < len(*t) && (*t)[to].First <= r.End; to++ {
		r.First, r.End = min(r.First, (*t)[to].First), max(r.End, (*t)[to].End)
	}
	*t = slices.Replace(*t, from, to, r)
}

// search returns the number of ranges that end before a task, or with it.
func (t Tasks) search(index int) int {
	i, _ := slices.BinarySearchFunc(t, index, func(r Range, index int) int {
		if r.End <= index {
			return -1
		}
		return 1
	})
	return i
}

// Has reports whether a task is in the set.
func (t Tasks) Has(index int) bool {
	i := t.search(index)
	return i < len(t) && t[i].First <= index
}

// Meets reports whether two sets have a number in common.
func (t Tasks) Meets(others Tasks) bool {
	for _, r := range others {
		if i := t.search(r.First); i < len(t) && t[i].First < r.End {
			return true
		}
	}
	return false
}

// Len returns the number of tasks.
func (t Tasks) Len() (n int) {
	for _, r := range t {
		n += r.Len()
	}
	return n
}

// All iterates over the tasks in order.
func (t Tasks) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range t {
			for i := r.First; i < r.End; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// Take removes the first task of a set that is not empty, and those of at most n in all that
// follow it at once.
func (t *Tasks) Take(n int) Range {
	all := *t
	r := Range{all[0].First, min(all[0].First+n, all[0].End)}
	if all[0].First = r.End; all[0].Len() == 0 {
		*t = all[1:]
	}
	return r
}

// Without returns the tasks that another set does not have.
func (t Tasks) Without(others Tasks) (rest Tasks) {
	for _, r := range t {
		for _, o := range others[others.search(r.First):] {
			if o.First >= r.End {
				break
			}
			rest.Add(r.First, o.First-r.First)
			r.First = min(o.End, r.End)
		}
		rest.Add(r.First, r.Len())
	}
	return rest
}
