package record

import (
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestRecordOfFirstVersionIsRead(t *testing.T) {
	h := header()
	h.Run = "20200101-000000.000000-1-0001"
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	file := append([]byte(magic), 1)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(text)))
	file = append(file, text...)
	var n uint64 = 7
	var task Task
	var sample Sample
	fill(reflect.ValueOf(&task).Elem(), &n)
	fill(reflect.ValueOf(&sample).Elem(), &n)
	var row [max(taskSize, sampleSize)]byte
	for range 2 {
		new(cursor).encode(row[:], kindTask, &task)
		file = append(file, row[:firstTaskSize]...)
		new(cursor).encode(row[:], kindSample, &sample)
		file = append(file, row[:firstSampleSize]...)
	}
	end, err := encodeEnd(&End{Status: Done})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "old"+suffix)
	testcases.WriteFile(t, path, append(file, end...), 0o600)
	r, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	task.Upload, task.Download = 0, 0
	sample.Kept, sample.Context, sample.Others = 0, 0, 0
	tasks, samples := 0, 0
	for got := range r.Tasks() {
		if tasks++; *got != task {
			t.Errorf("task %d: got %+v, want %+v", tasks, *got, task)
		}
	}
	for got := range r.Samples() {
		if samples++; *got != sample {
			t.Errorf("sample %d: got %+v, want %+v", samples, *got, sample)
		}
	}
	if tasks != 2 || samples != 2 || r.Status() != Done {
		t.Errorf("%d tasks, %d samples, %s", tasks, samples, r.Status())
	}
	for range r.Events() {
		t.Error("it has events")
	}
}

func TestRecordOfNewerVersionIsRejected(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new"+suffix)
	testcases.WriteFile(t, path, append([]byte(magic), byte(latest)+1, 2, 0, 0, 0, '{', '}'), 0o600)
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "a newer gonbext reads it") {
		t.Errorf("got %v", err)
	}
}

func TestEventsAreReadBetweenTasksAndSaid(t *testing.T) {
	h := header()
	h.Device = DeviceInfo{Name: "model:8MiB", Memory: 8 << 20}
	dir := t.TempDir()
	var paths []string
	for range 2 {
		w, err := Create(dir, h)
		if err != nil {
			t.Fatal(err)
		}
		w.Task(&Task{Chunk: 1})
		for action := GaveUpKept; action <= LeftToCPU; action++ {
			w.Event(Event{At: 1500 * time.Millisecond, Stage: 1, Action: action, Bytes: 6 << 20, Free: 1 << 20})
		}
		w.Task(&Task{Chunk: 2})
		if err := w.End(End{Status: Done, OOMEvents: 4}); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, w.Path())
	}
	r, err := Read(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for e := range r.Events() {
		said = append(said, r.Header.Say(e))
	}
	want := []string{
		"After 1.5 s model:8MiB was out of memory in mean, with 1 MiB free: the inputs that stayed on it, 6 MiB, were given up",
		"After 1.5 s model:8MiB was out of memory in mean, with 1 MiB free: the stage was opened again",
		"After 1.5 s model:8MiB was out of memory in mean, with 1 MiB free: it continued with smaller tiles, in 6 MiB of its memory",
		"After 1.5 s model:8MiB was out of memory in mean, with 1 MiB free: the CPU computed the rest",
	}
	if !reflect.DeepEqual(said, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
	if tasks, _ := count(r); tasks != 2 {
		t.Errorf("%d tasks beside the events", tasks)
	}
	merged, err := Merge(dir, Header{Title: "both"}, paths, Done, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = Read(merged); err != nil {
		t.Fatal(err)
	}
	events := 0
	for range r.Events() {
		events++
	}
	if events != 8 || r.End.OOMEvents != 8 {
		t.Errorf("the merged record has %d events and counts %d", events, r.End.OOMEvents)
	}
}
