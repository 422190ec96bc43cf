package tiff

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

// series is pages that are one array.
type series struct {
	layout
	shape []int
	dims  []string
	axes  []axis // what each axis of shape is
	pages []int  // in C order of the axes of pages; missing where nothing is stored
	// follow says that the file has the first page only, and that the elements of the others
	// follow its own.
	follow bool
	err    error // why it cannot be read
}

// missing is the number of a page that is not there.
const missing = -1

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
	pages  []page
	series []series
	order  binary.ByteOrder
}

var headers store.Headers[*contents]

// read reads the directories.
func (f *file) read() (*contents, error) {
	pages, err := f.pages()
	if err != nil {
		return nil, err
	}
	text, err := f.text(pages[0].description)
	if err != nil {
		return nil, err
	}
	f.window = nil // the text may be long
	var room int64 // from the first chunk to the end of the file
	if at, err := f.numbers(pages[0].offsets, 1); err == nil {
		room = f.size - int64(min(at[0], uint64(f.size)))
	}
	all, err := group(pages, text, room)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if s := &all[i]; s.err == nil {
			s.err = s.check()
		}
	}
	return &contents{pages, all, f.order}, nil
}

// group finds the arrays that pages are, as tifffile does: by the metadata of OME, ImageJ or
// tifffile itself, else those of one layout together. room is the bytes from the first element on.
func group(pages []page, description string, room int64) ([]series, error) {
	switch {
	case strings.HasSuffix(strings.TrimSpace(description), "OME>"):
		if all, err := omeSeries(pages, description); err != nil || len(all) > 0 {
			return all, err
		}
	case strings.HasPrefix(description, "ImageJ="):
		if s, ok := imageJ(pages, description, room); ok {
			return []series{s}, nil
		}
	case strings.HasPrefix(description, `{"shape":`):
		if s, ok := shaped(pages, description); ok {
			return []series{s}, nil
		}
	}
	var all []series
	at := map[layout]int{}
	for i, p := range pages {
		k, ok := at[p.layout]
		if !ok {
			k = len(all)
			at[p.layout] = k
			all = append(all, series{layout: p.layout})
		}
		all[k].pages = append(all[k].pages, i)
	}
	for i := range all {
		all[i].stack([]int{len(all[i].pages)}, nil)
	}
	return all, nil
}

// stack makes the shape: the axes of pages that are longer than one, then those of a page.
func (s *series) stack(lead []int, names []string) {
	axes, shape := s.pageAxes()
	s.shape, s.axes, s.dims = nil, nil, nil
	for i, n := range lead {
		if n == 1 {
			continue
		}
		s.shape, s.axes = append(s.shape, n), append(s.axes, ofPages)
		if names != nil {
			s.dims = append(s.dims, names[i])
		}
	}
	s.shape, s.axes = append(s.shape, shape...), append(s.axes, axes...)
	if names != nil {
		for _, a := range axes {
			s.dims = append(s.dims, map[axis]string{ofSamples: "s", ofRows: "y", ofColumns: "x"}[a])
		}
	}
}

// sequence is the pages from the first on, n of them or all that are there.
func sequence(pages []page, n int) (all []int, follow bool) {
	if n > 1 && len(pages) == 1 {
		return []int{0}, true
	}
	for i := range min(n, len(pages)) {
		all = append(all, i)
	}
	return all, false
}

// alike reports pages of one layout.
func alike(pages []page, numbers []int) bool {
	for _, n := range numbers {
		if n != missing && pages[n].layout != pages[numbers[0]].layout {
			return false
		}
	}
	return true
}

// shaped is the array of which tifffile has written the shape.
func shaped(pages []page, description string) (s series, ok bool) {
	var said struct{ Shape []int }
	if json.Unmarshal([]byte(description), &said) != nil || grid.Check(said.Shape, 16) != nil || len(said.Shape) == 0 {
		return s, false
	}
	s.layout = pages[0].layout
	axes, shape := s.pageAxes()
	// An axis is that of a page with the same length, from the last on; others of length one may
	// stand between them.
	n, p := 1, len(axes)-1
	s.shape, s.axes = said.Shape, make([]axis, len(said.Shape))
	for d := len(said.Shape) - 1; d >= 0; d-- {
		for p > 0 && shape[p] == 1 && said.Shape[d] != 1 {
			p--
		}
		if p >= 0 && said.Shape[d] == shape[p] {
			s.axes[d] = axes[p]
			p--
			continue
		}
		if p >= 0 && said.Shape[d] != 1 && slices.ContainsFunc(shape[:p+1], func(n int) bool { return n != 1 }) {
			return s, false
		}
		n *= said.Shape[d]
	}
	if p >= 0 && grid.Size(shape[:p+1]) != 1 || n > len(pages) && len(pages) > 1 {
		return s, false
	}
	s.pages, s.follow = sequence(pages, n)
	if len(s.pages) != len(pages) { // others are arrays of their own
		return s, false
	}
	return s, alike(pages, s.pages)
}

