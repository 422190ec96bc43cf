package chart

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/units"
)

// Kept is a file or folder that gonbext keeps on disk.
type Kept struct {
	What, Path string
	Bytes      int64
	Count      int    // of files or folders in it; 0 where they are not counted
	Clean      string // the line that removes it
}

// Disk lists what gonbext keeps. Where something was cleaned it says what, and how many bytes were removed.
func Disk(all []Kept, cleaned string, removed int64) (Output, error) {
	total := int64(0)
	t := Table{Head: []string{"what", "where", "bytes", "removed by"}, Texts: 2}
	for _, k := range all {
		total += k.Bytes
		what := k.What
		if k.Count > 0 {
			what = units.Count(int64(k.Count)) + " " + what
		}
		t.Rows = append(t.Rows, []string{plain(what), plain(k.Path), sizeOrDash(k.Bytes), k.Clean})
	}
	verdict := units.Bytes(total) + " kept by gonbext"
	if cleaned != "" {
		verdict = fmt.Sprintf("%s removed (%s) · %s", units.Bytes(removed), cleaned, verdict)
	}
	return Tables("Disk", verdict, "GONBEXT_RUNS=off keeps no records of runs. What Go has compiled is in a cache of its own, which go clean -cache empties.", t)
}
