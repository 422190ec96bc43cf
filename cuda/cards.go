package cuda

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/units"
)

// Card is a GPU as its maker describes it, for plans on cards that this machine does not have. A
// rate of 0 is one that no data sheet gives.
type Card struct {
	Name      string  `json:"name"`
	Total     int64   `json:"total"`     // bytes of memory, as the driver reports it
	Link      float64 `json:"link"`      // bytes a second each way, of PCIe's nominal rate
	Bandwidth float64 `json:"bandwidth"` // bytes a second of its memory
	Float32   float64 `json:"float32"`   // operations a second
	Float64   float64 `json:"float64"`
	Float16   float64 `json:"float16"` // of products with float32 sums, without sparsity
	Source    string  `json:"source"`
	Free      int64   `json:"free,omitempty"` // bytes, of a GPU of this machine
}

// The nominal rates of PCIe in each direction.
const (
	pcie3x16 = 15.75e9
	pcie4x8  = 15.75e9
	pcie4x16 = 31.5e9
	pcie5x16 = 63e9
)

// The data sheets of these chips have no rate of float64. The white papers of their
// architectures give it as a share of the float32 rate.
const (
	turing = 1. / 32 // NVIDIA Turing GPU Architecture
	ampere = 1. / 64 // NVIDIA Ampere GA102 GPU Architecture
	ada    = 1. / 64 // NVIDIA Ada GPU Architecture
)

// contextBytes is subtracted from what a run may take of a card, for the driver's context and
// what a BLAS keeps. A card of this machine reports its own.
const contextBytes = 512 << 20

var cards = []Card{
	{"T4", 15360 << 20, pcie3x16, 320e9, 8.1e12, 8.1e12 * turing, 65e12, "NVIDIA T4 data sheet", 0},
	{"L4", 23034 << 20, pcie4x16, 300e9, 30.3e12, 30.3e12 * ada, 121e12, "NVIDIA L4 data sheet", 0},
	{"A10", 23028 << 20, pcie4x16, 600e9, 31.2e12, 31.2e12 * ampere, 125e12, "NVIDIA A10 data sheet", 0},
	{"RTX3050", 8192 << 20, pcie4x8, 224e9, 9.1e12, 9.1e12 * ampere, 0, "GeForce RTX 3050 (8 GB) specifications, nvidia.com", 0},
	{"RTX3060", 12288 << 20, pcie4x16, 360e9, 12.7e12, 12.7e12 * ampere, 0, "GeForce RTX 3060 (12 GB) specifications, nvidia.com", 0},
	{"RTX4090", 24564 << 20, pcie4x16, 1008e9, 82.6e12, 82.6e12 * ada, 165.2e12, "NVIDIA Ada GPU Architecture, GeForce RTX 4090", 0},
	{"V100", 16160 << 20, pcie3x16, 900e9, 15.7e12, 7.8e12, 125e12, "NVIDIA V100 data sheet, SXM2 16 GB", 0},
	{"A100-40GB", 40960 << 20, pcie4x16, 1555e9, 19.5e12, 9.7e12, 312e12, "NVIDIA A100 data sheet, 40 GB", 0},
	{"A100-80GB", 81920 << 20, pcie4x16, 1935e9, 19.5e12, 9.7e12, 312e12, "NVIDIA A100 data sheet, 80 GB PCIe", 0},
	{"L40S", 46068 << 20, pcie4x16, 864e9, 91.6e12, 91.6e12 * ada, 362e12, "NVIDIA L40S data sheet", 0},
	{"H100-PCIe", 81559 << 20, pcie5x16, 2e12, 51e12, 26e12, 756e12, "NVIDIA H100 data sheet, PCIe", 0},
	{"H100-SXM", 81559 << 20, pcie5x16, 3.35e12, 67e12, 34e12, 989e12, "NVIDIA H100 data sheet, SXM", 0},
	{"H200", 143771 << 20, pcie5x16, 4.8e12, 67e12, 34e12, 989e12, "NVIDIA H200 data sheet, SXM", 0},
}

// Cards returns the GPUs of the table, by memory.
func Cards() []Card {
	all := slices.Clone(cards)
	slices.SortStableFunc(all, func(a, b Card) int {
		return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(a.Bandwidth, b.Bandwidth))
	})
	return all
}

