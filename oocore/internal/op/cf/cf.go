// Package cf decodes stored numbers by the CF conventions, as xarray does: missing values,
// scale and offset, and dates.
package cf

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/store"
)

// Decode returns a stored array, or a part of one, as the numbers that its attributes say it
// stands for, fused with what reads it. What is equal to _FillValue or missing_value becomes
// NaN; the rest is multiplied by scale_factor and added to add_offset; _Unsigned reads
// integers without their sign, or with one. Types are xarray's: packed numbers become float64, and
// integers with missing values float32 up to 16 bits, else float64.
//
// Numbers whose units are those of dates, "days since 2000-01-01", become int64 that count
// ns, us, ms or s since 1970-01-01 ("" is ns), or a finer unit where theirs is. Fractions of
// it are cut off, and a missing date is the least integer, NumPy's NaT. Calendars are
// standard and proleptic_gregorian; a date that has no number in the unit, such as one
// before 1678 in ns, is an error of the run, and so is one before 1582-10-15 in the standard
// calendar, which then is another.
func Decode(site graph.Site, a DecodeArgs) (*graph.Node, error) {
	out, err := decode(site, a.X, a.Unit)
	return graph.Result(site, "decode_cf", out, err, a.X)
}

func decode(site graph.Site, n *graph.Node, unit string) (*graph.Node, error) {
	source := n
	for source.Kind == graph.View {
		source = source.In[0]
	}
	if source.Joins && source.Kind == graph.Blockwise && !slices.ContainsFunc(source.In, func(in *graph.Node) bool {
		for in.Kind == graph.View || in.Kind == graph.Cast && in.Details == nil {
			in = in.In[0]
		}
		if in.Details != nil {
			return false
		}
		plain, err := decode(site, in, unit) // one that has nothing to decode is itself
		return err != nil || plain != in
	}) {
		return n, nil // files that were decoded one by one
	}
	if source.Kind != graph.Source {
		return nil, errors.New("decodes an array as it is stored, or a slice of one: decode first, then compute")
	}
	d := source.Stored.Info.Details
	d.Dims = nil // which follow from the expression
	all := map[string]json.RawMessage{}
	if d.Attributes != nil {
		if err := json.Unmarshal(d.Attributes, &all); err != nil {
			return nil, fmt.Errorf("attributes: %w", err)
		}
	}
	if n.DType.Kind() == dtype.KindComplex || n.DType == dtype.Bool {
		return n, nil // which CF does not pack
	}
	a, err := attributesOf(all, d, n.DType)
	if err != nil {
		return nil, err
	}
	t, err := timesOf(all, unit)
	if err != nil {
		return nil, err
	}
	if !a.decodes() && t == nil {
		return n, nil
	}
	m := &graph.Maker{Site: site}
	out := a.numbers(m, n, t != nil)
	if t != nil {
		out = t.decode(m, out)
	}
	if m.Err != nil {
		return nil, m.Err
	}
	for _, name := range []string{"_FillValue", "missing_value", "scale_factor", "add_offset", "_Unsigned"} {
		delete(all, name)
	}
	if t != nil {
		t.describe(all)
	}
	d.Fill, d.Marks, d.Attributes = "", false, nil
	if len(all) > 0 {
		if d.Attributes, err = json.Marshal(all); err != nil {
			return nil, err
		}
	}
	described := *out
	described.Details = &d
	return &described, nil
}

// attributes are those of CF that say what the stored numbers stand for.
type attributes struct {
	from, stored  dtype.Type // of the file, and as which its numbers are read
	missing       []dtype.Value
	scale, offset *float64
}

func (a attributes) packed() bool { return a.scale != nil || a.offset != nil }

func (a attributes) decodes() bool { return a.packed() || len(a.missing) > 0 || a.from != a.stored }

