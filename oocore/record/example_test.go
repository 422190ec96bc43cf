package record_test

import (
	"fmt"
	"os"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

// The record of a run of two tasks, written and read again.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w, err := record.Create(dir, record.Header{Title: "sqrt(x)", Budget: 64 << 20, Stages: []record.Stage{{Name: "sqrt(x)", Tasks: 2}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for chunk := range int64(2) {
		w.Task(&record.Task{Chunk: chunk, Duration: 3 * time.Millisecond, Read: 4096, Written: 4096})
	}
	if err := w.End(record.End{Status: record.Done, Computed: 2}); err != nil {
		fmt.Println(err)
		return
	}

	run, err := record.Read(w.Path())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Header.Title, run.Status())
	for task := range run.Tasks() {
		fmt.Println(task.Chunk, task.Duration, task.Read)
	}
	// Output:
	// sqrt(x) done
	// 0 3ms 4096
	// 1 3ms 4096
}
