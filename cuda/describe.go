package cuda

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/kernel"
	"github.com/gonbext/gonbext/oocore/units"
)

// Description is what there is to know of a device before a run. Bytes that are not known
// are -1, rates 0.
type Description struct {
	Device           string // its name for Open
	Name             string // the model
	Driver           string
	Total, Free      int64
	Context          int64   // taken by the driver for this process
	Others           int64   // taken by other processes
	Largest          int64   // the largest block to be had
	Upload, Download float64 // bytes a second
	Link             string  // how the rates are known
	Products         string  // what multiplies matrices
}

// Describe asks a GPU, or looks its model up. The CPU has no description.
func Describe(name string) (d Description, err error) {
	kind, rest, _ := strings.Cut(name, ":")
	if kind == "model" {
		c, err := CardOf(rest)
		if err != nil {
			return d, err
		}
		return c.describe(name), nil
	}
	list, err := Devices()
	for _, info := range list {
		if info.Device == name {
			return info.describe(), nil
		}
	}
	if err != nil {
		return d, err
	}
	return d, fmt.Errorf("there is no %s: %s", name, instead)
}

// describe is the model of a card, whose memory nobody else takes.
func (c Card) describe(device string) Description {
	d := Description{Device: device, Name: "a model of " + c.Name, Driver: "none: Go computes in the host's memory", Total: c.Usable(), Free: c.Usable(), Largest: c.Usable(),
		Upload: c.Rates().Upload, Download: c.Rates().Download, Link: c.Source, Products: "gonbext's own kernels"}
	if c.Name == device || "model:"+c.Name != device {
		d.Name = "a model of a GPU with " + units.Bytes(c.Usable())
	}
	if version, ok := kernel.OpenBLAS(); ok {
		d.Products = version
	}
	return d
}

func (i Info) describe() Description {
	return Description{Device: i.Device, Name: i.Name, Driver: "for CUDA " + i.Driver, Total: i.Total, Free: i.Free, Context: -1, Others: i.Total - i.Free, Largest: -1}
}

// small is a tensor that never fills a GPU, and that may find no room on one.
const small = 384 * 192 * 4

// String is the description in lines.
func (d Description) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-15s %s\n", name, fmt.Sprintf(format, args...))
	}
	size := func(n int64) string {
		if n < 0 {
			return "unknown"
		}
		return fmt.Sprintf("%s (%s)", units.Bytes(n), units.Exact(n))
	}
	line("name", "%s", d.Name)
	line("driver", "%s", d.Driver)
	line("memory", "%s", size(d.Total))
	line("free", "%s", size(d.Free))
	line("context", "%s", size(d.Context))
	line("others", "%s", size(d.Others))
	line("largest block", "%s", size(d.Largest))
	if d.Upload > 0 {
		line("link", "%s/s up, %s/s down, by %s", units.Traffic(int64(d.Upload)), units.Traffic(int64(d.Download)), d.Link)
	}
	if d.Products != "" {
		line("products", "%s", d.Products)
	}
	fmt.Fprintf(&b, "\n%s\n", d.why())
	return b.String()
}

// why says with the device's figures why a small tensor can fail on it.
func (d Description) why() string {
	room, what := d.Largest, "the largest block that is free"
	if room < 0 {
		room, what = d.Free, "what is free"
	}
	verdict := "so it fits"
	if room < small {
		verdict = "so it fails"
	}
	return fmt.Sprintf("A [384, 192] float32 tensor takes only 288 KiB (%s), and still fails where %s is smaller than that, however small it is beside the card: "+
		"of %s, the context, other processes and a library's pool of freed blocks may have taken all but crumbs; here it is %s, %s.",
		units.Exact(small), what, units.Bytes(d.Total), units.Bytes(room), verdict)
}
