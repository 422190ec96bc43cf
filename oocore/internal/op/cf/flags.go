package cf

import (
	"encoding/json"
	"strings"

	"github.com/gonbext/gonbext/oocore/store"
)

// Flags are the names of integers, as the attributes flag_values and flag_meanings say (CF 3.5); nil where they have none.
func Flags(d store.Details) map[int64]string {
	var all struct {
		Values   []int64 `json:"flag_values"`
		Meanings string  `json:"flag_meanings"`
	}
	if d.Attributes == nil || json.Unmarshal(d.Attributes, &all) != nil {
		return nil
	}
	names := strings.Fields(all.Meanings)
	if len(names) == 0 || len(names) != len(all.Values) {
		return nil
	}
	flags := map[int64]string{}
	for i, v := range all.Values {
		flags[v] = names[i]
	}
	return flags
}

// Named are the details of integers from 0 on that stand for names, which have no spaces.
func Named(names []string) *store.Details {
	values := make([]int, len(names))
	for i := range values {
		values[i] = i
	}
	attributes, _ := json.Marshal(map[string]any{"flag_values": values, "flag_meanings": strings.Join(names, " ")}) // which are numbers and text
	return &store.Details{Attributes: attributes}
}
