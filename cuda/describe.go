package cuda

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/units"
)

// Description is what is known of a device before a run. Unknown numbers of bytes are -1, and
// unknown rates 0.
type Description struct {
	Device           string // its name for Open
	Name             string // the model
	Driver           string
	Total, Free      int64
	Context          int64   // taken by the driver for this process
	Others           int64   // taken by other processes, and by an unknown context
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
	for i, info := range list {
		if info.Device != name {
			continue
		}
		// A value of its own, whose context does not outlive the question.
		g := &GPU{name: name, ordinal: i, ptx: true, find: nvidia}
		if err := g.Err(); err != nil {
			return d, err
		}
		d, err := g.describe()
		d.Name, d.Driver = info.Name, "for CUDA "+info.Driver
		return d, errors.Join(err, g.close())
	}
	if err != nil {
		return d, err
	}
	return d, fmt.Errorf("there is no %s: %s", name, instead)
}

// describe measures a device.
func (g *GPU) describe() (Description, error) {
	m, err := g.Memory()
	if err != nil {
		return Description{}, err
	}
	d := Description{Device: g.name, Total: m.Total, Free: m.Free, Context: -1, Others: m.Others, Largest: m.Largest, Products: g.products()}
	return d, d.measureLink(g, int(min(m.Largest/2, 32<<20)))
}

// measureLink times a copy of so many bytes each way, from locked memory where it can be
// had. Without room for them it measures nothing.
func (d *Description) measureLink(g *GPU, bytes int) (err error) {
	if bytes < 1<<20 {
		return nil
	}
	host, what := []byte(nil), "locked"
	if pinned, failed := g.Pinned(bytes); failed == nil {
		defer func() { err = errors.Join(err, pinned.Free()) }()
		host = pinned.Data
	} else {
		host, what = make([]byte, bytes), "pageable"
	}
	b, err := g.Alloc(int64(bytes))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Free()) }()
	s, err := g.Stream()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, way := range []struct {
		rate *float64
		copy func() (*Copy, error)
	}{
		{&d.Upload, func() (*Copy, error) { return s.Upload(b, host) }},
		{&d.Download, func() (*Copy, error) { return s.Download(host, b) }},
	} {
		for range 2 { // the first wakes the card
			c, err := way.copy()
			if err != nil {
				return err
			}
			took, err := c.Wait()
			if err != nil {
				return err
			}
			*way.rate = float64(bytes) / max(took.Seconds(), 1e-9)
		}
	}
	d.Link = fmt.Sprintf("measured by %s of %s memory", units.Bytes(int64(bytes)), what)
	return nil
}

// describe returns the description of a modelled card, whose memory no other process takes.
func (c Card) describe(name string) Description {
	d := Description{Device: name, Name: "a model of a GPU with " + units.Bytes(c.Usable()), Driver: "none: Go computes in the host's memory", Total: c.Usable(), Free: c.Usable(), Largest: c.Usable(),
		Upload: c.Rates().Upload, Download: c.Rates().Download, Link: "by the " + c.Source, Products: "gonbext's own kernels"}
	if slices.Contains(cards, c) {
		d.Name = "a model of " + c.Name
	}
	if version, ok := device.OpenBLAS(); ok {
		d.Products = version
	}
	return d
}

// small is a tensor that never fills a GPU, and that may find no room on one.
const small = 384 * 192 * 4

// String returns the description as lines.
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
		line("link", "%s/s up, %s/s down, %s", units.Traffic(int64(d.Upload)), units.Traffic(int64(d.Download)), d.Link)
	} else {
		line("link", "not measured: there is no room for the copies")
	}
	if d.Products != "" {
		line("products", "%s", d.Products)
	}
	if d.Largest < small {
		fmt.Fprintf(&b, "\nThe largest block that is free is smaller than a [384, 192] float32 tensor, which takes only 288 KiB (%s): "+
			"of %s, the context, other processes and a library's pool of freed blocks may have taken all but crumbs.\n", units.Exact(small), units.Bytes(d.Total))
	}
	return b.String()
}
