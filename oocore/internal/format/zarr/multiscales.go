package zarr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
)

// pyramid is an image at several resolutions, as a group's attributes describe it (OME-Zarr, ngff.openmicroscopy.org,
// versions 0.1 to 0.5): the first of its multiscales.
type pyramid struct {
	levels []string // paths of arrays in the group, the finest first
	axes   []string // their dimensions; nil where they have no names
}

// cutLevel takes the path of a level of a pyramid apart: x.zarr#2.
func cutLevel(name string) (group string, level int, ok bool) {
	group, part, ok := CutPart(name)
	level, err := strconv.Atoi(part)
	if !ok || err != nil || level < 0 || strconv.Itoa(level) != part {
		return name, 0, false
	}
	return group, level, true
}

// CutPart takes the path of a level or of a field apart: x.zarr#NAME.
func CutPart(name string) (of, part string, ok bool) {
	at := strings.LastIndexByte(name, '#')
	if at < 1 || at == len(name)-1 || strings.Contains(name[at:], "/") {
		return name, "", false
	}
	return name[:at], name[at+1:], true
}

// partOf returns the group of the path of a level, or the array of that of a field. An array of a group of this machine may have
// such a name too.
func partOf(name string) (of string, ok bool) {
	of, _, ok = CutPart(name)
	if !ok || strings.HasSuffix(of, suffix) || strings.HasSuffix(of, zipSuffix) {
		return of, ok
	}
	if !blob.PlaceOf(name).Files {
		return of, false
	}
	_, literal := os.Stat(name)
	_, err := os.Stat(of)
	return of, err == nil && errors.Is(literal, fs.ErrNotExist)
}

// readPyramid reads the attributes of a group; nil where they describe none.
func readPyramid(ctx context.Context, b blob.Bucket) (*pyramid, error) {
	text, err := groupAttributes(ctx, b)
	if err != nil || text == nil {
		return nil, err
	}
	p, err := parsePyramid(text)
	if err != nil {
		return nil, fmt.Errorf("multiscales: %w", err)
	}
	return p, nil
}

// groupAttributes returns the attributes of a group as its file has them; nil for none.
func groupAttributes(ctx context.Context, b blob.Bucket) (json.RawMessage, error) {
	text, _, err := ReadMetadata(ctx, b, v3File)
	if err == nil {
		var group struct {
			Attributes json.RawMessage `json:"attributes"`
		}
		if err := json.Unmarshal(bareNumbers(text), &group); err != nil {
			return nil, fmt.Errorf("%s: not valid JSON: %w", v3File, err)
		}
		return group.Attributes, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		text, _, err = ReadMetadata(ctx, b, v2Attributes)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func parsePyramid(text []byte) (*pyramid, error) {
	all, err := parseObject(text)
	if err != nil {
		return nil, err
	}
	if !all.absent("ome") { // since 0.5
		if err := all.field("ome", &all); err != nil {
			return nil, err
		}
	}
	if all.absent("multiscales") {
		return nil, nil
	}
	var images []struct {
		Axes     []json.RawMessage `json:"axes"`
		Datasets []struct {
			Path string `json:"path"`
		} `json:"datasets"`
	}
	if err := all.field("multiscales", &images); err != nil {
		return nil, err
	}
	if len(images) == 0 || len(images[0].Datasets) == 0 {
		return nil, errors.New("it lists no dataset")
	}
	p := &pyramid{}
	for _, d := range images[0].Datasets {
		if !fs.ValidPath(d.Path) || d.Path == "." {
			return nil, fmt.Errorf("%.80q is not the path of a dataset in the group", d.Path)
		}
		p.levels = append(p.levels, d.Path)
	}
	for _, raw := range images[0].Axes {
		var axis struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &axis.Name) != nil && json.Unmarshal(raw, &axis) != nil { // before 0.4 names alone
			return nil, fmt.Errorf("the axis %.60s has no name", raw)
		}
		p.axes = append(p.axes, axis.Name)
	}
	return p, nil
}

// openLevel opens a level of the pyramid in a bucket; nil where there is no pyramid. name is what
// the array is called.
func openLevel(ctx context.Context, name string, b blob.Bucket, level int) (*array, error) {
	p, err := readPyramid(ctx, b)
	if p == nil || err != nil {
		return nil, err
	}
	if level >= len(p.levels) {
		return nil, fmt.Errorf("no level %d: the image has %d, from #0 on", level, len(p.levels))
	}
	a, err := openIn(ctx, name, b.Join(p.levels[level]+"/"))
	if err != nil {
		return nil, fmt.Errorf("level %d, %s: %w", level, p.levels[level], err)
	}
	if a.meta.dims == nil && len(p.axes) == len(a.meta.shape) && len(p.axes) > 0 {
		a.meta.dims = p.axes
	}
	return a, nil
}

// members are the levels of a group at a path, by their own paths.
func (p *pyramid) members(root string) (all []store.Member) {
	if p != nil {
		for i, name := range p.levels {
			all = append(all, store.Member{Name: path.Clean(name), Path: fmt.Sprintf("%s#%d", root, i)})
		}
	}
	return all
}
