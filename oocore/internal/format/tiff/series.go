package tiff

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// series is pages that are one array.
type series struct {
	layout
	shape []int
	dims  []string
	axes  []axis  // what each axis of shape is
	pages []int32 // in C order of the axes of pages
	// follow says that the file has the first page only, and that the elements of the others
	// follow its own.
	follow bool
	part   bool // all pages are smaller versions of images, or masks
	// What the file says of axes, by their names, and of all elements.
	scale map[string]float64
	unit  map[string]string
	more  map[string]any
	err   error // why it cannot be read
}

// axis is what an axis of an array is.
type axis byte

const (
	ofPages axis = iota
	ofSamples
	ofRows
	ofColumns
)

// pageAxes are the axes within a page, and their lengths.
func (l layout) pageAxes() (axes []axis, shape []int) {
	axes, shape = []axis{ofRows, ofColumns}, []int{l.length, l.width}
	switch {
	case l.samples == 1:
	case l.separate:
		axes, shape = slices.Insert(axes, 0, ofSamples), slices.Insert(shape, 0, l.samples)
	default:
		axes, shape = append(axes, ofSamples), append(shape, l.samples)
	}
	return axes, shape
}

// contents are the directories of a file, and the arrays that they are.
type contents struct {
	pages   []page
	layouts []layout
	series  []series
	order   binary.ByteOrder
	big     bool  // BigTIFF
	err     error // why the pages are no arrays
	// spread is the description of images whose planes lie in several files, which join makes the arrays.
	spread *ome
	files  []member       // of these; nil for one file
	named  map[string]int // members by their names in the description
}

// unread wraps the error of a description.
const unread = "%w; with #pages behind its name the pages of the file are read as they are"

var headers storage.Headers[*contents]

// read reads the directories.
func (f *file) read() (*contents, error) {
	c := &contents{}
	if err := f.pages(c); err != nil {
		return nil, err
	}
	c.order, c.big = f.order, f.big
	if c.series, c.err = c.group(f); c.err != nil {
		c.err = fmt.Errorf(unread, c.err)
	}
	return c, nil
}

// group finds the arrays that pages are, as tifffile does: by the metadata of OME, ImageJ or
// tifffile itself, else those of one layout together.
func (c *contents) group(f *file) (all []series, err error) {
	tags, _, err := f.directory(c.pages[0].at)
	if err != nil {
		return nil, err
	}
	text, err := f.text(tags[tagDescription])
	if err == nil {
		err = f.room.Take(8 * int64(len(text))) // with what is made of it
	}
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(strings.TrimSpace(text), "OME>"), strings.Contains(text, "<OME "):
		var said *ome
		if said, err = parseOME(text); err == nil && (said.BinaryOnly != nil || len(said.names()) > 0) {
			c.spread = said
			return nil, nil
		} else if err == nil {
			all, err = c.omeSeries(said)
		}
	case strings.HasPrefix(text, "ImageJ="):
		var s series
		s, err = c.imageJ(f, &tags, text)
		all = []series{s}
	case strings.HasPrefix(text, `{"shape":`):
		all, err = c.shaped(f)
	}
	if err != nil {
		return nil, err
	}
	if all == nil {
		all = c.alike(0)
	}
	for i := range all {
		c.finish(&all[i])
		all[i].gdal(f, &tags)
	}
	return all, nil
}

// finish takes what all pages say of an array.
func (c *contents) finish(s *series) {
	if s.err == nil {
		s.err = s.check()
	}
	s.part = !slices.ContainsFunc(s.pages, func(k int32) bool { return !c.pages[k].part })
}

// alike are the arrays of the pages from one on: those of one layout are one.
func (c *contents) alike(from int) (all []series) {
	at := map[int32]int{}
	for i, p := range c.pages[from:] {
		k, ok := at[p.layout]
		if !ok {
			k = len(all)
			at[p.layout] = k
			all = append(all, series{layout: c.layouts[p.layout]})
		}
		all[k].pages = append(all[k].pages, int32(from+i))
	}
	for i := range all {
		all[i].stack([]int{len(all[i].pages)}, []string{"i"})
	}
	return all
}

// stack makes the shape: the axes of pages that are longer than one, then those of a page.
func (s *series) stack(lead []int, names []string) {
	axes, shape := s.pageAxes()
	s.shape, s.axes, s.dims = nil, nil, nil
	for i, n := range lead {
		if n != 1 {
			s.shape, s.axes, s.dims = append(s.shape, n), append(s.axes, ofPages), append(s.dims, names[i])
		}
	}
	s.shape, s.axes = append(s.shape, shape...), append(s.axes, axes...)
	for _, a := range axes {
		s.dims = append(s.dims, a.name())
	}
}

func (a axis) name() string { return [...]string{"i", "s", "y", "x"}[a] }

// sequence takes n pages from one on, which are of one layout.
func (c *contents) sequence(s *series, from, n int) error {
	s.layout, s.pages = c.layouts[c.pages[from].layout], make([]int32, 0, n)
	for i := from; i < from+n; i++ {
		if c.pages[i].layout != c.pages[from].layout {
			return fmt.Errorf("page %d has another layout than page %d, its description makes one array of both: the file is damaged", i, from)
		}
		s.pages = append(s.pages, int32(i))
	}
	return nil
}

