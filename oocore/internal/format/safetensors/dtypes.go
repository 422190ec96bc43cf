package safetensors

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// names are the format's names of the dtypes. It has none for complex128.
var names = map[dtype.Type]string{
	dtype.Bool: "BOOL", dtype.Int8: "I8", dtype.Int16: "I16", dtype.Int32: "I32", dtype.Int64: "I64",
	dtype.Uint8: "U8", dtype.Uint16: "U16", dtype.Uint32: "U32", dtype.Uint64: "U64",
	dtype.Float16: "F16", dtype.BFloat16: "BF16", dtype.Float32: "F32", dtype.Float64: "F64",
	dtype.Complex64: "C64", dtype.Float8E4M3FN: "F8_E4M3", dtype.Float8E5M2: "F8_E5M2",
}

// bits are the sizes of elements by the format's names, those included that can
// only be passed over.
var bits = map[string]int{
	"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
	"F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
}

func init() {
	for t, name := range names {
		bits[name] = 8 * t.Size()
	}
}

// dtype is the tensor's type of elements, if there is one here.
func (t Tensor) dtype() (dtype.Type, error) {
	for dt, name := range names {
		if name == t.DType {
			return dt, nil
		}
	}
	if _, known := bits[t.DType]; known {
		return 0, fmt.Errorf("dtype %s cannot be read: save the tensor as F16, BF16 or F32", t.DType)
	}
	return 0, fmt.Errorf("dtype %.40q is unknown", t.DType)
}

// bytes is the size of the elements, where the dtype's is known. The shape's
// product was checked to fit.
func (t Tensor) bytes() (int64, bool) {
	b, known := bits[t.DType]
	if b < 8 {
		n := int64(grid.Size(t.Shape))
		return n/8*int64(b) + (n%8*int64(b)+7)/8, known
	}
	return int64(grid.Size(t.Shape)) * int64(b/8), known
}
