package output

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/op/cf"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// keepsMeaning reports a path whose format keeps all that attributes say of the numbers of one array.
func keepsMeaning(path string) bool {
	return path != "" && storage.Keeps(path, store.Details{Fill: "0", Attributes: []byte("{}")}) == nil
}

// Warnings say of which stored arrays outputs take the numbers as they are stored, though they
// stand for others. An error is that of numbers that would stand for others in the array that they are
// written into. They name, too, what copies of attributes and arrays leave out or hold otherwise.
func (s *Settings) Warnings(outputs []compile.Output) (all []string, err error) {
	changed := map[string][]string{} // names, by what they become
	changes := func(path, member string, d store.Details) {
		note := func(what, name string) {
			changed[what] = append(changed[what], strings.Trim(member+"/"+name, "/"))
		}
		for _, name := range d.Unread {
			note("attributes that JSON has no form for, such as compounds and references, are left out", name)
		}
		for name, what := range storage.Changes(path, d) {
			note("attributes that "+filepath.Base(path)+" has otherwise: "+what, name)
		}
		for _, what := range d.Notes {
			note(what, "")
		}
	}
	for i := range outputs {
		out := &outputs[i]
		path := out.Target.Path
		d, copied := inherited(out.Root)
		kept, lost := copied && keepsMeaning(path), ""
		if copied && !kept {
			lost = path
		}
		if kept {
			to, member := path, out.Target.Member
			if c := out.Target.Collection; c != nil {
				to = c.Path
				if i == 0 {
					changes(to, "", c.Root)
					for group, d := range c.Groups {
						changes(to, group, d)
					}
				}
				if stored := out.Root.Stored; c.Groups != nil && stored != nil && stored.Info.Format == "hdf5" && len(d.Dims) < len(out.Root.Shape) {
					d.Notes = append(slices.Clip(d.Notes), "axes without names are named in copies")
				}
			}
			changes(to, member, d)
		}
		var warnings []string
		if out.Target.Region != nil && path != "" {
			info, err := storage.Describe(path)
			if err != nil {
				return nil, err
			}
			means := cf.Packing(info.Format, info.Details, info.DType, true)
			written := cf.Packing("", d, out.Root.DType, true)
			scaled := func(s string) bool { return strings.HasPrefix(s, "scale_factor") || strings.HasPrefix(s, "add_offset") }
			switch {
			case slices.Equal(means, written):
			case len(written) > 0 && len(means) > 0:
				return nil, fmt.Errorf("%s has %s, and what is written into it has %s: the numbers would mean something else there: decode both with decode_cf", path, strings.Join(means, ", "), strings.Join(written, ", "))
			case slices.ContainsFunc(means, scaled):
				warnings = append(warnings, fmt.Sprintf("%s holds packed numbers (%s), and what is written into it is stored as it is", path, strings.Join(means, ", ")))
			default:
				kept, lost = false, path
			}
		}
		if !kept {
			warnings = append(warnings, cf.Notes(out.Root, lost)...)
		}
		for _, w := range warnings {
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	const most = 6
	if n := len(all) - most; n > 0 {
		all = append(all[:most], fmt.Sprintf("%d more arrays hold such numbers", n))
	}
	for _, what := range slices.Sorted(maps.Keys(changed)) {
		names, more := changed[what], ""
		slices.Sort(names)
		if n := len(names); n > 3 {
			names, more = names[:3], fmt.Sprintf(" and %d more", n-3)
		}
		all = append(all, fmt.Sprintf("%s: %.80q%s", what, names, more))
	}
	if s.Lost != "" {
		all = append(all, s.Lost)
	}
	return all, nil
}
