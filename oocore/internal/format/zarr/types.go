package zarr

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/format/raw"
)

// v3Type is the type that a v3 array's data_type names.
func v3Type(name string) (dtype.Type, error) {
	switch name { // names that other writers have for the same elements
	case "complex_float32":
		return dtype.Complex64, nil
	case "complex_float64":
		return dtype.Complex128, nil
	}
	t, err := dtype.Parse(name)
	if err != nil {
		return t, fmt.Errorf("elements of type %q are not supported", name)
	}
	return t, nil
}

// v2Type is the type, and whether it is big-endian, that a v2 array's dtype names in
// NumPy's form, such as "<f4".
func v2Type(text json.RawMessage) (t dtype.Type, big bool, err error) {
	var name string
	if json.Unmarshal(text, &name) != nil {
		return t, false, fmt.Errorf("elements of several fields are not supported: %s", shorten(text))
	}
	if name == "bfloat16" { // TensorStore's
		return dtype.BFloat16, false, nil
	}
	if name == "" || !strings.Contains("<>|=", name[:1]) {
		return t, false, fmt.Errorf("elements of type %q are not supported", name)
	}
	t, ok := raw.TypeOf(name[1:])
	if !ok || (name[0] == '|' && t.Size() > 1) {
		return t, false, fmt.Errorf("elements of type %q are not supported", name)
	}
	return t, name[0] == '>' && t.Size() > 1, nil
}
