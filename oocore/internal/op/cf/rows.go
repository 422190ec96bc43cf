package cf

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "decode_cf", NumPy: "xr.decode_cf; dates as integers", Build: op.Build(Decode),
		Go: "(a *Array) DecodeCF(unit string)", Doc: `DecodeCF returns a stored array, or a slice of one, as the numbers that it stands for by the CF conventions, as xarray reads them: NaN in
place of _FillValue and missing_value, the rest times scale_factor plus add_offset, and dates such as "days since 2000-01-01" as int64 that
count ns, us, ms or s since 1970-01-01 ("" is ns), the least of them where a date is missing. It is fused with what reads it, and keeps the
other attributes.

A finer unit is taken where that of the file is finer, and fractions are cut off. Calendars are standard and proleptic_gregorian. A date
without a number in the unit is an error of the run: in ns those before 1678 and after 2262; so are those before 1582-10-15 in the standard
calendar.`},
}

// DecodeArgs are the arguments of decode_cf.
type DecodeArgs struct {
	X    *graph.Node
	Unit string `usage:"ns" default:""`
}
