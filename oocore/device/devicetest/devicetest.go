// Package devicetest is the suite that every device passes: the bytes that slots of the
// CPU give for every kind of stage, a peak of memory that was predicted, and whole results
// whichever operation of the device fails.
package devicetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/testkit/exectest"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Subject is a kind of device.
type Subject struct {
	// New is a device of which a run may take so many bytes.
	New func(t testing.TB, memory int64) device.Device
	// Fail lets operations of a device fail: f is asked before each "allocate", "pin",
	// "upload", "compute" and "download". nil ends that.
	Fail func(d device.Device, f func(operation string) error)
}

const mebi = 1 << 20

// Test runs the suite.
func Test(t *testing.T, s Subject) {
	t.Run("executor", func(t *testing.T) { testExecutor(t, s) })
	t.Run("peak", func(t *testing.T) { testPeak(t, s) })
	t.Run("one operation fails for want of memory", func(t *testing.T) { testOutOfMemory(t, s) })
	t.Run("no memory", func(t *testing.T) { testNoMemory(t, s) })
	t.Run("half the tile", func(t *testing.T) { testHalf(t, s) })
	t.Run("lost", func(t *testing.T) { testLost(t, s) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, s) })
	t.Run("asynchronous", func(t *testing.T) { testAsynchronous(t, s) })
}

// on returns the resources of a run on a device.
func on(d device.Device, budget int64, workers int) Options {
	return Options{Budget: budget, Workers: workers, Device: d.Spec()}
}

// clean checks that a device has given everything back.
func clean(t testing.TB, d device.Device) {
	t.Helper()
	if n := d.Usage().Used; n != 0 {
		t.Errorf("%d bytes of the device are in use after the run", n)
	}
}

// predicted checks what a run has taken against what its plan says.
func predicted(t testing.TB, p *Plan, end record.End) {
	t.Helper()
	if end.Peak > p.Peak.Host() {
		t.Errorf("the host's peak is %d bytes, predicted %d", end.Peak, p.Peak.Host())
	}
	if end.DevicePeak > p.DevicePeak || end.DevicePeak < p.DevicePeak*8/10 {
		t.Errorf("the device's peak is %d bytes, predicted %d", end.DevicePeak, p.DevicePeak)
	}
	if p.DevicePeak > p.Device.Memory {
		t.Errorf("the plan takes %d bytes of a device with %d", p.DevicePeak, p.Device.Memory)
	}
}

// testExecutor runs the suite of executors, with two workers and, where no test is left out, with one.
func testExecutor(t *testing.T, s Subject) {
	counts := []int{2}
	if testcases.Full() {
		counts = append(counts, 1)
	}
	for _, workers := range counts {
		d := s.New(t, 212*mebi)
		exectest.Test(t, func(p *plan.Plan, env exec.Env) (record.End, error) {
			sized, err := size.New(p, on(d, 128*mebi, workers))
			if err != nil {
				return record.End{}, err
			}
			env.Executor = exec.OnDevice{Device: d}
			end, err := exec.Run(context.Background(), sized, env)
			predicted(t, sized, end)
			clean(t, d)
			return end, err
		})
	}
}

// jobs are an expression for each kind of stage.
func jobs(rows int) []Expression {
	x := oocore.Random(dtype.Float32, 3, rows, 512)
	roots, few := x.Sqrt(), x.Slice("0:1700")
	all := []Expression{
		{Name: "map", Root: roots},
		{Name: "map with side reductions", Root: roots, Side: []*oocore.Array{x.Sum(), roots.Std()}},
		{Name: "product", Root: x.Transpose().MatMul(x)},
		{Name: "wide product", Root: few.MatMul(few.Transpose())},
	}
	for _, row := range kernel.Reductions() {
		r, in := row.Reduction, x
		if row.Family == kernel.Truth {
			in = x.Greater(0.5)
		}
		for _, axes := range [][]int{{0}, {1}, {}} {
			all = append(all, Expression{Name: fmt.Sprint(r, axes), Root: in.Reduce(oocore.Reduction(r), oocore.ReduceOptions{Axes: axes})})
		}
	}
	return all
}

// compute runs an expression, and returns its results. Without a device the CPU computes.
func (e *Expression) compute(t testing.TB, d device.Device, o Options) (result []byte, p *Plan, end record.End) {
	t.Helper()
	result, p, end, err := e.Run(t, d, o)
	if err != nil {
		t.Fatal(err)
	}
	return result, p, end
}

// rows counts the tasks that the device did, that it did in smaller tiles, and that the CPU
// did.
func rows(r *record.Run) (device, halved, cpu int) {
	for t := range r.Tasks() {
		switch {
		case t.Device == 0:
			cpu++
		case t.Splits > 0:
			device, halved = device+1, halved+1
		default:
			device++
		}
	}
	return device, halved, cpu
}

