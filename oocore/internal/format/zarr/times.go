package zarr

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/gonbext/gonbext/oocore/internal/format/npy"
)

// NumPy's dates and durations are stored as int64. Arrays of them are read as such, with
// attributes that say what the integers count.

// timeExtensions are the data types of version 3 that zarr-python has for them, and NumPy's
// kinds.
var timeExtensions = map[string]byte{"numpy.datetime64": 'M', "numpy.timedelta64": 'm'}

// v2Times is the dtype of version 2 for them, such as <M8[ns].
var v2Times = regexp.MustCompile(`^"([<>])([Mm])8\[(\w+)\]"$`)

// v3Times are the attributes of an extension for times.
func v3Times(n named) (json.RawMessage, error) {
	var unit string
	if err := n.configuration.field("unit", &unit); err != nil {
		return nil, err
	}
	factor := 1
	if !n.configuration.absent("scale_factor") {
		if err := n.configuration.field("scale_factor", &factor); err != nil {
			return nil, err
		}
	}
	if factor != 1 {
		return nil, fmt.Errorf("times in steps of %d units are not supported, of one are", factor)
	}
	return npy.TimeAttributes(timeExtensions[n.name], unit)
}

// timeFill is a fill value of times in the form of integers'.
func timeFill(raw json.RawMessage) json.RawMessage {
	if string(raw) == `"NaT"` {
		return json.RawMessage("-9223372036854775808")
	}
	return raw
}

// addTimes gives the attributes of times, in place of others of their names.
func (m *meta) addTimes() error {
	if m.times == nil {
		return nil
	}
	all := members{}
	var err error
	if m.attributes != nil {
		if all, err = parseMembers(m.attributes); err != nil {
			return fmt.Errorf("attributes: %w", err)
		}
	}
	units, _ := parseMembers(m.times)
	for _, u := range units {
		all = all.set(u.name, u.value)
	}
	m.attributes = all.encode()
	return nil
}
