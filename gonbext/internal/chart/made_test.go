package chart

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/record"
)

const mib = 1 << 20

// The records that the tests draw are made, not run: every figure is known.

// rootsHeader is the plan of "roots minus their column means", in 512 MiB.
func rootsHeader() record.Header {
	return record.Header{
		Start: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC), PID: 1,
		Title: "sqrt(acts) - mean(sqrt(acts), 0)", Output: "/data/centred.npy",
		Budget: 512 * mib, Overhead: 40 * mib, Need: 64 * mib, Workers: 2,
		Predicted: record.Bytes{record.Input: 230 * mib, record.Output: 150 * mib, record.Scratch: 58 * mib},
		Stages: []record.Stage{
			{
				Name: "mean(sqrt(acts), 0)", Kind: "reduce", Site: "lesson.go:12", Shape: []int{3_075_200, 512}, Chunks: []int{8192, 512},
				DType: "float32", Tasks: 376, Slots: 6, Read: 6_298_009_600,
				Predicted: record.Bytes{record.Input: 200 * mib, record.Scratch: 58 * mib}, Inputs: []string{"/data/acts.npy"}, Output: "memory",
			},
			{
				Name: "sqrt(acts) - mean", Kind: "map", Site: "lesson.go:12", Shape: []int{3_075_200, 512}, Chunks: []int{8192, 512},
				DType: "float32", Tasks: 376, Slots: 6, Read: 6_298_009_600, Written: 6_298_009_600,
				Predicted: record.Bytes{record.Input: 230 * mib, record.Output: 150 * mib, record.Scratch: 58 * mib}, Inputs: []string{"/data/acts.npy"}, Output: "/data/centred.npy", From: []int{0},
			},
		},
	}
}

// made writes a record of the header's stages: limit tasks at most, ended by
// end or not at all.
func made(t testing.TB, h record.Header, limit int, end *record.End, lines ...record.Line) *record.Run {
	t.Helper()
	w, err := record.Create(t.TempDir(), h)
	if err != nil {
		t.Fatal(err)
	}
	if end == nil {
		// A writer that never ends its record is the test's own process, which
		// lives: what is left of a killed one is the file cut before its end.
		defer w.End(record.End{})
	}
	random := rand.New(rand.NewPCG(1, 2))
	var at time.Duration
	var done, read, written int64
	sample := func(arena record.Bytes) {
		w.Sample(record.Sample{
			At: at, Arena: arena, Device: arena[record.Device], Kept: arena[record.Device] / 4, Context: arena[record.Device] / 8, Anonymous: arena.Host() + 34*mib, Mapped: 64 * mib, Cached: 90 * mib,
			GoHeap: 9 * mib, GoRuntime: 6 * mib, Done: done, Read: read, Written: written,
		})
	}
	sample(record.Bytes{})
	for _, l := range lines {
		w.Line(&l)
	}
	for i, st := range h.Stages {
		for chunk := range st.Tasks {
			if done == int64(limit) {
				break
			}
			took := time.Duration(24+random.IntN(8)) * time.Millisecond
			if chunk%97 == 50 {
				took *= 3
			}
			slots := int64(max(st.Slots, 1))
			task := record.Task{
				Stage: uint16(i), Slot: uint16(chunk % int(slots)), Chunk: int64(chunk), Start: at, Duration: took,
				Reading: took / 2, Computing: took / 8, Writing: took / 4,
				Read: st.Read / int64(st.Tasks), Written: st.Written / int64(st.Tasks), Allocations: 3, Reuses: 2,
			}
			if chunk < int(slots) {
				task.Allocations, task.Reuses = 5, 0
			}
			for c, n := range st.Predicted {
				task.Requested[c] = n * 9 / 10 / slots
				task.Reserved[c] = n * 19 / 20 / slots
			}
			if h.Device.Memory > 0 {
				task.Device, task.Moved = 1, task.Read+task.Written
				task.Upload, task.Download = took/4, took/16
				if done == 0 {
					w.Event(record.Event{At: at, Stage: uint16(i), Action: record.Retried, Bytes: 60 * mib, Free: 2 * mib})
					w.Event(record.Event{At: at, Stage: uint16(i), Action: record.Halved, Bytes: 30 * mib, Free: 2 * mib})
				}
				if chunk%60 == 7 {
					task.Splits, task.Retries = 1, 1
				}
			}
			w.Task(&task)
			at += took / 2
			done++
			read += task.Read
			written += task.Written
			if st.Tasks < 1000 || chunk%20 == 0 {
				arena := st.Predicted
				for c := range arena {
					arena[c] = arena[c] * int64(85+random.IntN(11)) / 100
				}
				sample(arena)
			}
		}
	}
	if end != nil {
		e := *end
		e.Duration, e.Read, e.Written, e.Computed = at, read, written, done
		w.End(e)
		return open(t, w.Path())
	}
	w.End(record.End{})
	return cutEnd(t, w.Path())
}

