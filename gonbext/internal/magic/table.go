package magic

import (
	"fmt"
	"strings"
)

// magic is one command: what starts with its name is its line.
type magic struct {
	name     string
	operands string // as the help writes them, before the flags
	does     string
	flags    []flag
	function string // of package gonbext, deferred first in the main that it starts
}

var table = []magic{
	{"%%memory", "", "runs the cell within a budget, then shows what it allocated, chunk by chunk", runFlags, "Memory"},
	{"%%footprint", "", "shows what the cell would allocate and what would fit; nothing runs", runFlags, "Footprint"},
	{"%footprint", "SHAPE [DTYPE...]", "shows the bytes of an array by dtype beside this machine's limits", footprintFlags, ""},
	{"%chunks", "PATH", "draws the chunks of a stored array, with the bytes that each takes", nil, ""},
	{"%runs", "[N]", "lists the latest runs", nil, ""},
	{"%compare", "A B", "puts two runs side by side: names that %runs gives, or last, last-1, …", nil, ""},
	{"%budget", "[SIZE]", "sets the budget of the cells that follow, or shows it", nil, ""},
	{"%device", "[NAME]", "sets the device of the cells that follow, or shows it", nil, ""},
	{"%gonbext", "", "shows this help", nil, ""},
}

// find returns nil for a command that is not ours.
func find(name string) *magic {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// usage is the magic as one writes it.
func (m *magic) usage() string {
	parts := []string{m.name}
	if m.operands != "" {
		parts = append(parts, m.operands)
	}
	for _, f := range m.flags {
		parts = append(parts, "["+f.usage()+"]")
	}
	return strings.Join(parts, " ")
}

// help is what %gonbext shows, as plain text.
func help() string {
	var b strings.Builder
	b.WriteString("Magics of gonbext:\n")
	for i := range table {
		fmt.Fprintf(&b, "\n%s\n    %s\n", table[i].usage(), table[i].does)
	}
	b.WriteString(`
%%memory and %%footprint stand at the cell's top, or below its imports and functions; statements follow.
Sizes are written like 512MiB, chunk shapes like 1024x512. Flags come as --flag value or --flag=value.

Example:
    %%memory --budget 256MiB
    x := oocore.Open("acts.npy")
    gonbext.Save(x.Sub(x.Mean(0)), "centred.npy")
`)
	return b.String()
}