// room rejects an array whose pages are to follow the first one where the file ends before.
func (s *series) room(f *file, p page) error {
	at, err := f.number(p.offsets, 0)
	if err != nil {
		return err
	}
	if all := float64(grid.Size(s.shape)) * float64(s.bits) / 8; all > float64(f.size)-float64(at) {
		return fmt.Errorf("its description has an array of %s, %.0f bytes, the file ends before: it is cut short or damaged", grid.Format(s.shape), all)
	}
	return nil
}

// shaped are the arrays of which tifffile has written the shapes: each in the description of its first page.
func (c *contents) shaped(f *file) (all []series, err error) {
	for from := 0; from < len(c.pages); {
		tags, _, err := f.directory(c.pages[from].at)
		if err != nil {
			return nil, err
		}
		text, err := f.text(tags[tagDescription])
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(text, `{"shape":`) {
			return append(all, c.alike(from)...), nil
		}
		var said struct {
			Shape     []int
			Axes      string
			Truncated bool
		}
		if err := json.Unmarshal([]byte(text), &said); err != nil {
			return nil, fmt.Errorf("the description of page %d is not valid JSON: %w", from, err)
		}
		s := series{layout: c.layouts[c.pages[from].layout]}
		_, shape := s.pageAxes()
		page := grid.Size(shape)
		if err := grid.Check(said.Shape, 16); err != nil || grid.Size(said.Shape)%page != 0 || grid.Size(said.Shape) == 0 {
			return nil, fmt.Errorf("page %d is of %s, its description makes an array of %s of such: the file is damaged", from, grid.Format(shape), grid.Format(said.Shape))
		}
		n := grid.Size(said.Shape) / page
		stored := n
		if s.follow = said.Truncated && n > 1; s.follow {
			stored = 1
		}
		if stored > len(c.pages)-from {
			return nil, cmp.Or(s.check(), fmt.Errorf("the description of page %d has an array of %d pages, the file has %d: it is cut short or damaged", from, n, len(c.pages)-from))
		}
		if err := c.sequence(&s, from, stored); err != nil {
			return nil, err
		}
		if s.shape = said.Shape; s.follow {
			if err := s.room(f, c.pages[from]); err != nil {
				return nil, err
			}
		}
		if !s.reshape(said.Axes) {
			s.stack([]int{n}, []string{"i"})
		}
		all = append(all, s)
		from += stored
	}
	return all, nil
}

// reshape finds what the axes of a shape that tifffile has written are: an axis is that of a page with the same length, from the
// last on; others of length one may stand between them.
func (s *series) reshape(names string) bool {
	axes, shape := s.pageAxes()
	p := len(axes) - 1
	s.axes, s.dims = make([]axis, len(s.shape)), make([]string, len(s.shape))
	for d := len(s.shape) - 1; d >= 0; d-- {
		for p > 0 && shape[p] == 1 && s.shape[d] != 1 {
			p--
		}
		if p >= 0 && s.shape[d] == shape[p] {
			s.axes[d] = axes[p]
			p--
		} else if p >= 0 && s.shape[d] != 1 && slices.ContainsFunc(shape[:p+1], func(n int) bool { return n != 1 }) {
			return false
		}
	}
	if p >= 0 && grid.Size(shape[:p+1]) != 1 {
		return false
	}
	used := map[string]bool{}
	for d, a := range s.axes {
		name := a.name()
		if len(names) == len(s.shape) && names[d] != 'Q' {
			name = strings.ToLower(names[d : d+1])
		}
		for i := 0; used[name]; i++ {
			name = fmt.Sprintf("i%d", i)
		}
		used[name], s.dims[d] = true, name
	}
	return true
}