// onDevice is the plan of h on a device.
func onDevice(h record.Header) record.Header {
	h.Device = record.DeviceInfo{Name: "model 64 MiB", Memory: 64 * mib, Predicted: 60 * mib}
	h.Stages = append([]record.Stage(nil), h.Stages...)
	for i := range h.Stages {
		h.Stages[i].Predicted[record.Pinned] = 16 * mib
		h.Stages[i].Predicted[record.Device] = 60 * mib
	}
	return h
}

func doneEnd() *record.End {
	return &record.End{
		Status: record.Done, Peak: 431 * mib, ProcessPeak: 470 * mib,
		PeakBy: record.Bytes{record.Input: 226 * mib, record.Output: 148 * mib, record.Scratch: 57 * mib},
	}
}

// hostile is text that would do harm where it is not escaped.
const hostile = `</script><img src=x onerror=alert(1)>"'&]]>{{.}}` + "\x1b[31m\u202e"

// cases are the records that the golden files are drawn from.
func cases(t testing.TB) map[string]*record.Run {
	small := rootsHeader()
	for i := range small.Stages {
		small.Stages[i].Tasks, small.Stages[i].Shape = 12, []int{12 * 8192, 512}
		small.Stages[i].Read /= 30
		small.Stages[i].Written /= 30
	}

	empty := record.Header{Start: small.Start, Title: "empty", Budget: 64 * mib}

	one := small
	one.Stages = append([]record.Stage(nil), small.Stages[:1]...)
	one.Stages[0].Tasks, one.Stages[0].Shape = 1, []int{8192, 512}

	huge := small
	huge.Budget, huge.Need = math.MaxInt64, math.MaxInt64/2
	huge.Stages = append([]record.Stage(nil), small.Stages...)
	huge.Stages[0].Tasks, huge.Stages[0].Shape, huge.Stages[0].Chunks = math.MaxInt64, []int{math.MaxInt64}, []int{1}
	huge.Stages[1].Predicted = record.Bytes{math.MaxInt64 / 8, math.MaxInt64 / 8}

	text := small
	text.Title, text.Output = hostile, "/tmp/"+hostile
	text.Stages = append([]record.Stage(nil), small.Stages...)
	for i := range text.Stages {
		st := &text.Stages[i]
		st.Name, st.Kind, st.Site, st.DType = hostile, hostile, hostile, hostile
	}

	planned := rootsHeader()
	planned.PlanOnly = true
	for _, rows := range []int{1024, 8192, 65536} {
		for _, budget := range []int64{64 * mib, 256 * mib} {
			planned.WhatIf = append(planned.WhatIf, record.WhatIf{
				Chunks: []int{rows, 512}, Budget: budget, Fits: int64(rows)*512*4*3 < budget, Need: int64(rows) * 512 * 4 * 3,
				Passes: 2, Moved: 18_894_028_800, Peak: budget * 9 / 10, Tasks: 2 * 3_075_200 / rows,
			})
		}
	}
	tooSmall := planned
	tooSmall.Budget, tooSmall.Need = 16*mib, 24*mib

	deviceEnd := doneEnd()
	deviceEnd.DevicePeak, deviceEnd.OOMEvents = 62*mib, 2

	over := doneEnd()
	over.ProcessPeak = 600 * mib

	all := math.MaxInt
	return map[string]*record.Run{
		"done":      made(t, small, all, doneEnd()),
		"empty":     made(t, empty, all, doneEnd()),
		"one":       made(t, one, all, doneEnd()),
		"huge":      made(t, huge, 40, &record.End{Status: record.Failed, Error: "disk full", Peak: math.MaxInt64}),
		"hostile":   made(t, text, 10, &record.End{Status: record.Failed, Error: hostile, Peak: 100 * mib}),
		"killed":    made(t, small, 17, nil),
		"cancelled": made(t, small, 17, &record.End{Status: record.Cancelled, Peak: 300 * mib}),
		"skipped":   made(t, small, 0, &record.End{Status: record.Skipped}),
		"over":      made(t, small, all, over),
		"planned":   made(t, planned, 0, &record.End{Status: record.Planned}),
		"toosmall":  made(t, tooSmall, 0, &record.End{Status: record.Planned}),
		"device":    made(t, onDevice(small), all, deviceEnd),
	}
}
