package inspect

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/gonbext/gonbext/gonbext/internal/names"
)

// maxAttributes is how many of an array's attributes are printed.
const maxAttributes = 40

// attributeLines are the attributes, sorted, one a line.
func attributeLines(raw json.RawMessage) []string {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		return nil
	}
	var lines []string
	for name, value := range all {
		var b bytes.Buffer
		if json.Compact(&b, value) != nil {
			continue
		}
		lines = append(lines, names.Clip(name+" = "+b.String()))
	}
	slices.Sort(lines)
	if n := len(lines); n > maxAttributes {
		lines = append(lines[:maxAttributes], "…")
	}
	return lines
}
