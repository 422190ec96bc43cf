package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
)

// A plan for a device shows what it means on the cards of the table, in one row where they are
// alike; one for the CPU, and a run, show none.
func TestPlanForDeviceComparesCards(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(1000, 1000)", 1_000_000)
	plan := []string{"compute", "sort(sqrt(x))", "x=x.npy", "-o", "o.npy", "--plan"}
	out := succeed(t, dir, append(plan, "--device", "model:T4")...)
	for _, want := range []string{"\nmodel:T4 ", fmt.Sprintf("RTX3050 to H200: %d cards", len(cuda.Cards())-1), "over the link", "limit", "the cores", "has no kernel for it"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out := succeed(t, dir, plan...); strings.Contains(out, "H200") {
		t.Errorf("a card that nobody asked for:\n%s", out)
	}
}

// Figures of a run on a device have what crossed the link and the lanes' times.
func TestJSONHasLinkAndLanesOfDevice(t *testing.T) {
	dir := t.TempDir()
	floats(t, filepath.Join(dir, "x.npy"), "(1000, 1000)", 1_000_000)
	d := object(t, dir, 0, "compute", "sqrt(x)", "x=x.npy", "-o", "o.npy", "--device", "model:8MiB", "--json")["device"].(map[string]any)
	lanes, ok := d["lanes"].(map[string]any)
	if !ok || lanes["upload"].(float64) <= 0 || lanes["compute"].(float64) <= 0 || lanes["download"].(float64) <= 0 {
		t.Errorf("lanes %v", d["lanes"])
	}
	size := d["link_bytes"].(float64) // float64 elements come and go, or float32 ones
	if size != 8e6 && size != 16e6 {
		t.Errorf("%v bytes crossed the link", size)
	}
	if _, events := d["events"]; events || d["oom_events"] != 0.0 {
		t.Errorf("events of a run that had room: %v", d)
	}
}

func TestFootprintComparesCards(t *testing.T) {
	dir := t.TempDir()
	all := object(t, dir, 0, "footprint", "40000x40000", "float32", "--device", "H200", "--json")
	cards, _ := all["cards"].([]any)
	if len(cards) != len(cuda.Cards()) {
		t.Fatalf("%d cards, want %d", len(cards), len(cuda.Cards()))
	}
	first, second := cards[0].(map[string]any), cards[1].(map[string]any)
	if first["name"] != "H200" || first["fits"] != true || second["fits"] != true || first["seconds"].(float64) >= second["seconds"].(float64) {
		t.Errorf("%v, then %v", first, second)
	}
	o := finish(t, command(dir, "footprint", "3x4", "--device", "H20"))
	if o.status != 2 || !strings.Contains(o.stderr, "did you mean H200") {
		t.Errorf("status %d: %s", o.status, o.stderr)
	}
}