// testPeak computes every kind of stage on cards of many sizes; of the reductions a few, unless
// no test is left out.
func testPeak(t *testing.T, s Subject) {
	all := jobs(8_000)
	if !testcases.Full() {
		all = testcases.Sample(t, all, 4, func(j Expression) []string {
			if strings.Contains(j.Name, "[") {
				return []string{"reduction"}
			}
			return []string{j.Name}
		})
	}
	for _, j := range all {
		want, _, _ := j.compute(t, nil, Options{Budget: 64 * mebi, Workers: 2})
		for _, memory := range []int64{8 * mebi, 96 * mebi, 1 << 30} {
			d := s.New(t, memory)
			o := on(d, 3<<30, 2)
			got, p, end := j.compute(t, d, o)
			placed := false
			for i := range p.Stages {
				placed = placed || p.OnDevice[i] != nil
			}
			if !placed {
				t.Errorf("%s on %d bytes: %v", j.Name, memory, p)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s on %d bytes: other bytes than on the CPU", j.Name, memory)
			}
			predicted(t, p, end)
			clean(t, d)
		}
	}
}

// failing lets the n-th operation of a kind fail, from 1 on, and counts them.
type failing struct {
	operation string
	n         int64
	err       error
	count     atomic.Int64
}

func (f *failing) fails(operation string) error {
	if operation == f.operation && f.count.Add(1) == f.n {
		return f.err
	}
	return nil
}

// kinds are a job for each kind of stage.
func kinds(rows int) []Expression {
	return slices.DeleteFunc(jobs(rows), func(j Expression) bool {
		return !slices.Contains([]string{"map", "map with side reductions", "product", "wide product", "std[0]", "sum[]"}, j.Name)
	})
}

// step leaves operations out where they are many alike, unless no test is left out: of
// allocations few.
func step(operation string, n int64) int64 {
	switch {
	case testcases.Full():
		return 1
	case operation == "allocate":
		return 1 + n/3
	}
	return 2 * n
}

// testOutOfMemory lets each allocation fail once, and operations on every stream: the
// result is right, the event is counted, and nothing is left.
func testOutOfMemory(t *testing.T, s Subject) {
	for _, j := range kinds(2_000) {
		want, _, _ := j.compute(t, nil, Options{Budget: 64 * mebi, Workers: 2})
		for _, operation := range []string{"allocate", "upload", "compute", "download"} {
			for n := int64(1); ; n += step(operation, n) {
				d := s.New(t, 12*mebi)
				f := &failing{operation: operation, n: n, err: device.ErrMemory}
				s.Fail(d, f.fails)
				got, p, end := j.compute(t, d, on(d, 612*mebi, 2))
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %s %d failed, and the bytes are others", j.Name, operation, n)
				}
				clean(t, d)
				if f.count.Load() < n {
					if operation == "allocate" && n < 3 {
						t.Errorf("%s makes %d allocations: %v", j.Name, n-1, p)
					}
					break
				}
				if end.OOMEvents != 1 {
					t.Errorf("%s: %s %d failed, and %d events are counted", j.Name, operation, n, end.OOMEvents)
				}
			}
		}
	}
}

// testNoMemory lets all allocations fail: the CPU computes.
func testNoMemory(t *testing.T, s Subject) {
	for _, j := range kinds(2_000) {
		want, _, _ := j.compute(t, nil, Options{Budget: 64 * mebi, Workers: 2})
		d := s.New(t, 12*mebi)
		s.Fail(d, func(operation string) error {
			if operation == "allocate" {
				return device.ErrMemory
			}
			return nil
		})
		got, _, end := j.compute(t, d, on(d, 612*mebi, 2))
		if !bytes.Equal(got, want) || end.OOMEvents < 2 || end.DevicePeak != 0 {
			t.Errorf("%s: equal bytes: %v, %d events, a device peak of %d", j.Name, bytes.Equal(got, want), end.OOMEvents, end.DevicePeak)
		}
		clean(t, d)
	}
}

// testHalf leaves a run half of what its plan takes: it resumes smaller tiles,
// and its record says so.
func testHalf(t *testing.T, s Subject) {
	for _, j := range kinds(30_000) {
		if j.Name == "product" {
			continue // one tile of it fits as soon as anything does
		}
		want, _, _ := j.compute(t, nil, Options{Budget: 64 * mebi, Workers: 2})
		large := s.New(t, 48*mebi)
		p := j.Plan(t, on(large, 256*mebi, 2))
		d := renamed{s.New(t, p.DevicePeak/2), large.Spec()}
		got, _, end := j.compute(t, d, on(large, 256*mebi, 2))
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than on the CPU", j.Name)
		}
		if done, halved, cpu := rows(j.Record); done == 0 || halved != done || cpu > 0 {
			t.Errorf("%s: the record says that the device did %d tasks, %d of them in smaller tiles, and the CPU %d", j.Name, done, halved, cpu)
		}
		if end.OOMEvents < 3 || end.DevicePeak == 0 || end.DevicePeak > p.DevicePeak/2 {
			t.Errorf("%s: %d events, a device peak of %d, predicted %d", j.Name, end.OOMEvents, end.DevicePeak, p.DevicePeak)
		}
		clean(t, d)
	}
}

