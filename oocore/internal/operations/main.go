// Command operations writes the page of all operations, oocore/OPERATIONS.md, and that of
// the array API standard's, oocore/ARRAY_API.md.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/expr"
)

//go:generate go run . ../../OPERATIONS.md ../../ARRAY_API.md

func main() {
	text, err := page()
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(text), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
	text, err = arrayAPI()
	if err == nil {
		err = os.WriteFile(os.Args[2], []byte(text), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func page() (string, error) {
	g, err := newGPUs()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(`# Operations

What ` + "`gonbext compute`" + ` and ` + "`oocore.Eval`" + ` know, by NumPy's names, and the methods and functions of Go.
This page is generated: run ` + "`go generate ./...`" + ` after a change.

Passes are over the data. An operation with none of its own is computed as part of whatever reads its result; what is
held at once comes beside one chunk of the inputs and of the result, and is part of what a plan predicts. The last column
says what a GPU computes, by the list of operations and types of the modelled one: of "in part" the CPU does the rest, and
complex numbers are the CPU's. What only moves elements is done as they are read, on their way to the GPU.

Random numbers depend on their seed and position alone. The same seed gives the same bits with every budget, number of workers
and device, as long as the version of the engine is the same (of distributions with parameters, on processors of one architecture).

| operation | NumPy | Go | passes | holds at once | GPU |
|---|---|---|---|---|---|
`)
	also := map[string][]string{}
	for _, f := range expr.Functions() {
		if f.Alias != "" {
			also[f.Alias] = append(also[f.Alias], "`"+f.Name+"`")
		}
	}
	for _, f := range expr.Functions() {
		if f.Alias != "" {
			continue
		}
		name := "`" + strings.ReplaceAll(f.Usage, "|", "\\|") + "`"
		if names := also[f.Name]; names != nil {
			name += ", also " + strings.Join(names, ", ")
		}
		gpu, err := g.computes(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, f.NumPy, f.GoName(), f.Passes, f.Holds, gpu)
	}
	return b.String(), nil
}
