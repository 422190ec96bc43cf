package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blockwise"
	"github.com/gonbext/gonbext/oocore/internal/format/zarr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// Details are the dimension names, attributes and fill value of an output: those that follow
// from its inputs, unless options give others.
func (s *Settings) Details(root *graph.Node, path string) (store.Details, error) {
	given := store.Details{}
	if s.Dims != nil {
		if len(s.Dims) != len(root.Shape) {
			return given, fmt.Errorf("%d dimension names %q for %d dimensions", len(s.Dims), s.Dims, len(root.Shape))
		}
		given.Dims, given.ChosenDims = s.Dims, true
	}
	if s.Fill != nil {
		given.Fill, _ = FillText(s.Fill) // which the option has checked
		given.Marks = true
	}
	if s.Attributes != nil {
		given.Attributes, _ = json.Marshal(s.Attributes)
	}
	if given.Dims != nil || given.Fill != "" || given.Attributes != nil {
		switch {
		case path == "": // memory has none
			return store.Details{}, nil
		case s.Region != "" || s.Grow != nil:
			return given, errors.New("a part of an array is written: dimension names, attributes and fill value are those of the stored array")
		}
		if err := storage.Keeps(path, given); err != nil {
			return given, err
		}
	}
	d, _ := inherited(root)
	d.Unread, d.Notes = nil, nil // which no format writes
	if !keepsMeaning(path) {     // texts of a whole file say nothing of one of its arrays
		d.Attributes = cf.Without(d.Attributes, cf.Packed...)
	}
	if given.Dims != nil {
		d.Dims, d.ChosenDims = given.Dims, true
	}
	if given.Fill != "" {
		d.Fill, d.Marks = given.Fill, true
		if err := zarr.CheckFill(given.Fill, root.DType); err != nil {
			return given, fmt.Errorf("fill value: %w", err)
		}
	}
	return d, s.addAttributes(&d)
}

// addAttributes gives the attributes of the options, in place of inherited ones of
// their names.
func (s *Settings) addAttributes(d *store.Details) error {
	inherited := map[string]json.RawMessage{}
	if d.Attributes != nil {
		if err := json.Unmarshal(d.Attributes, &inherited); err != nil {
			return fmt.Errorf("attributes: %w", err)
		}
	}
	before := len(inherited)
	const marker = "_FillValue" // CF's name of it, which a new fill value replaces
	if d.Marks {
		delete(inherited, marker)
	}
	for name, v := range s.Attributes {
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("attribute %q: %w", name, err)
		}
		inherited[name] = b
	}
	if len(s.Attributes) == 0 && len(inherited) == before {
		return nil // byte for byte as they were
	}
	d.Attributes = nil
	if len(inherited) == 0 {
		return nil
	}
	var err error
	d.Attributes, err = json.Marshal(inherited)
	return err
}

// inherited are the details that follow from the inputs, by what the elements of the result are; the
// names of dimensions as far as they agree. copied reports elements that stand for what they stood for.
//
//	copies, slices, transposes, takes, masks, min, max    attributes and fill value
//	concatenate, stack                                    those that all inputs share, if their packing is one
//	astype to a type that holds the numbers               attributes, fill value and markers in the new type
//	mean of numbers that are not packed                   units and calendar
//	decode_cf                                             attributes but those that it has applied
//	all else                                              none
func inherited(root *graph.Node) (d store.Details, copied bool) {
	d, copied = describedBy(root)
	d.Dims = root.DimNames()
	return d, copied
}

func describedBy(n *graph.Node) (d store.Details, copied bool) {
	switch {
	case n.Details != nil:
		return *n.Details, true
	case n.Kind == graph.Source:
		return n.Stored.Info.Details, true
	case len(n.In) == 0:
		return d, false
	}
	d, copied = describedBy(n.In[0])
	from := n.In[0].DType
	switch {
	case n.Kind == graph.View, n.Kind == graph.Blockwise && blockwise.Has(n.Blocks.Op, blockwise.Selects):
		return d, copied
	case n.Kind == graph.Cast && n.DType != dtype.Bool:
		if !cf.Survives(d, from, n.DType) {
			return store.Details{Attributes: cf.Without(d.Attributes, cf.Packed...)}, false
		}
		return zarr.CastDetails(d, from, n.DType), copied
	case n.Kind == graph.Blockwise && blockwise.Has(n.Blocks.Op, blockwise.Joins):
		for _, in := range n.In[1:] {
			other, ok := describedBy(in)
			if copied = copied && ok; !slices.Equal(cf.Packing("", d, from, true), cf.Packing("", other, from, true)) {
				return store.Details{}, false
			}
			d = storage.Common(d, other)
		}
		return d, copied
	case n.Kind == graph.Reduce && (n.Fold.Kind == kernel.Min || n.Fold.Kind == kernel.Max): // of missing values, too
		return d, false
	case n.Kind == graph.Reduce && n.Fold.Kind == kernel.Mean && cf.Packing("", d, from, false) == nil:
		return store.Details{Attributes: cf.Only(d.Attributes, "units", "calendar")}, false
	}
	return store.Details{}, false
}

// FillText returns a fill value in the form of store.Details.
func FillText(v any) (string, error) {
	if text, ok := v.(string); ok && text != "" {
		switch strings.ToLower(text) {
		case "nan":
			return "NaN", nil
		case "inf", "+inf", "infinity":
			return "Infinity", nil
		case "-inf", "-infinity":
			return "-Infinity", nil
		}
		return text, nil
	}
	x, _, err := dtype.Scalar(v)
	if err != nil {
		return "", fmt.Errorf("fill value: %v is neither a number nor a bool nor the text of one", v)
	}
	one := func(f float64) string {
		switch text := strconv.FormatFloat(f, 'g', -1, 64); text {
		case "+Inf":
			return "Infinity"
		case "-Inf":
			return "-Infinity"
		default:
			return text
		}
	}
	switch x.Type.Kind() {
	case dtype.KindFloat:
		return one(x.Float()), nil
	case dtype.KindComplex:
		c := x.Complex()
		return "[" + one(real(c)) + ", " + one(imag(c)) + "]", nil
	}
	return x.String(), nil
}