// renamed is a device of which others have taken most since its plan was made.
type renamed struct {
	device.Device
	spec device.Spec
}

func (r renamed) Spec() device.Spec { return r.spec }

var errLost = errors.New("the device is gone")

// testLost loses the device during each operation of some run: an error that names it,
// and chunks from which the CPU continues.
func testLost(t *testing.T, s Subject) {
	j := kinds(30_000)[0]
	want, _, _ := j.compute(t, nil, Options{Budget: 64 * mebi, Workers: 2})
	for _, operation := range []string{"upload", "compute", "download"} {
		path := filepath.Join(t.TempDir(), "o.npy")
		stored := Expression{Root: j.Root, Path: path, Chunks: []int{1000, 512}}
		logical := stored.logical(t)
		d := s.New(t, 212*mebi)
		f := &failing{operation: operation, n: 20, err: errLost}
		s.Fail(d, f.fails)
		run := func(o Options, d device.Device) (record.End, error) {
			env, _, err := exectest.Environment(logical)
			if err != nil {
				return record.End{}, err
			}
			env.Executor = exec.OnDevice{Device: d}
			return exec.Run(context.Background(), testcases.Must[*Plan](t)(size.New(logical, o)), env)
		}
		_, err := run(on(d, 612*mebi, 2), d)
		if operation == "upload" && err == nil {
			continue // its elements are made on the device: nothing is copied to it
		}
		if !errors.Is(err, errLost) || !strings.Contains(err.Error(), d.Spec().Name) {
			t.Errorf("%s: got %v", operation, err)
		}
		clean(t, d)
		if _, err := run(Options{Budget: 64 * mebi, Workers: 2}, nil); err != nil {
			t.Fatal(err)
		}
		if got := testcases.Must[[]byte](t)(exectest.Elements(path)); !bytes.Equal(got, want) {
			t.Errorf("%s: the run that resumed has other bytes", operation)
		}
	}
}

// testCancelled ends a run in its midst.
func testCancelled(t *testing.T, s Subject) {
	for _, j := range kinds(30_000) {
		d := s.New(t, 212*mebi)
		ctx, cancel := context.WithCancel(context.Background())
		f := &failing{operation: "compute", n: 10}
		s.Fail(d, func(operation string) error {
			if f.fails(operation); f.count.Load() == f.n {
				cancel()
			}
			return nil
		})
		p := j.Plan(t, on(d, 612*mebi, 2))
		env := j.environment(d, p)
		if _, err := exec.Run(ctx, p, env); f.count.Load() > f.n && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", j.Name, err)
		}
		cancel()
		clean(t, d)
	}
}

// testAsynchronous holds a kernel back: calls return, and what was called before continues.
func testAsynchronous(t *testing.T, s Subject) {
	root := oocore.FromSlice(make([]float32, 8<<20)).Sqrt()
	d := s.New(t, 212*mebi)
	one := Expression{Root: root, Chunks: root.Shape()}
	p := one.Plan(t, on(d, 128*mebi, 2))
	st := *p.OnDevice[0]
	if st.Depth < size.DeviceSets {
		t.Fatalf("one task has %d tiles in flight", st.Depth)
	}
	hold, uploads := make(chan struct{}), make(chan struct{}, 8)
	s.Fail(d, func(operation string) error {
		switch operation {
		case "upload":
			uploads <- struct{}{}
		case "compute":
			<-hold
		}
		return nil
	})
	w := testcases.Must[device.Work](t)(d.Open(&st))
	if used := d.Usage().Used; used != st.DevicePeak {
		t.Errorf("an open stage takes %d bytes, predicted %d", used, st.DevicePeak)
	}
	box := st.Grid.Box(0)
	n := 0
	var all []device.Job
	for tile := range box.Split(st.Tile) {
		if n++; n > st.Depth {
			break
		}
		all = append(all, w.Map(0, tile, [][]byte{make([]byte, tile.Size()*4)}, make([]byte, tile.Size()*4)))
	}
	for range all {
		<-uploads // while the first kernel is held back
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := all[0].Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a job that is held back gave %v", err)
	}
	close(hold)
	for _, j := range all {
		if times, err := j.Wait(context.Background()); err != nil || times.Moved == 0 {
			t.Errorf("a job moved %d bytes: %v", times.Moved, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	clean(t, d)
}