// imageJ is the array of an ImageJ hyperstack, unless its pages follow the first one and have no room.
func imageJ(pages []page, description string, room int64) (s series, ok bool) {
	said := map[string]int{"frames": 1, "slices": 1, "channels": 1, "images": 1}
	order := "czt"
	for line := range strings.Lines(description) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if _, known := said[key]; known {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > maxPages {
				return s, false
			}
			said[key] = n
		} else if key == "order" {
			order = strings.ToLower(value)
		}
	}
	s.layout = pages[0].layout
	if s.samples > 1 && s.samples == said["channels"] { // the samples are the channels
		said["channels"] = 1
	}
	length := map[byte]int{'t': said["frames"], 'z': said["slices"], 'c': said["channels"]}
	if !permutes(order, "czt") {
		order = "czt"
	}
	lead, names := []int{}, []string{}
	for i := range order {
		c := order[len(order)-1-i]
		lead, names = append(lead, length[c]), append(names, string(c))
	}
	if grid.Check(lead, 16) != nil || grid.Size(lead) > maxPages {
		return s, false
	}
	n := grid.Size(lead)
	if n == 1 { // a stack without its axes
		n = max(said["images"], len(pages))
		lead, names = []int{n}, []string{"i"}
	}
	if s.pages, s.follow = sequence(pages, n); !s.follow && len(s.pages) != n {
		return s, false
	}
	if s.follow && float64(n)*float64(s.width)*float64(s.length)*float64(s.samples)*float64(s.bits)/8 > float64(room) {
		return s, false
	}
	s.stack(lead, names)
	return s, alike(pages, s.pages)
}

// permutes reports a text with the letters of another.
func permutes(text, of string) bool {
	return len(text) == len(of) && !strings.ContainsFunc(of, func(c rune) bool { return !strings.ContainsRune(text, c) })
}

// maxPlanes is the most planes of OME-XML, of which not all need be stored.
const maxPlanes = 1 << 20

// ome is what is read of OME-XML (openmicroscopy.org/Schemas/OME/2016-06).
type ome struct {
	Image []struct {
		Pixels struct {
			DimensionOrder                    string `xml:",attr"`
			SizeX, SizeY, SizeZ, SizeC, SizeT int    `xml:",attr"`
			Channel                           []struct {
				SamplesPerPixel int `xml:",attr"`
			}
			TiffData []struct {
				IFD, PlaneCount, NumPlanes *int `xml:",attr"`
				FirstZ, FirstC, FirstT     int  `xml:",attr"`
				UUID                       struct {
					FileName string `xml:",attr"`
				}
			}
		}
	}
}

// omeSeries are the images of OME-XML; none where it is none.
func omeSeries(pages []page, description string) (all []series, err error) {
	var said ome
	d := xml.NewDecoder(bytes.NewReader([]byte(description)))
	if d.Decode(&said) != nil {
		return nil, nil
	}
	files := map[string]bool{}
	for _, image := range said.Image {
		p := image.Pixels
		order := strings.ToLower(p.DimensionOrder)
		length := map[byte]int{'z': p.SizeZ, 'c': p.SizeC, 't': p.SizeT}
		samples := 1
		if len(p.Channel) > 0 {
			samples = max(p.Channel[0].SamplesPerPixel, 1)
		}
		length['c'] /= samples
		if !permutes(order, "xyzct") || order[:2] != "xy" || grid.Check([]int{p.SizeT, p.SizeC, p.SizeZ}, 16) != nil {
			return nil, nil
		}
		lead, names := make([]int, 3), make([]string, 3)
		for i := range lead {
			c := order[4-i]
			lead[i], names[i] = length[c], string(c)
		}
		n := grid.Size(lead)
		if n < 1 || n > maxPlanes {
			return nil, nil
		}
		s := series{pages: slices.Repeat([]int{missing}, n)}
		first := missing
		for _, data := range p.TiffData {
			if name := data.UUID.FileName; name != "" {
				files[name] = true
			}
			at, count, ifd := 0, len(pages), 0
			for i, c := range names {
				at = at*lead[i] + map[string]int{"z": data.FirstZ, "c": data.FirstC, "t": data.FirstT}[c]
			}
			if data.IFD != nil {
				ifd, count = *data.IFD, 1
			}
			for _, given := range []*int{data.NumPlanes, data.PlaneCount} {
				if given != nil {
					count = *given
				}
			}
			for i := range min(count, len(pages)) {
				if at+i < 0 || at+i >= n || ifd+i < 0 || ifd+i >= len(pages) {
					break
				}
				s.pages[at+i] = ifd + i
				if first == missing {
					first = ifd + i
				}
			}
		}
		if first == missing {
			continue
		}
		s.layout = pages[first].layout
		s.stack(lead, names)
		for _, k := range s.pages {
			if k != missing && pages[k].layout != s.layout {
				s.err = errors.New("its OME-XML makes one image of pages of different layouts: the file is damaged")
			}
		}
		if s.err == nil && (p.SizeX != s.width || p.SizeY != s.length || samples != s.samples) {
			s.err = fmt.Errorf("its OME-XML says images of %d×%d with %d samples, its pages have %d×%d with %d",
				p.SizeX, p.SizeY, samples, s.width, s.length, s.samples)
		}
		all = append(all, s)
	}
	if len(files) > 1 {
		return nil, errors.New("its OME-XML says that the planes lie in several files, which is not supported: open them as a stack")
	}
	return all, nil
}
