package magic

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// gonbCommands are GoNB's own special commands, and what they do.
var gonbCommands = [][2]string{
	{"%% [ARGS]", "makes the lines below a func main, with arguments; %main alike"},
	{"%main [ARGS]", "as %%"},
	{"%args ARGS", "sets the arguments of the program"},
	{"%exec FUNC [ARGS]", "runs a function"},
	{"%test [FLAGS]", "runs the cell's tests and benchmarks"},
	{"%wasm", "runs the cell in the browser"},
	{"%autoget", "fetches modules that the cells that follow import, as !*go get MODULE does for one"},
	{"%noautoget", "fetches none"},
	{"%capture [-a] FILE", "writes the cell's output to a file too"},
	{"%cd [DIR]", "changes or shows the folder"},
	{"%env [NAME VALUE]", "sets a variable of the environment"},
	{"%goflags [FLAGS]", "sets or shows flags of go build"},
	{"%goworkfix", "enters go.work's modules into go.mod"},
	{"%list", "lists the declarations that are kept; %ls alike"},
	{"%ls", "as %list"},
	{"%remove NAMES", "forgets declarations and values; %rm alike"},
	{"%rm NAMES", "as %remove"},
	{"%reset [go.mod]", "forgets all declarations and values"},
	{"%track [PATH]", "watches files for completion, or lists those watched"},
	{"%untrack [PATH]", "watches them no more"},
	{"%version", "shows GoNB's version"},
	{"%widgets", "prepares widgets"},
	{"%widgets_hb", "asks whether widgets answer"},
	{"%with_inputs", "lets the next shell command ask for input"},
	{"%with_password", "lets it ask for a password"},
	{"%%writefile [-a] FILE", "writes the cell to a file"},
	{"%%script CMD", "gives the cell to a program"},
	{"%%bash", "gives it to bash"},
	{"%%sh", "gives it to sh"},
	{"%%gx", "gives it to the GX compiler"},
	{"!COMMAND", "runs a shell command; !* runs it in the folder of the cell's program"},
}

// helpNotes follow the list of magics.
var helpNotes = []string{
	"`%%memory --help` or `%%memory?` shows one of them, `oocore.Open?` or `x.Sum?` a function; so does Shift-Tab.",
	"A cell of statements needs no magic, and may declare functions, types and variables beside them. What it declares is there in later cells.",
	"`%%memory`, `%%footprint` and `%%time` stand at the cell's top, or below its imports and functions; statements follow.",
	"A cell that fails for a habit of Python's says the Go line that does the same: `b + 1` is `b.Add(1)`, `x = 3` is `x := 3`.",
	"Sizes are written like `512MiB`, chunk shapes like `1024x512`. Flags come as `--flag value` or `--flag=value`.",
}

// help is what %help shows, as plain text.
func help() string {
	var b strings.Builder
	b.WriteString("Magics of gonbext:\n")
	for i := range table {
		fmt.Fprintf(&b, "\n%s\n    %s\n", table[i].usage(), table[i].does)
	}
	b.WriteString("\nFlags:\n\n")
	for _, f := range allFlags() {
		fmt.Fprintf(&b, "    %-36s %s\n", f.usage(), f.does)
	}
	fmt.Fprintf(&b, "\n%s\n\nExample:\n    %s\n\nGoNB's own:\n\n", strings.ReplaceAll(strings.Join(helpNotes, "\n"), "`", ""), strings.ReplaceAll(table[0].example, "\n", "\n    "))
	for _, c := range gonbCommands {
		fmt.Fprintf(&b, "%-22s %s\n", c[0], c[1])
	}
	return b.String()
}

// allFlags are those of all magics, each once.
func allFlags() (all []flag) {
	for i := range table {
		for _, f := range table[i].flags {
			if !slices.ContainsFunc(all, func(g flag) bool { return g.name == f.name && g.does == f.does }) {
				all = append(all, f)
			}
		}
	}
	return all
}

// helpPage is the same for notebooks, in Markdown.
func helpPage() string {
	var b strings.Builder
	b.WriteString("| Magic | |\n|:--|:--|\n")
	for i := range table {
		m := &table[i]
		fmt.Fprintf(&b, "| <code>%s</code> | %s", inTable(strings.TrimSpace(m.name+" "+m.operands)), inTable(m.does))
		for i, name := range flagNames(m.flags) {
			fmt.Fprintf(&b, "%s<code>%s</code>", map[bool]string{true: "<br>", false: " "}[i == 0], name)
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n| Flag | |\n|:--|:--|\n")
	for _, f := range allFlags() {
		fmt.Fprintf(&b, "| <code>%s</code> | %s |\n", inTable(f.usage()), inTable(f.does))
	}
	fmt.Fprintf(&b, "\n- %s\n\n```go\n%s\n```\n", strings.Join(helpNotes, "\n- "), table[0].example)
	b.WriteString("\n<details><summary>GoNB's own</summary>\n\n| | |\n|:--|:--|\n")
	for _, c := range gonbCommands {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c[0], c[1])
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// inTable escapes what would begin the next column: as HTML, which all renderers of Markdown
// take alike in a code element, but not between backticks.
func inTable(s string) string { return strings.ReplaceAll(html.EscapeString(s), "|", "&#124;") }
