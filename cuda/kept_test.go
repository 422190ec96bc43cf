package cuda_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/cuda"
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
	kept              int64 // bytes that stayed, at the most
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

// The iterations of CP read the tensor twice each, in two views of it. Each view stays on a
// card that has the room, and crosses the link once; a card without computes the same.
func TestIterationsOfCPCrossLinkOnce(t *testing.T) {
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
		out, err := decomp.CP(t.Context(), x, 2, decomp.CPOptions{Iterations: iterations, Tolerance: -1, Seed: 3}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return out.Errors, trafficOf(t, dir)
	}
	want, _ := run(oocore.Memory("256MiB"))
	for memory, most := range map[string]int64{"96MiB": 4, "2MiB": 2*iterations + 4} {
		device := cuda.Model(memory)
		got, sum := run(oocore.Memory("512MiB"), oocore.On(device))
		if !slices.Equal(got, want) {
			t.Errorf("%s: errors %v, on the CPU %v", memory, got, want)
		}
		if used := device.Usage().Used; used != 0 {
			t.Errorf("%s: %d bytes of the device are in use after the runs", memory, used)
		}
		t.Logf("%s: %.2f times the tensor crossed the link, planned %.2f times; peak %d of %d", memory, float64(sum.measured)/bytes, float64(sum.planned)/bytes, sum.peak, sum.predicted)
		if sum.measured > most*bytes || sum.planned < sum.measured*9/10 || sum.planned > sum.measured*11/10 {
			t.Errorf("%s: %d bytes crossed the link, planned %d, want at most %d times the tensor of %d", memory, sum.measured, sum.planned, most, bytes)
		}
		if sum.peak > sum.predicted || sum.peak < sum.predicted*8/10 {
			t.Errorf("%s: the device's peak is %d bytes, predicted %d", memory, sum.peak, sum.predicted)
		}
		if room := memory == "96MiB"; room != (sum.kept >= 2*bytes) || sum.gaveUp > 1 {
			t.Errorf("%s: %d bytes stayed, and were given up %d times", memory, sum.kept, sum.gaveUp)
		}
	}
}
