package tiff

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// maxPlanes is the most planes of OME-XML, of which not all need be stored.
const maxPlanes = 1 << 20

// ome is what is read of OME-XML (openmicroscopy.org/Schemas/OME/2016-06).
type ome struct {
	UUID       string    `xml:",attr"`
	BinaryOnly *struct { // the metadata is in another file
		MetadataFile string `xml:",attr"`
	}
	Image []struct {
		Pixels struct {
			DimensionOrder                                                             string  `xml:",attr"`
			SizeX, SizeY, SizeZ, SizeC, SizeT                                          int     `xml:",attr"`
			PhysicalSizeX, PhysicalSizeY, PhysicalSizeZ, TimeIncrement                 float64 `xml:",attr"`
			PhysicalSizeXUnit, PhysicalSizeYUnit, PhysicalSizeZUnit, TimeIncrementUnit string  `xml:",attr"`
			Channel                                                                    []struct {
				SamplesPerPixel int `xml:",attr"`
			}
			TiffData []struct {
				IFD, PlaneCount, NumPlanes *int `xml:",attr"`
				FirstZ, FirstC, FirstT     int  `xml:",attr"`
				UUID                       struct {
					Text     string `xml:",chardata"`
					FileName string `xml:",attr"`
				}
			}
		}
	}
}

// parseOME reads OME-XML. Planes of the file that has it are those of no FileName, whatever the file's name was.
func parseOME(text string) (said *ome, err error) {
	said = &ome{}
	d := xml.NewDecoder(strings.NewReader(strings.ToValidUTF8(text, "?")))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	if err := d.Decode(said); err != nil {
		return nil, fmt.Errorf("its OME-XML is not valid: %w", err)
	}
	names := said.names()
	for k := range said.Image {
		all := said.Image[k].Pixels.TiffData
		for i := range all {
			if id := &all[i].UUID; strings.TrimSpace(id.Text) == said.UUID || said.UUID == "" && len(names) == 1 {
				id.FileName = ""
			}
		}
	}
	return said, nil
}

// names are the files that planes lie in, with their UUIDs.
func (said *ome) names() map[string]string {
	names := map[string]string{}
	for _, image := range said.Image {
		for _, data := range image.Pixels.TiffData {
			if data.UUID.FileName != "" {
				names[data.UUID.FileName] = strings.TrimSpace(data.UUID.Text)
			}
		}
	}
	return names
}

// omeSeries are the images of OME-XML; none where it is none.
func (c *contents) omeSeries(said *ome) (all []series, err error) {
	for k, image := range said.Image {
		s, err := c.omeImage(said, k)
		if err != nil {
			return nil, fmt.Errorf("image %d of its OME-XML %w", k, err)
		}
		if s.pages == nil {
			continue // its elements are not in pages
		}
		p := image.Pixels
		s.scale = map[string]float64{"x": p.PhysicalSizeX, "y": p.PhysicalSizeY, "z": p.PhysicalSizeZ, "t": p.TimeIncrement}
		s.unit = map[string]string{}
		for name, unit := range map[string]string{"x": p.PhysicalSizeXUnit, "y": p.PhysicalSizeYUnit, "z": p.PhysicalSizeZUnit, "t": p.TimeIncrementUnit} {
			if unit == "" {
				unit = map[bool]string{true: "s", false: "µm"}[name == "t"] // as the schema says
			}
			s.unit[name] = unit
		}
		all = append(all, s)
	}
	return all, nil
}

// omeImage is an image of OME-XML. The error goes on behind its name.
func (c *contents) omeImage(said *ome, k int) (s series, err error) {
	p := &said.Image[k].Pixels
	order, samples := strings.ToLower(p.DimensionOrder), 1
	for i, channel := range p.Channel {
		switch n := max(channel.SamplesPerPixel, 1); {
		case i == 0:
			samples = n
		case n != samples:
			return s, errors.New("has channels of different SamplesPerPixel, which is not supported")
		}
	}
	length := map[byte]int{'z': p.SizeZ, 'c': p.SizeC / samples, 't': p.SizeT}
	if !permutes(order, "xyzct") || order[:2] != "xy" || grid.Check([]int{p.SizeT, p.SizeC, p.SizeZ}, 16) != nil {
		return s, fmt.Errorf("has the order %.20q and the sizes z %d, c %d and t %d: the file is damaged", p.DimensionOrder, p.SizeZ, p.SizeC, p.SizeT)
	}
	lead, names := make([]int, 3), make([]string, 3)
	for i := range lead {
		lead[i], names[i] = length[order[4-i]], order[4-i:5-i]
	}
	n := grid.Size(lead)
	if n < 1 || n > maxPlanes || p.SizeC%samples != 0 {
		return s, fmt.Errorf("has %d planes, 1 to %d are possible", n, maxPlanes)
	}
	if len(p.TiffData) == 0 {
		return s, nil
	}
	s.pages = slices.Repeat([]int32{-1}, n)
	used := make([]bool, len(c.pages))
	for _, data := range p.TiffData {
		from, pages := 0, len(c.pages)
		if c.files != nil {
			number, ok := c.named[data.UUID.FileName]
			if !ok {
				return s, errors.New("has planes in no file: the metadata are damaged")
			}
			from, pages = c.files[number].first, c.files[number].pages
		}
		at, count, ifd := 0, 0, 0 // 0 is all that there are
		for i, name := range names {
			first := map[string]int{"z": data.FirstZ, "c": data.FirstC, "t": data.FirstT}[name]
			if first < 0 || first >= lead[i] {
				return s, fmt.Errorf("puts a page at %s %d, of %d: the file is damaged", name, first, lead[i])
			}
			at = at*lead[i] + first
		}
		if data.IFD != nil {
			ifd, count = *data.IFD, 1
		}
		for _, given := range []*int{data.NumPlanes, data.PlaneCount} {
			if given != nil {
				count = *given
			}
		}
		if count == 0 {
			count = min(pages-ifd, n-at)
		}
		if count < 1 || ifd < 0 || count > pages-ifd || count > n-at {
			return s, fmt.Errorf("has %d planes from page %d on as those from plane %d of %d on, the file has %d pages: it is cut short or damaged", count, ifd, at, n, pages)
		}
		for i := range count {
			page := from + ifd + i
			if s.pages[at+i] >= 0 || used[page] {
				return s, fmt.Errorf("has page %d, or its plane %d, twice: the file is damaged", ifd+i, at+i)
			}
			s.pages[at+i], used[page] = int32(page), true
		}
	}
	s.layout = c.layouts[c.pages[max(s.pages[0], 0)].layout]
	for i, page := range s.pages {
		if page < 0 {
			return s, fmt.Errorf("has no page for plane %d of %d: it is incomplete", i, n)
		}
		if c.pages[page].layout != c.pages[s.pages[0]].layout {
			return s, errors.New("is made of pages of different layouts, as their shape, type, compression or byte order: the file is damaged")
		}
	}
	s.stack(lead, names)
	if p.SizeX != s.width || p.SizeY != s.length || samples != s.samples {
		s.err = fmt.Errorf("its OME-XML says images of %d×%d with %d samples, its pages have %d×%d with %d", p.SizeX, p.SizeY, samples, s.width, s.length, s.samples)
	}
	return s, nil
}
