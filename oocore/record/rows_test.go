package record

import (
	"reflect"
	"testing"
)

// Rows carry every field of tasks, and bytes that are none are an error.
func TestRowsCarryTasks(t *testing.T) {
	var want []Task
	var rows Rows
	var next uint64
	for range 3 {
		var task Task
		fill(reflect.ValueOf(&task).Elem(), &next)
		want = append(want, task)
		rows.Add(&task)
	}
	var got []Task
	for task := range rows.All() {
		got = append(got, *task)
	}
	if rows.Check() != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: got %v, want %v", rows.Check(), got, want)
	}
	if rows[1:].Check() == nil || (rows[1:len(rows)-taskSize+1]).Check() == nil {
		t.Error("bytes that are no rows pass")
	}
}
