package magic

import (
	"fmt"
	"slices"
	"strings"
)

// magic is one command: what starts with its name is its line.
type magic struct {
	name     string
	operands string // as the help writes them, before the flags
	does     string
	flags    []flag
	function string // of package gonbext, deferred first in the main that it starts
	example  string
}

const exampleCell = `
x := oocore.Open("acts.npy")
gonbext.Save(x.Sub(x.Mean(0)), "centred.npy")`

var table = []magic{
	{"%%memory", "", "runs the cell within a budget, then shows what it allocated, chunk by chunk", runFlags, "Memory",
		"%%memory --budget 512MiB" + exampleCell},
	{"%%footprint", "", "shows what the cell would allocate and what would fit; nothing runs", runFlags, "Footprint",
		"%%footprint --budget 512MiB" + exampleCell},
	{"%%time", "", "runs the cell and says the time that it took, and that of all cores", []flag{budgetFlag, deviceFlag, chunksFlag, freshFlag}, "Time",
		"%%time" + exampleCell},
	{"%footprint", "SHAPE [DTYPE...]", "shows the bytes of an array by dtype beside this machine's limits", footprintFlags, "",
		"%footprint 3075200x512 float32 --chunks 1024x512"},
	{"%chunks", "PATH", "draws the chunks of a stored array, with the bytes that each takes, or lists the arrays of a collection", nil, "", "%chunks acts.zarr"},
	{"%runs", "[all] [N]", "lists the latest runs of this notebook, or of all", nil, "", "%runs 50"},
	{"%report", "[RUN]", "draws a run again, the latest or one that %runs names; plan is the last plan", []flag{chartFlag, htmlFlag}, "", "%report 2 --html report.html"},
	{"%compare", "A B", "puts two runs side by side: numbers or names that %runs gives, or last, last-1, …", []flag{chartFlag}, "", "%compare last-1 last"},
	{"%budget", "[SIZE|none]", "sets the budget of the cells that follow, or shows it", nil, "", "%budget 512MiB"},
	{"%device", "[NAME|none]", "sets the device of the cells that follow, or shows it", nil, "", "%device model:8GiB"},
	{"%disk", "[clean WHAT]", "shows what gonbext keeps on this disk, and removes it", nil, "", "%disk clean unfinished"},
	{"%who", "", "lists the variables that earlier cells have left", nil, "", "%who"},
	{"%whos", "", "lists them with their types, shapes and bytes", nil, "", "%whos"},
	{"%help", "[OPERATION]", "shows this help, as %gonbext and %lsmagic do, or what an operation does, takes and costs", nil, "", "%help topk"},
	{"%gonbext", "", "shows this help", nil, "", "%gonbext"},
	{"%lsmagic", "", "shows this help", nil, "", "%lsmagic"},
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

// unknown is the error about a name that is neither ours nor GoNB's, nil where
// it is a command.
func unknown(name string) error {
	word := strings.TrimLeft(name, "%")
	all := make([]string, 0, len(gonbCommands)+len(table))
	for _, c := range gonbCommands {
		all = append(all, strings.Fields(c[0])[0])
	}
	for i := range table {
		all = append(all, table[i].name)
	}
	if name == word || word == "" || !isLetter(word) || slices.Contains(all, name) {
		return nil
	}
	if f := readForms().magics[name]; f != nil {
		return fmt.Errorf("there is no magic %s: %s: %s", name, f.says, f.to)
	}
	return fmt.Errorf("there is no magic %s, did you mean %s? %%help lists all", name, nearest(name, all))
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

// help is what the magic's own --help shows.
func (m *magic) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n    %s\n", m.usage(), m.does)
	for _, f := range m.flags {
		fmt.Fprintf(&b, "\n    %-36s %s", f.usage(), f.does)
	}
	if len(m.flags) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\nExample:\n    %s\n", strings.ReplaceAll(m.example, "\n", "\n    "))
	return b.String()
}

// markdown is the same for Shift-Tab and Contextual Help.
func (m *magic) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** %s.\n\n`%s`\n", m.name, m.does, m.usage())
	for _, f := range m.flags {
		fmt.Fprintf(&b, "\n- `%s` %s", f.usage(), f.does)
	}
	fmt.Fprintf(&b, "\n\n```go\n%s\n```\n", m.example)
	return b.String()
}
