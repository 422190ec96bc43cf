package exec

import (
	"slices"
	"testing"
)

// A set of tasks counts, finds and hands out each of its tasks once, in order.
func TestTasksHandsOutEachTaskOnce(t *testing.T) {
	for _, want := range [][]int{{}, {0}, {0, 1, 2}, {3, 4, 9}, {1, 3, 5, 6, 7, 20, 21}} {
		tasks := left(30, func(i int) bool { return !slices.Contains(want, i) })
		if tasks.Len() != len(want) || !slices.Equal(slices.Collect(tasks.All()), append([]int(nil), want...)) {
			t.Errorf("%v has %d tasks, want %v", tasks, tasks.Len(), want)
		}
		c := newCursor(tasks)
		var got []int
		for {
			i, ok := c.take()
			if !ok {
				break
			}
			got = append(got, i)
		}
		if !slices.Equal(got, append([]int(nil), want...)) {
			t.Errorf("%v hands out %v, want %v", tasks, got, want)
		}
		for i := range 30 {
			if tasks.Has(i) != slices.Contains(want, i) {
				t.Errorf("%v: Has(%d) is %v", tasks, i, tasks.Has(i))
			}
		}
	}
}
