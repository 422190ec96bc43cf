package cf

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/testkit/blockwisetest"
	"github.com/gonbext/gonbext/oocore/store"
)

// stored is an array of a file with attributes.
func stored(t *testing.T, dt dtype.Type, attributes string) *graph.Node {
	t.Helper()
	n, err := graph.Open(graph.Site{}, store.Info{Path: "x.zarr", Format: "zarr", Shape: []int{5}, DType: dt, Details: store.Details{Attributes: json.RawMessage(attributes), Dims: []string{"time"}}}, "x")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// decoded runs the operation of dates alone.
func decoded[T dtype.Element](t *testing.T, attributes, unit string, values ...T) ([]int64, error) {
	t.Helper()
	n, err := Decode(graph.Site{}, DecodeArgs{X: stored(t, dtype.Of[T](), attributes), Unit: unit})
	if err != nil {
		return nil, err
	}
	op := n.Blocks.Op.(Dates)
	in := blockwisetest.Array{Shape: []int{len(values)}, DType: dtype.Of[T](), Data: dtype.Bytes(values)}
	out, err := blockwisetest.Try(t, op, in.Shape, dtype.Int64, in)
	return dtype.Slice[int64](out), err
}

func TestDatesAreThoseOfTheCalendar(t *testing.T) {
	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		units, unit string
		value       int64
		want        int64
	}{
		{`"days since 2000-01-01"`, "", 60, at("2000-03-01T00:00:00Z").UnixNano()},
		{`"days since 2000-01-01"`, "s", -1, at("1999-12-31T00:00:00Z").Unix()},
		{`"hours since 1900-1-1 6:30:00"`, "s", 0, at("1900-01-01T06:30:00Z").Unix()},
		{`"Seconds since 1970-01-01T01:00:00+01:00"`, "ms", 7, 7000},
		{`"min since 1970-01-01 00:00:00 -02:30"`, "s", 0, 9000},
		{`"milliseconds since 1970-01-01"`, "s", 1234, 1234},           // whose unit is finer
		{`"seconds since 1970-01-01 00:00:00.25"`, "s", 1, 1250},       // in ms
		{`"days since 0001-01-01"`, "ns", 719162, 0},                   // the first date has no number in ns
		{`"days since 1600-02-29"`, "s", math.MinInt64, math.MinInt64}, // missing
	} {
		got, err := decoded(t, `{"calendar":"proleptic_gregorian","units":`+c.units+`}`, c.unit, c.value)
		if err != nil || got[0] != c.want {
			t.Errorf("%d %s in %s: %v, want %d; %v", c.value, c.units, c.unit, got, c.want, err)
		}
	}
	got, err := decoded(t, `{"units":"days since 1970-01-01"}`, "s", 0.5, math.NaN(), -1.25)
	if err != nil || !slices.Equal(got, []int64{43200, math.MinInt64, -108000}) {
		t.Errorf("fractions of days: %v, %v", got, err)
	}
}

func TestDatesWithoutANumberAreErrors(t *testing.T) {
	for reason, c := range map[string]struct {
		attributes, unit string
		value            float64
	}{
		"before 1678 or after 2262": {`{"units":"days since 1600-01-01","calendar":"proleptic_gregorian"}`, "ns", 3},
		"after 2262":                {`{"units":"days since 1970-01-01"}`, "", 1e9},
		"before 1582-10-15":         {`{"units":"days since 1970-01-01","calendar":"gregorian"}`, "s", -200000},
		"too far from 1970":         {`{"units":"days since 1970-01-01"}`, "us", 1e12},
		`calendar noleap`:           {`{"units":"days since 1970-01-01","calendar":"noleap"}`, "s", 0},
		`"months"`:                  {`{"units":"months since 1970-01-01"}`, "s", 0},
		`no date "1970-02-30"`:      {`{"units":"days since 1970-02-30"}`, "s", 0},
		"is not a date":             {`{"units":"days since yesterday"}`, "s", 0},
		`unit "D" is unknown`:       {`{"units":"days since 1970-01-01"}`, "D", 0},
		"not proleptic_gregorian":   {`{"units":"days since 0001-01-01"}`, "s", 0},
	} {
		if got, err := decoded(t, c.attributes, c.unit, c.value); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s in %s: %v, %v", c.attributes, c.unit, got, err)
		}
	}
}

func TestDecodeDescribesItsResult(t *testing.T) {
	for _, c := range []struct {
		in   dtype.Type
		with string
		out  dtype.Type
		want string
	}{
		{dtype.Int16, `{"units":"K","scale_factor":0.5,"_FillValue":-1}`, dtype.Float64, `{"units":"K"}`},
		{dtype.Int16, `{"_FillValue":-1}`, dtype.Float32, ``},
		{dtype.Int32, `{"missing_value":[-1]}`, dtype.Float64, ``},
		{dtype.Float32, `{"_FillValue":"AAAAAACAw8A="}`, dtype.Float32, ``},
		{dtype.Int8, `{"_Unsigned":"true","units":"1"}`, dtype.Uint8, `{"units":"1"}`},
		{dtype.Uint8, `{"_Unsigned":"false","_FillValue":-1}`, dtype.Float32, ``},
		{dtype.Uint16, `{"_Unsigned":"false"}`, dtype.Int16, ``},
		{dtype.Int32, `{"units":"days since 2000-01-01"}`, dtype.Int64, `{"_FillValue":-9223372036854775808,"calendar":"proleptic_gregorian","units":"nanoseconds since 1970-01-01"}`},
		{dtype.Int32, `{"units":"days"}`, dtype.Int32, `{"units":"days"}`},
	} {
		n, err := Decode(graph.Site{}, DecodeArgs{X: stored(t, c.in, c.with), Unit: ""})
		if err != nil {
			t.Errorf("%s: %v", c.with, err)
			continue
		}
		details := n.Details
		if n.Kind == graph.Source {
			details = &n.Stored.Info.Details
		}
		if n.DType != c.out || string(details.Attributes) != c.want {
			t.Errorf("%s of %s: %s with %s, want %s with %s", c.with, c.in, n.DType, details.Attributes, c.out, c.want)
		}
	}
	for reason, attributes := range map[string]string{"scale_factor": `{"scale_factor":"half"}`, "_FillValue": `{"_FillValue":0.5}`} {
		if _, err := Decode(graph.Site{}, DecodeArgs{X: stored(t, dtype.Int16, attributes), Unit: ""}); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", attributes, err)
		}
	}
	float, err := graph.AsType(graph.Site{}, stored(t, dtype.Int16, "{}"), dtype.Float32)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(graph.Site{}, DecodeArgs{X: float, Unit: ""}); err == nil || !strings.Contains(err.Error(), "decode first") {
		t.Errorf("of a computed array: %v", err)
	}
}