// imageJ is the array of an ImageJ hyperstack. Of several planes the file may have the first page only.
func (c *contents) imageJ(f *file, tags *fields, description string) (s series, err error) {
	said, values := map[string]int{"frames": 1, "slices": 1, "channels": 1, "images": 0}, map[string]string{}
	for line := range strings.Lines(description) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
		if _, known := said[key]; known {
			if said[key], err = strconv.Atoi(value); err != nil || said[key] < 1 || said[key] > maxPages {
				return s, fmt.Errorf("its ImageJ description says %.80q: the file is damaged", strings.TrimSpace(line))
			}
		}
	}
	s.layout = c.layouts[c.pages[0].layout]
	if s.samples > 1 && s.samples == said["channels"] { // the samples are the channels
		said["channels"] = 1
	}
	length := map[byte]int{'t': said["frames"], 'z': said["slices"], 'c': said["channels"]}
	order := strings.ToLower(values["order"])
	if !permutes(order, "czt") {
		order = "czt"
	}
	lead, names := []int{}, []string{}
	for i := range order {
		k := order[len(order)-1-i]
		lead, names = append(lead, length[k]), append(names, string(k))
	}
	n := 1
	for _, length := range lead {
		if n *= length; n > maxPages {
			return s, fmt.Errorf("its ImageJ description has more than %d planes: the file is damaged", maxPages)
		}
	}
	images := said["images"]
	switch {
	case n == 1: // a stack without its axes
		n = max(images, 1)
		if images == 0 {
			n = len(c.pages)
		}
		lead, names = []int{n}, []string{"i"}
	case images > 0 && images != n && images != n*s.samples:
		return s, fmt.Errorf("its ImageJ description says images=%d, and %d channels, slices and frames: the file is damaged", images, n)
	}
	stored := n
	if s.follow = n > 1 && len(c.pages) == 1; s.follow {
		stored = 1
	}
	if stored != len(c.pages) {
		return s, fmt.Errorf("its ImageJ description says %d images, the file has %d pages: it is cut short or damaged", n, len(c.pages))
	}
	if err = c.sequence(&s, 0, stored); err != nil {
		return s, err
	}
	if s.stack(lead, names); s.follow {
		if err = s.room(f, c.pages[0]); err != nil {
			return s, err
		}
	}
	number := func(key string) float64 { x, _ := strconv.ParseFloat(values[key], 64); return x }
	s.scale = map[string]float64{"z": number("spacing"), "t": number("finterval"), "x": 1 / f.rational(tags[tagXResolution]), "y": 1 / f.rational(tags[tagYResolution])}
	unit := values["unit"]
	s.unit = map[string]string{"x": unit, "y": unit, "z": unit, "t": "s"}
	if cf, ok := values["cf"]; ok && cf == "0" { // a line, as of integers with a sign that are stored without
		s.set("scale_factor", number("c1"))
		s.set("add_offset", number("c0"))
	} else if ok {
		s.set("imagej_calibration", strings.Join([]string{cf, values["c0"], values["c1"], values["c2"], values["c3"], values["c4"], values["vunit"]}, " "))
	}
	return s, nil
}

// permutes reports a text with the letters of another.
func permutes(text, of string) bool {
	return len(text) == len(of) && !strings.ContainsFunc(of, func(c rune) bool { return !strings.ContainsRune(text, c) })
}

// gdal takes what GDAL has written of the numbers.
func (s *series) gdal(f *file, tags *fields) {
	text, err := f.text(tags[tagMetadata])
	if err != nil || text == "" {
		return
	}
	var said struct {
		Item []struct {
			Role string `xml:"role,attr"`
			Text string `xml:",chardata"`
		}
	}
	if xml.Unmarshal([]byte(text), &said) != nil {
		return
	}
	for role, name := range map[string]string{"scale": "scale_factor", "offset": "add_offset", "unittype": "units"} {
		var values []any
		for _, item := range said.Item {
			var v any = strings.TrimSpace(item.Text)
			if x, err := strconv.ParseFloat(v.(string), 64); err == nil && role != "unittype" {
				v = x
			}
			if item.Role == role && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		switch len(values) {
		case 0:
			continue
		case 1:
			s.set(name, values[0])
		default: // by samples
			s.set(name, values)
		}
	}
}

func (s *series) set(name string, v any) {
	if s.more == nil {
		s.more = map[string]any{}
	}
	s.more[name] = v
}

// units are words for units, as OME-Zarr has them.
var units = map[string]string{"µm": "micrometer", "μm": "micrometer", "um": "micrometer", `\u00B5m`: "micrometer", "micron": "micrometer", "microns": "micrometer",
	"nm": "nanometer", "mm": "millimeter", "cm": "centimeter", "m": "meter", "km": "kilometer", "pm": "picometer", "Å": "angstrom", "in": "inch", "inch": "inch",
	"s": "second", "sec": "second", "ms": "millisecond", "µs": "microsecond", "μs": "microsecond", "min": "minute", "h": "hour", "d": "day"}

// lines are labels by the distances of elements that the file says.
func (s *series) lines() map[string]store.Line {
	lines := map[string]store.Line{}
	for _, name := range s.dims {
		if x := s.scale[name]; x > 0 && !math.IsInf(x, 1) {
			l := store.Line{Step: x}
			if unit := s.unit[name]; unit != "pixel" {
				l.Unit = cmp.Or(units[unit], unit)
			}
			lines[name] = l
		}
	}
	return lines
}

// attributes are what the file says of the array; nil for nothing.
func (s *series) attributes() (json.RawMessage, error) {
	all, known := map[string]any{}, false
	maps.Copy(all, s.more)
	var axes []map[string]any
	lines := s.lines()
	for _, name := range s.dims {
		axis := map[string]any{"name": name}
		if l, ok := lines[name]; ok {
			known, axis["scale"] = true, l.Step
			if l.Unit != "" {
				axis["unit"] = l.Unit
			}
		}
		axes = append(axes, axis)
	}
	if known {
		all["axes"] = axes
	}
	if name := photometrics[s.photometric]; name != "" && (s.photometric != yCbCr || s.compression != compressionJPEG) {
		all["photometric"] = name
	}
	if s.orientation != 1 {
		all["orientation"] = s.orientation
	}
	if s.alpha == 1 {
		all["alpha"] = "premultiplied"
	}
	if len(all) == 0 {
		return nil, nil
	}
	return json.Marshal(all)
}
