package checkpoint

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// A set has the tasks that were added, in any order, and no others, each once and in order.
func TestTasksHasWhatWasAdded(t *testing.T) {
	sets := func(r *rapid.T, name string) (tasks Tasks, want map[int]bool) {
		want = map[int]bool{}
		for range rapid.IntRange(0, 30).Draw(r, name) {
			first, n := rapid.IntRange(0, 60).Draw(r, "first"), rapid.IntRange(0, 9).Draw(r, "n")
			tasks.Add(first, n)
			for i := first; i < first+n; i++ {
				want[i] = true
			}
		}
		return tasks, want
	}
	check := func(r *rapid.T, tasks Tasks, want map[int]bool) {
		for i := range 80 {
			if tasks.Has(i) != want[i] {
				r.Fatalf("%v: Has(%d) is %v", tasks, i, tasks.Has(i))
			}
		}
		if all := slices.Sorted(maps.Keys(want)); tasks.Len() != len(want) || !slices.Equal(slices.Collect(tasks.All()), all) {
			r.Fatalf("%v has %d tasks, want %v", tasks, tasks.Len(), all)
		}
		for i := 1; i < len(tasks); i++ {
			if tasks[i].First <= tasks[i-1].End {
				r.Fatalf("%v has ranges that are not apart", tasks)
			}
		}
	}
	rapid.Check(testcases.Seeded(t), func(r *rapid.T) {
		tasks, want := sets(r, "adds")
		check(r, tasks, want)
		others, _ := sets(r, "other adds")
		maps.DeleteFunc(want, func(i int, _ bool) bool { return others.Has(i) })
		rest := tasks.Without(others)
		check(r, rest, want)
		var taken Tasks
		for n := rest.Len(); len(rest) > 0; {
			next := rest.Take(rapid.IntRange(1, 5).Draw(r, "at most"))
			if taken.Len() > 0 && next.First < taken[len(taken)-1].End {
				r.Fatalf("%v comes after %v", next, taken)
			}
			taken.Add(next.First, next.Len())
			if taken.Len()+rest.Len() != n {
				r.Fatalf("%d tasks are left and %d taken, of %d", rest.Len(), taken.Len(), n)
			}
		}
		check(r, taken, want)
	})
}
