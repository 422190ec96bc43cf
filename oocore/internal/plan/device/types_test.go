package device_test

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/plan/device"
)

// Bits are those that sets had when the numbers of types were 1 to 15.
func TestTypesKeepTheirBits(t *testing.T) {
	floats := device.TypesOf(func(t dtype.Type) bool { return t.Kind() == dtype.KindFloat })
	if all := device.TypesOf(func(dtype.Type) bool { return true }); all != 0xfffe || floats != 1<<10|1<<11|1<<12|1<<13 {
		t.Errorf("%b, %b", all, floats)
	}
	if !floats.Has(dtype.Float32) || floats.Has(dtype.Invalid) || floats.Has(dtype.Int64) || floats.Has(12) {
		t.Errorf("%b has other types", floats)
	}
}
