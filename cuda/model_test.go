package cuda_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/device/devicetest"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/record"
)

// compute takes an expression's result, on the CPU where d is nil.
func compute(t *testing.T, root *oocore.Array, d device.Device) (*devicetest.Plan, []byte, record.End) {
	t.Helper()
	e := devicetest.Expression{Root: root}
	out, p, end, err := e.Run(t, d, little)
	if err != nil {
		t.Fatal(err)
	}
	return p, out, end
}

// sizeOf is the number of elements of a shape.
func sizeOf(shape []int) int { return device.Box{Shape: shape}.Size() }

// roots is the square root of an array of the given length that no file holds.
func roots(n int) *oocore.Array { return oocore.Random(dtype.Float32, 3, n).Sqrt() }

var little = devicetest.Options{Budget: 64 << 20, Workers: 2}

func modelOf(t *testing.T, size string) device.Device {
	t.Helper()
	d, err := cuda.Open("model:" + size)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// An array of 12 MB passes through a device of 1 MiB, and comes out as it does
// from the CPU.
func TestArrayLargerThanTheDevice(t *testing.T) {
	n := roots(3_000_017)
	_, want, _ := compute(t, n, nil)
	p, got, end := compute(t, n, modelOf(t, "1MiB"))
	for i, v := range dtype.Slice[float32](want) {
		if on := dtype.Slice[float32](got)[i]; on != v {
			t.Fatalf("element %d is %v on the device and %v on the CPU", i, on, v)
		}
	}
	if p.OnDevice[0] == nil {
		t.Fatalf("the stage is not on the device: %s", p.Stages[0].Note)
	}
	if end.DevicePeak > p.DevicePeak || end.DevicePeak < p.DevicePeak*8/10 || p.DevicePeak > 1<<20 {
		t.Errorf("device peak %d, predicted %d, of %d", end.DevicePeak, p.DevicePeak, 1<<20)
	}
}

func TestADeviceTooSmallForABlock(t *testing.T) {
	p, _, end := compute(t, roots(100_000), modelOf(t, "4KiB"))
	if p.OnDevice[0] != nil || end.DevicePeak != 0 {
		t.Errorf("a device of 4 KiB computes blocks of 64 KiB: peak %d", end.DevicePeak)
	}
	if note, want := p.Stages[0].Note, "model:4KiB has too little memory for the smallest tiles, which take 320 KiB: on the CPU"; note != want {
		t.Errorf("the plan says %q, want %q", note, want)
	}
}

func TestModelPassesTheSuiteOfDevices(t *testing.T) {
	fails := map[device.Device]func(operation string) error{}
	devicetest.Test(t, devicetest.Subject{
		New: func(t testing.TB, memory int64) device.Device {
			d := cuda.Model(strconv.FormatInt(memory, 10))
			cuda.Wrap(d, func(found driver.Driver) driver.Driver {
				found.(*model.Driver).Fail = func(operation string) error {
					if fail := fails[d]; fail != nil {
						return fail(operation)
					}
					return nil
				}
				return found
			})
			t.Cleanup(func() {
				if n := cuda.Pinned(d); n != 0 {
					t.Errorf("%d bytes stay page-locked", n)
				}
				if err := cuda.Release(d); err != nil {
					t.Error(err)
				}
			})
			return d
		},
		Fail: func(d device.Device, f func(operation string) error) { fails[d] = f },
	})
}

func TestNames(t *testing.T) {
	for _, bad := range []string{"gpu", "model:", "model:lots", "model:0", "cuda", "cuda:x"} {
		if _, err := cuda.Open(bad); err == nil {
			t.Errorf("%q is a device", bad)
		}
	}
	if d, err := cuda.Open("model:8GiB"); err != nil || d.Spec().Memory != 8<<30 || d.Spec().Name != "model:8GiB" {
		t.Errorf("model:8GiB: %v", err)
	}
}

// A modelled device's memory is the host's, and the budget knows it.
func TestModelCountsInTheBudget(t *testing.T) {
	e := devicetest.Expression{Root: roots(8_000_000), Path: "o.npy"}
	d := modelOf(t, "1GiB").Spec()
	for budget := int64(2 << 20); budget <= 64<<20; budget *= 2 {
		p, err := e.Size(t, devicetest.Options{Budget: budget, Workers: 2, Device: d})
		var short *oocore.MemoryError
		if errors.As(err, &short) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if taken := p.Peak.Host() + p.DevicePeak; taken > budget {
			t.Errorf("of %d bytes the plan takes %d, %d of them as a device", budget, taken, p.DevicePeak)
		}
	}
}

// A device goes straight into an option; what is wrong with it comes out of the
// run.
func TestDevicesAsOptions(t *testing.T) {
	x := oocore.FromSlice([]float32{1, 4, 9})
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	got, err := oocore.Collect[float32](t.Context(), x.Sqrt(), oocore.On(cuda.Model("1MiB")))
	if err != nil || got[2] != 3 {
		t.Errorf("on a model: %v, %v", got, err)
	}
	if _, err := oocore.Collect[float32](t.Context(), x.Sqrt(), oocore.On(cuda.Device(99))); err == nil || !strings.Contains(err.Error(), "cuda:99") && !errors.Is(err, cuda.ErrNoDriver) {
		t.Errorf("on cuda:99: %v", err)
	}
	if _, err := oocore.Collect[float32](t.Context(), x.Sqrt(), oocore.On(cuda.Model("lots"))); err == nil || !strings.Contains(err.Error(), "lots") {
		t.Errorf("on a model of lots: %v", err)
	}
}
