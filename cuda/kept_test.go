package cuda_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/decomp"
	"github.com/gonbext/gonbext/oocore/record"
)

// traffic is what the stages of a run log that read the tensor moved over the link: as
// planned, and as measured.
type traffic struct {
	planned, measured int64
	peak, predicted   int64 // of the device's memory
	gaveUp            int   // times that kept inputs were given up
	kept, stays       int64 // bytes that stayed, at the most, and that a stage's plan says do
}

func reads(s record.Stage) bool { return slices.Contains(s.Inputs, "x.npy") }

func trafficOf(t *testing.T, dir string) (sum traffic) {
	t.Helper()
	all, err := record.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		r, err := record.Read(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range r.Header.Stages {
			if st.Transfers != nil && reads(st) {
				sum.stays = max(sum.stays, st.Transfers.Kept)
				sum.planned += st.Transfers.Up + st.Transfers.Down
			}
		}
		for task := range r.Tasks() {
			if reads(r.Header.Stages[task.Stage]) {
				sum.measured += task.Moved
			}
		}
		for e := range r.Events() {
			if e.Action == record.GaveUpKept {
				sum.gaveUp++
			}
		}
		for m := range r.Samples() {
			sum.kept = max(sum.kept, m.Kept)
		}
		sum.peak, sum.predicted = max(sum.peak, r.End.DevicePeak), max(sum.predicted, r.Header.Device.Predicted)
	}
	return sum
}

// The iterations of CP and Tucker read the tensor twice each, in two views of it. Each view
// stays on a card that has the room, and crosses the link once; a card without computes the
// same.
func TestIterationsCrossLinkOnce(t *testing.T) {
	t.Run("cp", func(t *testing.T) {
		iterationsCrossLinkOnce(t, 4, func(x *oocore.Array, iterations int, opts ...oocore.Option) ([]float64, error) {
			out, err := decomp.CP(t.Context(), x, 2, decomp.CPOptions{Iterations: iterations, Tolerance: -1, Seed: 3}, opts...)
			if err != nil {
				return nil, err
			}
			return out.Errors, nil
		})
	})
	t.Run("tucker", func(t *testing.T) {
		iterationsCrossLinkOnce(t, 6, func(x *oocore.Array, iterations int, opts ...oocore.Option) ([]float64, error) {
			out, err := decomp.Tucker(t.Context(), x, []int{2, 2, 2}, decomp.TuckerOptions{Iterations: iterations, Tolerance: -1, Seed: 3}, opts...)
			if err != nil {
				return nil, err
			}
			return out.Errors, nil
		})
	})
}

// iterationsCrossLinkOnce runs ten iterations, of which at most so many times the tensor crosses
// the link to a card that has the room.
func iterationsCrossLinkOnce(t *testing.T, most int64, compute func(x *oocore.Array, iterations int, opts ...oocore.Option) ([]float64, error)) {
	const iterations = 10
	const bytes = 240 * 160 * 80 * 4
	path := filepath.Join(t.TempDir(), "x.npy")
	x, err := oocore.RandomNormal(oocore.Float32, 7, 240, 160, 80).Save(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	run := func(opts ...oocore.Option) ([]float64, traffic) {
		t.Helper()
		dir := t.TempDir()
		t.Setenv("GONBEXT_RUNS", dir)
		errors, err := compute(x, iterations, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return errors, trafficOf(t, dir)
	}
	want, _ := run(oocore.Memory("256MiB"))
	for memory, most := range map[string]int64{"96MiB": most, "2MiB": 2*iterations + most} {
		device := cuda.Model(memory)
		got, sum := run(oocore.Memory("512MiB"), oocore.On(device))
		if !slices.Equal(got, want) {
			t.Errorf("%s: errors %v, on the CPU %v", memory, got, want)
		}
		if used := device.Usage().Used; used != 0 {
			t.Errorf("%s: %d bytes of the device are in use after the runs", memory, used)
		}
		t.Logf("%s: %.2f times the tensor crossed the link, planned %.2f times; peak %d of %d", memory, float64(sum.measured)/bytes, float64(sum.planned)/bytes, sum.peak, sum.predicted)
		// The plan counts every load; a slot that computes neighbouring tasks one after another
		// loads less, by how its thread happens to be scheduled.
		if sum.planned > most*bytes || sum.measured > sum.planned || sum.measured < 2*bytes {
			t.Errorf("%s: %d bytes crossed the link, planned %d, want at most %d times the tensor of %d", memory, sum.measured, sum.planned, most, bytes)
		}
		if sum.peak > sum.predicted || sum.peak < sum.predicted*8/10 {
			t.Errorf("%s: the device's peak is %d bytes, predicted %d", memory, sum.peak, sum.predicted)
		}
		if room := memory == "96MiB"; room != (sum.kept >= 2*bytes) || room != (sum.stays == bytes) || sum.gaveUp > 1 {
			t.Errorf("%s: %d bytes stayed, by the plan %d of a stage, and were given up %d times", memory, sum.kept, sum.stays, sum.gaveUp)
		}
	}
}

// A device that runs out of memory gives up what it keeps first, once, and computes the
// same.
func TestKeptInputsAreGivenUpFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	x, err := oocore.RandomNormal(oocore.Float32, 7, 60, 50, 40).Save(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	run := func(opts ...oocore.Option) []float64 {
		t.Helper()
		out, err := decomp.CP(t.Context(), x, 2, decomp.CPOptions{Iterations: 4, Tolerance: -1, Seed: 3}, append(opts, oocore.Memory("512MiB"))...)
		if err != nil {
			t.Fatal(err)
		}
		return out.Errors
	}
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	want := run()
	gaveUp := 0
	for fails := range 3 {
		dir := t.TempDir()
		t.Setenv("GONBEXT_RUNS", dir)
		device, faulty := cuda.Model("64MiB"), &faultyDriver{}
		cuda.Wrap(device, func(d driver.Driver) driver.Driver { faulty.Driver = d; return faulty })
		allocations := faulty.FailAllocation(100 + 7*fails)
		if got := run(oocore.On(device)); !slices.Equal(got, want) {
			t.Errorf("allocation %d fails: errors %v, on the CPU %v", 100+7*fails, got, want)
		}
		if used := device.Usage().Used; used != 0 {
			t.Errorf("allocation %d fails: %d bytes of the device are in use after the runs", 100+7*fails, used)
		}
		if n := allocations(); n < 100+7*fails {
			t.Errorf("there are %d allocations", n)
		}
		n := trafficOf(t, dir).gaveUp
		if n > 1 {
			t.Errorf("allocation %d fails: inputs are given up %d times", 100+7*fails, n)
		}
		gaveUp += n
	}
	if gaveUp == 0 {
		t.Error("no allocation that fails gives up kept inputs")
	}
}
