package npy

import (
	"encoding/json"
	"fmt"
	"strings"
)

// timeUnits are NumPy's units of dates and durations, as CF names them.
var timeUnits = map[string]string{
	"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds",
}

// cutDate reads NumPy's type code of a date or a duration, such as M8[ns]: that of the
// integers which it is stored as, and the attributes that say what these count.
func cutDate(code string) (integers string, attributes json.RawMessage, ok bool) {
	kind, unit, _ := strings.Cut(strings.TrimSuffix(code, "]"), "[")
	if !strings.HasSuffix(code, "]") || kind != "M8" && kind != "m8" {
		return "", nil, false
	}
	attributes, err := TimeAttributes(kind[0], unit)
	return "i8", attributes, err == nil
}

// TimeAttributes are the attributes that say by CF's conventions what the integers of NumPy's
// dates, whose kind is 'M', or durations, 'm', of a unit count. A date that is not one, NaT, is
// the least integer.
func TimeAttributes(kind byte, unit string) (json.RawMessage, error) {
	name, known := timeUnits[unit]
	switch {
	case !known:
		return nil, fmt.Errorf("times of this unit, %q, are not supported: D, h, m, s, ms, us and ns are", unit)
	case kind == 'M':
		return json.RawMessage(`{"units":"` + name + ` since 1970-01-01","calendar":"proleptic_gregorian"}`), nil
	}
	return json.RawMessage(`{"units":"` + name + `"}`), nil
}
