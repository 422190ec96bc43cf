package names

import "github.com/gonbext/gonbext/oocore/units"

// Clip returns text of a file in one line of at most 200 characters that a terminal can print:
// some attributes are whole documents.
func Clip(s string) string {
	s = units.Line(s)
	if r := []rune(s); len(r) > 200 {
		return string(r[:199]) + "…"
	}
	return s
}
