package magic

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/gonbext/internal/footprint"
	"github.com/gonbext/gonbext/gonbext/internal/relay"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/units"
)

// footprint reads SHAPE [DTYPE...]. The shape may have spaces: [384, 192].
func (r *rewriting) footprint(given []setting, operands []string) error {
	dims := 0
	for dims < len(operands) && (!isLetter(operands[dims]) || operands[dims] == "x") {
		dims++
	}
	if dims == 0 {
		return fmt.Errorf("it needs a shape, as in %%footprint 3075200x512 float32")
	}
	shape, err := host.ParseShape(strings.Join(operands[:dims], " "))
	if err != nil {
		return err
	}
	var o footprint.Options
	device := r.inherited.device
	for _, name := range operands[dims:] {
		t, err := dtype.Parse(name)
		if err != nil {
			return fmt.Errorf("there is no dtype %q, did you mean %s?", name, nearest(name, typeNames()))
		}
		o.DTypes = append(o.DTypes, t)
	}
	for _, s := range given {
		switch s.name { // the values have been checked
		case chunksFlag.name:
			o.Chunks, _ = host.ParseShape(s.value)
		case deviceFlag.name:
			device = s.value
		}
	}
	if r.inherited.budget != "" { // checked when it was set
		o.Budget, _ = units.ParseSize(r.inherited.budget)
	}
	if o.Device, err = footprint.DeviceOf(device); err != nil {
		return err
	}
	report, err := footprint.New(shape, o, machine.Read())
	if err != nil {
		return err
	}
	out, err := report.Output()
	r.Displays = append(r.Displays, relay.BundleOf(out))
	return err
}

func isLetter(word string) bool { return word != "" && (word[0]|0x20) >= 'a' && (word[0]|0x20) <= 'z' }

func typeNames() []string {
	var names []string
	for _, t := range dtype.Stored() {
		names = append(names, t.String())
	}
	return names
}
