package cf

import (
	"encoding/json"
	"fmt"
	"go/token"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	lines "github.com/gonbext/gonbext/oocore/units"
)

// Packed are the attributes that say that stored numbers are not what they stand for, and that
// Decode applies.
var Packed = []string{"scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned"}

// keywords are the names that formats have for attributes.
var keywords = map[string]map[string]string{
	"fits":  {"scale_factor": "BSCALE", "add_offset": "BZERO", "_FillValue": "BLANK"},
	"nifti": {"scale_factor": "scl_slope", "add_offset": "scl_inter"},
}

// Packing returns what the attributes of numbers of a type say that these stand for, by name and
// value: "scale_factor 0.01". What says that they are themselves, such as a factor of one, is left
// out. With dates, the units and the calendar of dates are in it.
func Packing(format string, d store.Details, t dtype.Type, dates bool) (all []string) {
	attributes := map[string]json.RawMessage{}
	if json.Unmarshal(d.Attributes, &attributes) != nil || t.Kind() == dtype.KindComplex || t == dtype.Bool {
		return nil
	}
	for _, name := range append(Packed[:len(Packed):len(Packed)], "units", "calendar") {
		raw, ok := attributes[name]
		if !ok {
			continue
		}
		value, plain := lines.Line(string(raw)), false
		switch name {
		case "scale_factor", "add_offset":
			if f, err := number(raw); err == nil {
				value, plain = fmt.Sprint(f), f == map[string]float64{"scale_factor": 1}[name]
			}
		case "_Unsigned":
			a, err := attributesOf(map[string]json.RawMessage{name: raw}, store.Details{}, t)
			plain = err == nil && a.from == a.stored
		case "units", "calendar":
			var text string
			plain = !dates || json.Unmarshal(attributes["units"], &text) != nil || sinceForm().FindString(text) == ""
		default:
			if v, err := element(raw, t); err == nil {
				value, plain = v.String(), t.Kind() == dtype.KindFloat && math.IsNaN(v.Float())
			}
		}
		if plain {
			continue
		}
		if keyword := keywords[format][name]; keyword != "" {
			name += " (" + keyword + ")"
		}
		all = append(all, fmt.Sprintf("%s %.40s", name, value))
	}
	return all
}

// Survives reports that numbers of a type still stand for the same, by their attributes, in another:
// none of them wraps or is cut off, and none is of an integer that has lost its sign, or got one.
func Survives(d store.Details, from, to dtype.Type) bool {
	packed := Packing("", d, from, false)
	return packed == nil || !slices.ContainsFunc(packed, func(s string) bool { return strings.HasPrefix(s, "_Unsigned") }) &&
		(to.Kind() >= dtype.KindFloat || dtype.Promote(from, to) == to)
}

// Without returns attributes but those of the names.
func Without(attributes json.RawMessage, names ...string) json.RawMessage {
	return filter(attributes, names, false)
}

// Only returns the attributes of the names.
func Only(attributes json.RawMessage, names ...string) json.RawMessage {
	return filter(attributes, names, true)
}

// filter returns the attributes of the names, or all others; nil where there are none.
func filter(attributes json.RawMessage, names []string, of bool) json.RawMessage {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(attributes, &all) // what is no object has none
	n := len(all)
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return slices.Contains(names, name) != of })
	if len(all) == n {
		return attributes
	}
	if len(all) == 0 {
		return nil
	}
	b, _ := json.Marshal(all) // which was JSON before
	return b
}

// limits returns the attributes that say which numbers are valid, by name and value, and a condition
// of x that is true of these. Decode does not apply them, as xarray does not.
func limits(d store.Details, x string) (all, conditions []string) {
	attributes := map[string]json.RawMessage{}
	_ = json.Unmarshal(d.Attributes, &attributes)
	for _, name := range []string{"valid_min", "valid_max", "valid_range"} {
		raw, ok := attributes[name]
		ends := make([]json.RawMessage, 2)
		switch name {
		case "valid_min":
			ends[0] = raw
		case "valid_max":
			ends[1] = raw
		default:
			ok = ok && json.Unmarshal(raw, &ends) == nil && len(ends) == 2
		}
		if !ok {
			continue
		}
		all = append(all, fmt.Sprintf("%s %.60s", name, lines.Line(string(raw))))
		for i, end := range ends {
			if f, err := number(end); end != nil && err == nil {
				conditions = append(conditions, fmt.Sprintf("%s %s %v", x, []string{">=", "<="}[i], f))
			}
		}
	}
	return all, conditions
}

// orders are the comparisons by which an expression may leave out what is not valid.
var orders = []kernel.Op{kernel.Less, kernel.LessEqual, kernel.Greater, kernel.GreaterEqual}

// Notes says which stored arrays an expression takes as they are stored, though their attributes
// say that the numbers stand for others, and how to decode them. Arrays of which it decodes a part
// are left out. lost, where it is set, is where a copy of one goes, without its attributes.
func Notes(root *graph.Node, lost string) (notes []string) {
	type visit struct {
		n       *graph.Node
		decoded bool
	}
	seen := map[visit]bool{}
	decoded, compared := map[string]bool{}, map[string]bool{} // paths
	taken := map[string]*graph.Node{}                         // by their paths
	var walk func(v visit)
	walk = func(v visit) {
		if seen[v] {
			return
		}
		seen[v] = true
		if v.n.Details != nil {
			v.decoded = true
		}
		if v.n.Kind == graph.Source {
			if path := v.n.Stored.Info.Path; v.decoded {
				decoded[path] = true
			} else if taken[path] == nil || token.IsIdentifier(v.n.Name) {
				taken[path] = v.n
			}
		}
		for _, in := range v.n.In {
			walk(visit{in, v.decoded})
			if v.n.Kind == graph.Elementwise && slices.Contains(orders, v.n.Op) {
				for len(in.In) == 1 {
					in = in.In[0]
				}
				if in.Kind == graph.Source {
					compared[in.Stored.Info.Path] = true
				}
			}
		}
	}
	walk(visit{root, false})
	for _, path := range slices.Sorted(maps.Keys(taken)) {
		if decoded[path] {
			continue
		}
		n, x, info := taken[path], "x", &taken[path].Stored.Info
		if token.IsIdentifier(n.Name) {
			x = n.Name
		}
		packed := Packing(info.Format, info.Details, info.DType, lost != "")
		ranges, conditions := limits(info.Details, x)
		path, advice := lines.Line(path), x
		if storage.InProcess(path) {
			path = lines.Line(n.Name)
		}
		if len(packed) > 0 {
			advice = "decode_cf(" + x + ")"
			kind, used, fix := "packed numbers", "which are used as they are stored: ", advice+" decodes them"
			if strings.HasPrefix(packed[0], "units") {
				kind = "dates"
			}
			or := ", or "
			if _, err := decode(graph.Site{}, n, "s"); err != nil {
				fix, or = "decode_cf does not decode them: "+lines.Line(err.Error()), "; "
			}
			if lost != "" {
				used = "and " + lines.Line(lost) + " does not keep what says so: NAME.zarr does" + or
			}
			notes = append(notes, fmt.Sprintf("%s holds %s (%s), %s%s", path, kind, strings.Join(packed, ", "), used, fix))
		}
		if len(conditions) > 0 && !compared[info.Path] {
			notes = append(notes, fmt.Sprintf("%s has %s, which nothing applies: where(%s, %s, nan) leaves out what is not valid", path, strings.Join(ranges, ", "), strings.Join(conditions, " && "), advice))
		}
	}
	return notes
}