func attributesOf(all map[string]json.RawMessage, d store.Details, t dtype.Type) (a attributes, err error) {
	a.from, a.stored = t, t
	var unsigned any
	if raw, ok := all["_Unsigned"]; ok && json.Unmarshal(raw, &unsigned) == nil {
		switch text := fmt.Sprint(unsigned); {
		case strings.EqualFold(text, "true") && t.Kind() == dtype.KindInt:
			a.stored = map[int]dtype.Type{1: dtype.Uint8, 2: dtype.Uint16, 4: dtype.Uint32, 8: dtype.Uint64}[t.Size()]
		case strings.EqualFold(text, "false") && t.Kind() == dtype.KindUint:
			a.stored = map[int]dtype.Type{1: dtype.Int8, 2: dtype.Int16, 4: dtype.Int32, 8: dtype.Int64}[t.Size()]
		}
	}
	for name, to := range map[string]**float64{"scale_factor": &a.scale, "add_offset": &a.offset} {
		raw, ok := all[name]
		if !ok {
			continue
		}
		f, err := number(raw)
		if err != nil {
			return a, fmt.Errorf("attribute %s: %w", name, err)
		}
		*to = &f
	}
	for _, name := range []string{"_FillValue", "missing_value"} {
		raw, ok := all[name]
		if !ok && (name != "_FillValue" || !d.Marks) {
			continue
		}
		if !ok {
			raw = json.RawMessage(d.Fill)
		}
		v, err := element(raw, t)
		if err != nil {
			return a, fmt.Errorf("attribute %s: %w", name, err)
		}
		if a.stored != t { // the same bits
			v = dtype.Value{Type: a.stored, Lo: v.Lo & (math.MaxUint64 >> (64 - 8*t.Size()))}
		}
		a.missing = append(a.missing, v)
	}
	return a, nil
}

// number is a number in JSON, or a list of one, as netCDF's attributes are.
func number(raw json.RawMessage) (f float64, err error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 {
		raw = list[0]
	}
	if json.Unmarshal(raw, &f) == nil {
		return f, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if b, err := base64.StdEncoding.DecodeString(text); err == nil && len(b) == 8 { // xarray's of floats in Zarr 3
			return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
		}
		if f, err = strconv.ParseFloat(text, 64); err == nil {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%.40s is not a number", raw)
}

// element is a marker of missing values in the elements' type.
func element(raw json.RawMessage, t dtype.Type) (dtype.Value, error) {
	if t.Kind() == dtype.KindFloat {
		f, err := number(raw)
		return dtype.FromFloat(t, f), err
	}
	text := strings.Trim(string(raw), `[]" `)
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		if v := dtype.FromInt(t, i); v.String() == text || t.Kind() == dtype.KindUint {
			return v, nil
		}
	} else if u, err := strconv.ParseUint(text, 10, 64); err == nil && t == dtype.Uint64 {
		return dtype.ValueOf(u), nil
	}
	f, err := number(raw)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return dtype.Value{}, fmt.Errorf("%.40s is not a value of %s", raw, t)
	}
	return dtype.FromInt(t, int64(f)), nil
}

// numbers applies the attributes. Dates that are integers stay so, with NaT where one is
// missing.
func (a attributes) numbers(m *graph.Maker, n *graph.Node, dates bool) *graph.Node {
	n = m.Cast(n, a.stored)
	isMissing := m.Full(dtype.ValueOf(false))
	for _, v := range a.missing {
		isMissing = m.Apply(kernel.LogicalOr, isMissing, m.Apply(kernel.Equal, n, m.Full(v)))
	}
	t := a.stored
	var missing dtype.Value
	switch {
	case a.packed():
		t = dtype.Float64
		missing = dtype.FromFloat(t, math.NaN())
	case len(a.missing) == 0:
		return n
	case dates && t.Kind() != dtype.KindFloat:
		t = dtype.Int64
		missing = dtype.ValueOf(int64(math.MinInt64))
	default:
		if t.Kind() != dtype.KindFloat {
			if t = dtype.Float64; a.stored.Size() <= 2 {
				t = dtype.Float32
			}
		}
		missing = dtype.FromFloat(t, math.NaN())
	}
	n = m.Cast(n, t)
	if a.scale != nil {
		n = m.Apply(kernel.Multiply, n, m.Full(dtype.FromFloat(t, *a.scale)))
	}
	if a.offset != nil {
		n = m.Apply(kernel.Add, n, m.Full(dtype.FromFloat(t, *a.offset)))
	}
	if len(a.missing) == 0 {
		return n
	}
	return m.Apply(kernel.Where, isMissing, m.Full(missing), n)
}
