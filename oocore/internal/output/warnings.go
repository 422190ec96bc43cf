package output

import (
	"fmt"
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
// written into. They name the attributes, too, that copies leave out because JSON has no form for them.
func (s *Settings) Warnings(outputs []compile.Output) (all []string, err error) {
	unread := slices.Clone(s.Unread)
	for i := range outputs {
		out := &outputs[i]
		path := out.Target.Path
		d, copied := inherited(out.Root)
		kept, lost := copied && keepsMeaning(path), ""
		if copied && !kept {
			lost = path
		}
		for _, name := range d.Unread {
			if kept {
				unread = append(unread, strings.TrimPrefix(out.Target.Member+"/"+name, "/"))
			}
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
	if n := len(unread); n > 0 {
		more := ""
		if n > 3 {
			more = fmt.Sprintf(" and %d more", n-3)
		}
		all = append(all, fmt.Sprintf("attributes that JSON has no form for, such as compounds and references, are left out: %.80q%s", unread[:min(n, 3)], more))
	}
	return all, nil
}
