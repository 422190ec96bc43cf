package store

import (
	"encoding/json"
	"strings"
)

// timeUnits are NumPy's units of dates and durations, as CF names them.
var timeUnits = map[string]string{
	"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds",
}

// cutDate reads NumPy's type code of a date or a duration, such as M8[ns]: that of the
// integers which it is stored as, and the attributes that say by CF's conventions what
// these count. A date that is not one, NaT, is the least integer.
func cutDate(code string) (integers string, attributes json.RawMessage, ok bool) {
	kind, unit, _ := strings.Cut(strings.TrimSuffix(code, "]"), "[")
	name, known := timeUnits[unit]
	switch {
	case !known || !strings.HasSuffix(code, "]"):
		return "", nil, false
	case kind == "M8":
		return "i8", json.RawMessage(`{"units":"` + name + ` since 1970-01-01","calendar":"proleptic_gregorian"}`), true
	case kind == "m8":
		return "i8", json.RawMessage(`{"units":"` + name + `"}`), true
	}
	return "", nil, false
}
