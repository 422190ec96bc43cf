package cf

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

// Rows are the operations of this package.
var Rows = append([]op.Row{
	{Name: "decode_cf", NumPy: "xr.decode_cf; dates as integers", Build: op.Build(Decode),
		Go: "(a *Array) DecodeCF(unit string)", Doc: `DecodeCF returns a stored array, or a slice of one, as the numbers that it stands for by the CF conventions, as xarray reads them: NaN in
place of _FillValue and missing_value, the rest times scale_factor plus add_offset, and dates such as "days since 2000-01-01" as int64 that
count ns, us, ms or s since 1970-01-01 ("" is ns), the least of them where a date is missing. It is fused with what reads it, and keeps the
other attributes.

A finer unit is taken where that of the file is finer, and fractions are cut off. Calendars are standard and proleptic_gregorian. A date
without a number in the unit is an error of the run: in ns those before 1678 and after 2262; so are those before 1582-10-15 in the standard
calendar.`},
}, fieldRows()...)

// fieldDocs say what fields of dates are, and from which number on.
var fieldDocs = map[Field]string{
	Year: "years", Month: "months, from 1 on", Day: "days of the month, from 1 on", Hour: "hours, from 0 on", Minute: "minutes, from 0 on", Second: "seconds, from 0 on",
	DayOfYear: "days of the year, from 1 on", DayOfWeek: "days of the week, from 0 for Monday on", Quarter: "quarters of the year, from 1 on", Season: "seasons: 0 is DJF, 1 JJA, 2 MAM and 3 SON",
}

// goNames are those of Go.
var goNames = map[Field]string{
	Year: "Year", Month: "Month", Day: "Day", Hour: "Hour", Minute: "Minute", Second: "Second", DayOfYear: "DayOfYear", DayOfWeek: "DayOfWeek", Quarter: "Quarter", Season: "Season",
}

// fieldRows are an operation for each field of dates.
func fieldRows() (rows []op.Row) {
	for _, f := range AllFields {
		rows = append(rows, op.Row{Name: string(f), NumPy: "xr.DataArray.dt." + string(f), Build: op.Build(BuildField).With(FieldArgs{Field: f}),
			Go: "(a *Array) " + goNames[f] + "()", Doc: goNames[f] + " returns " + fieldDocs[f] + `, of dates: stored numbers whose attribute units is such as "days since 2000-01-01", in their own calendar, or what DecodeCF
returns. They are int64. A date that is missing is an error of the run.`})
	}
	return rows
}

// FieldArgs are the arguments of a field of dates.
type FieldArgs struct {
	X     *graph.Node
	Field Field `usage:"-"`
}

// DecodeArgs are the arguments of decode_cf.
type DecodeArgs struct {
	X    *graph.Node
	Unit string `usage:"ns" default:""`
}
