package main

import (
	"io"
	"os"

	"github.com/gonbext/gonbext/oocore/units"
)

// plain is a standard stream that takes text, with what comes from files: names, attributes, logs, errors of programs. A
// terminal finds nothing in it that it obeys.
type plain struct{ *os.File }

// Write writes whole lines or words, as package fmt does.
func (p plain) Write(b []byte) (int, error) {
	w := io.Writer(p.File)
	if p.File == os.Stdout {
		w = &standardOutput
	}
	if _, err := io.WriteString(w, units.Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
