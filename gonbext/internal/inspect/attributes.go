package inspect

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/gonbext/gonbext/oocore/units"
)

// How much of an array's attributes is printed: some hold whole documents.
const maxAttributes, maxAttribute = 40, 200

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
		lines = append(lines, oneLine(name+" = "+b.String()))
	}
	slices.Sort(lines)
	if n := len(lines); n > maxAttributes {
		lines = append(lines[:maxAttributes], "…")
	}
	return lines
}

// oneLine makes a file's text fit for a line of a terminal.
func oneLine(s string) string {
	s = units.Line(s)
	if r := []rune(s); len(r) > maxAttribute {
		return string(r[:maxAttribute-1]) + "…"
	}
	return s
}
