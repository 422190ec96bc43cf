package cuda

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/device"
)

func TestCardsHaveFiguresAndSources(t *testing.T) {
	all := Cards()
	if !slices.IsSortedFunc(all, func(a, b Card) int { return int((a.Total - b.Total) >> 20) }) {
		t.Error("the cards are not in the order of their memory")
	}
	for _, c := range all {
		if c.Usable() <= 0 || c.Usable() >= c.Total || c.Link <= 0 || c.Bandwidth < 2*c.Link || c.Float32 <= 0 || c.Float64 <= 0 || c.Float64 > c.Float32 || c.Source == "" {
			t.Errorf("%+v", c)
		}
		if c.Float16 != 0 && c.Float16 < c.Float32 {
			t.Errorf("%s multiplies 16-bit elements at %g, and float32 at %g", c.Name, c.Float16, c.Float32)
		}
		spec := Model(c.Name).Spec()
		if spec.Name != "model:"+c.Name || spec.Memory != c.Usable() || spec.Rates != c.Rates() {
			t.Errorf("the model of %s is %+v", c.Name, spec)
		}
	}
}

// Plans for cards that one does not have count with the kernels that there are.
func TestCardsComputeWhatThereAreKernelsFor(t *testing.T) {
	want := device.PTX.Capabilities()
	for _, c := range Cards() {
		if got := c.Spec().Computes; !reflect.DeepEqual(got, want) {
			t.Errorf("%s computes %v, and there are kernels for %v", c.Name, got, want)
		}
	}
}

func TestCardIsFoundByNameInAnySpelling(t *testing.T) {
	for name, want := range map[string]string{"h200": "H200", "model:T4": "T4", "RTX 4090": "RTX4090", "rtx-3050": "RTX3050", "A100 80GB": "A100-80GB", "H100_SXM": "H100-SXM"} {
		if c, err := CardOf(name); err != nil || c.Name != want {
			t.Errorf("%q is %q, %v, want %q", name, c.Name, err, want)
		}
	}
}

func TestCardIsFoundByWhatDriverReports(t *testing.T) {
	for name, want := range map[string]struct {
		mebibytes int64
		card      string
	}{
		"Tesla T4": {15095, "T4"}, "NVIDIA A10": {22731, "A10"}, "NVIDIA A100-SXM4-80GB": {81038, "A100-80GB"}, "NVIDIA A100-PCIE-40GB": {40326, "A100-40GB"},
		"NVIDIA L40S": {45589, "L40S"}, "NVIDIA L4": {22563, "L4"}, "NVIDIA H100 PCIe": {81079, "H100-PCIe"}, "NVIDIA H100 80GB HBM3": {81079, "H100-SXM"},
		"NVIDIA H200": {143156, "H200"}, "NVIDIA GeForce RTX 4090": {24217, "RTX4090"}, "Tesla V100-SXM2-16GB": {16152, "V100"}, "Quadro of 24 GB": {24217, "Quadro of 24 GB"},
	} {
		if c := reported(name, want.mebibytes<<20); c.Name != want.card || c.Rates().Upload == 0 {
			t.Errorf("%q is %+v, want %s", name, c, want.card)
		}
	}
}

// A size is a card of just that memory, with the rates of one that has about as much.
func TestCardOfSizeHasRatesOfCardOfThatMemory(t *testing.T) {
	for size, like := range map[string]string{"64MiB": "RTX3050", "8GiB": "RTX3050", "12GiB": "RTX3060", "24GiB": "A10", "80GiB": "H100-PCIe", "1TiB": "H200"} {
		c, err := CardOf(size)
		if err != nil {
			t.Fatal(err)
		}
		want, err := CardOf(like)
		if err != nil {
			t.Fatal(err)
		}
		if c.Rates() != want.Rates() || Model(size).Spec().Memory != c.Usable() || !strings.Contains(c.Source, like) {
			t.Errorf("%s has %+v, want those of %s", size, c, like)
		}
	}
}

func TestCardOfUnknownNameSuggestsTheNearest(t *testing.T) {
	for name, want := range map[string][]string{
		"H20":   {"did you mean H200 or", "8GiB"},
		"A100":  {"A100-40GB or A100-80GB"},
		"H100":  {"H100-PCIe or H100-SXM"},
		"lots":  {`no card "lots"`, "H200"},
		"0":     {"not a size"},
		"":      {"size"},
		"12xyz": {"12xyz"},
	} {
		_, err := CardOf(name)
		if err == nil {
			t.Errorf("%q is a card", name)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: no %q in %v", name, part, err)
			}
		}
		if _, err := Open("model:" + name); err == nil {
			t.Errorf("model:%s opens", name)
		}
	}
}

func TestDescribeGivesFiguresOfModel(t *testing.T) {
	d, err := Describe("model:T4")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a model of T4", "NVIDIA T4 data sheet", "12.6 GB/s up", "14.5 GiB", "products"} {
		if !strings.Contains(d.String(), want) {
			t.Errorf("no %q in\n%s", want, d)
		}
	}
	if text := d.String(); strings.Contains(text, "[384, 192]") {
		t.Errorf("a small tensor fits, and is said to fail:\n%s", text)
	}
	if d, err = Describe("model:100KiB"); err != nil || !strings.Contains(d.String(), "smaller than a [384, 192] float32 tensor, which takes only 288 KiB (294,912 bytes)") {
		t.Errorf("%v\n%s", err, d)
	}
	if _, err := Describe("cuda:9"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("cuda:9: %v", err)
	}
	if d, err = Describe("model:8GiB"); err != nil || !strings.Contains(d.String(), "a model of a GPU with 8 GiB") {
		t.Errorf("%v\n%s", err, d)
	}
	var _ device.Device = Model("T4")
}
