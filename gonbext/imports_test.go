package gonbext_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Each cell is compiled and linked when it runs, so what package gonbext imports
// costs every cell time. Charts, the kernel and GoNB's own client stay out. A footprint's
// rows of GPUs are made where the plan is, in the cell, a cell itself asks the kernel's watchdog
// to watch it, and a collection's names are folded where its card is made: what does so is linked,
// and imports nothing that cells do without.
func TestCellsLinkLittle(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/gonbext/gonbext/gonbext").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if strings.HasSuffix(path, "/gonbext/internal/cards") || strings.HasSuffix(path, "/gonbext/internal/watchdog") || strings.HasSuffix(path, "/gonbext/internal/names") {
			continue // what they import is listed, too
		}
		for _, heavy := range []string{"gonbext/internal/", "go-echarts", "janpfeifer/gonb", "zmq4", "net/http", "html/template", "cobra"} {
			if strings.Contains(path, heavy) {
				t.Errorf("a cell links %s", path)
			}
		}
	}
}

// Templates find methods by name: where they can be reached, the linker keeps every exported method of every
// type, and the command is an eighth larger. Cobra and go-echarts import them and call none that is reached.
func TestNothingExecutesTemplates(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}} `, "github.com/gonbext/gonbext/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		for _, template := range []string{" html/template ", " text/template "} {
			if strings.Contains(line, template) {
				t.Errorf("%s imports%s", strings.Fields(line)[0], template)
			}
		}
	}
}
