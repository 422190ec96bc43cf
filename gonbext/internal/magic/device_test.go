package magic

import (
	"strings"
	"testing"
)

func TestDeviceDescribesModel(t *testing.T) {
	s := newSession()
	for code, parts := range map[string][]string{
		"%device model:T4":    {"Device of the cells that follow: model:T4.", "a model of T4", "T4 data sheet", "largest block"},
		"%device model:64KiB": {"64 KiB", "smaller than a [384, 192] float32 tensor"},
		"%device cpu":         {"cpu, ", "cores", "products by"},
		"%footprint 40000x40000 float32 --device H200":      {"5.96 GiB", "H200", "NVIDIA H200 data sheet", "RTX3050"},
		"%footprint [384, 192] float32 --device model:8GiB": {"294,912", "fits a device of 8 GiB", "over the link once"},
	} {
		cell, err := s.Rewrite(code)
		if err != nil || len(cell.Displays) != 1 {
			t.Fatalf("%s: %+v, %v", code, cell, err)
		}
		text, _ := cell.Displays[0].Data["text/plain"].(string)
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", code, part, text)
			}
		}
	}
	if cell, err := s.Rewrite("%footprint 40000x40000 float32 --device cpu"); err != nil || strings.Contains(cell.Displays[0].Data["text/plain"].(string), "H200") {
		t.Errorf("a card beside the CPU: %v, %v", cell, err)
	}
	if cell, err := newSession().Rewrite("%footprint 40000x40000 float32"); err != nil || strings.Contains(cell.Displays[0].Data["text/plain"].(string), "H200") {
		t.Errorf("a card that nobody asked for: %v, %v", cell, err)
	}
}

func TestUnknownCardNamesTheNearest(t *testing.T) {
	for code, want := range map[string]string{
		"%device model:H20":                 "did you mean H200",
		"%%memory --device model:lots\nf()": `no card "lots"`,
		"%footprint 3x4 --device T5":        "did you mean T4",
		"%footprint 3x4 --device cuda:99":   "there is no cuda:99",
		"%device model:512":                 "did you mean 512MiB?",
		"%device model:0":                   "size",
	} {
		if _, err := newSession().Rewrite(code); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: no %q in %v", code, want, err)
		}
	}
}