// CardOf finds a card of the table by its name, such as H200, or makes one of a size of
// memory, such as 8GiB, with the rates of the smallest card of the table that has as much.
// Both may follow "model:". A GPU of this machine, such as cuda:0, has the rates of the card
// that its driver names.
func CardOf(name string) (Card, error) {
	if strings.HasPrefix(name, "cuda:") {
		return installed(name)
	}
	name = strings.TrimPrefix(name, "model:")
	if n, err := units.ParseSize(name); err == nil {
		return sized(name, n), nil
	} else if name == "" || name[0] >= '0' && name[0] <= '9' {
		return Card{}, err
	}
	var names []string
	for _, c := range cards {
		if plainName(c.Name) == plainName(name) {
			return c, nil
		}
		names = append(names, c.Name)
	}
	near := slices.Clone(names)
	slices.SortStableFunc(near, func(a, b string) int { return distance(name, a) - distance(name, b) })
	return Card{}, fmt.Errorf("there is no card %q in the table, did you mean %s or %s? It has %s; a size such as 8GiB is a card of that memory",
		name, near[0], near[1], strings.Join(names, ", "))
}

// installed is a GPU of this machine.
func installed(name string) (Card, error) {
	list, err := Devices()
	for _, info := range list {
		if info.Device == name {
			c := reported(info.Name, info.Total)
			return Card{name, info.Total, c.Link, c.Bandwidth, c.Float32, c.Float64, c.Float16, "memory of its driver, rates of " + c.Name + ", " + c.Source, info.Free}, nil
		}
	}
	if err != nil {
		return Card{}, err
	}
	return Card{}, fmt.Errorf("there is no %s: %s", name, instead)
}

// distance returns how far a name is from a card's. A name that begins the card's is near.
func distance(name, card string) int {
	a, b := plainName(name), plainName(card)
	if strings.HasPrefix(b, a) {
		return 0
	}
	return device.Distance(a, b)
}

// plainName returns a card's name without the parts that people write in different ways.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// sized returns a card of any memory.
func sized(name string, memory int64) Card {
	all := Cards()
	i := slices.IndexFunc(all, func(c Card) bool { return c.Total/10*11 >= memory }) // a card of 24 GB has 22.5 GiB
	if i < 0 {
		i = len(all) - 1
	}
	c := all[i]
	c.Name, c.Total, c.Source = name, memory+contextBytes, "rates of "+c.Name+", "+c.Source
	return c
}

// reported returns the card that a driver names, such as "NVIDIA A100-SXM4-80GB". For a card that
// the table does not have, it is one of about as much memory.
func reported(name string, total int64) Card {
	var best Card
	most := 0
	for _, c := range Cards() {
		family, _, _ := strings.Cut(c.Name, "-")
		score := 0
		for _, part := range []string{c.Name, family} {
			if strings.Contains(plainName(name), plainName(part)) {
				score = max(score, len(part))
			}
		}
		nearer := max(c.Total-total, total-c.Total) <= max(best.Total-total, total-best.Total)
		if score > most || score == most && score > 0 && nearer {
			best, most = c, score
		}
	}
	if most == 0 {
		return sized(name, total)
	}
	return best
}

// Usable returns the memory that a run may take of the card: what is free, or for a card that this
// machine does not have, what is free on an idle one.
func (c Card) Usable() int64 {
	if c.Free > 0 {
		return c.Free
	}
	return c.Total - contextBytes
}

// Rates returns the rates that plans use. That of the link is four fifths of the nominal rate,
// which copies from page-locked memory reach.
func (c Card) Rates() device.Rates {
	return device.Rates{Upload: c.Link * 4 / 5, Download: c.Link * 4 / 5, Memory: c.Bandwidth, Arithmetic: c.Float32, Float64: c.Float64, Float16: c.Float16}
}

// Spec returns the card as plans see it: with memory of its own, and with the operations and
// types of the model.
func (c Card) Spec() device.Spec {
	return inPTX(device.Spec{Name: c.Name, Memory: c.Usable(), Computes: modelled(), Rates: c.Rates()})
}

// inPTX returns the device with kernels in PTX.
func inPTX(d device.Spec) device.Spec {
	d.Scratch, d.Partials, d.Parameters, d.Arithmetic = flagsBytes, mostPartials, device.MostParameters, "kernels in PTX"
	return d
}
