// Package output turns what options say of how an array is stored into an output of a plan: the details that it
// inherits, the region that it is written to, the collection that it is in.
package output

import (
	"fmt"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/quantize"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// Settings are what options say of how an array is stored.
type Settings struct {
	Chunks     []int
	Shards     []int
	ShardSize  int64  // of a checkpoint
	Lost       string // a warning of what the outputs leave out
	Codec      string
	Type       *string // that the array has in a collection by a recipe, which Codec names; nil where it is alone
	Region     string
	Grow       *int           // the axis to append along; nil where nothing is appended
	Dims       []string       // names of the dimensions
	Attributes map[string]any // that JSON can hold
	Fill       any            // that marks missing values; nil where none is given
}

// Part reports that a part of a stored array is written.
func (s *Settings) Part() bool { return s.Region != "" || s.Grow != nil }

// Output is an expression with its place, as plans have it: "" is memory. chunks are those of the array where the
// settings have none. An error is one of what can be rejected without planning.
func (s *Settings) Output(site graph.Site, op string, root *graph.Node, chunks []int, path string) (out compile.Output, err error) {
	if s.Chunks != nil || s.Part() || path == "" {
		chunks = s.Chunks
	}
	codec, as := s.Codec, s.Type
	if as == nil {
		_, name, _ := storage.Split(path)
		if types, ok := storage.TypesOf(path, codec, []storage.NewMember{{Name: name, Meta: store.Meta{Shape: root.Shape, DType: root.DType}}}); ok {
			as = &types[0]
		}
	}
	if as != nil {
		if root, codec, err = inType(site, root, *as); err != nil {
			return out, err
		}
		chunks = nil
	}
	out = compile.Output{Root: root, Target: compile.Target{Path: path, Chunks: chunks, Shards: s.Shards, Codec: codec, Grow: s.Grow != nil}}
	t := &out.Target
	if t.Details, err = s.Details(root, path); err == nil && s.Region != "" {
		out.Root, t.Region, t.Whole, err = s.intoRegion(root, path)
	}
	if err == nil && s.Grow != nil {
		t.Region, t.Whole, err = s.growth(root, path)
	}
	if err != nil {
		return out, &types.Error{Op: op, Shapes: [][]int{root.Shape}, Types: []dtype.Type{root.DType}, Site: site, Err: err}
	}
	return out, nil
}

// inType is an array in a type of a recipe: in elements, or as the bytes of blocks, of which the type is the codec.
func inType(site graph.Site, x *graph.Node, name string) (*graph.Node, string, error) {
	if name == "" {
		return x, "", nil
	}
	if t, err := dtype.Parse(name); err == nil {
		x, err := graph.AsType(site, x, t)
		return x, "", err
	}
	x, err := quantize.ToBlocks(site, x, name)
	return x, name, err
}

// Together makes those outputs that are in one file, or in one new group, a collection. Others
// that are in one another are rejected.
func Together(all []compile.Output) error {
	places := map[string][]*compile.Target{}
	for i := range all {
		t := &all[i].Target
		path := t.Path
		if group, _, ok := storage.Split(path); ok {
			path = group
		}
		place, err := storage.Place(path)
		if err != nil {
			return err
		}
		places[place] = append(places[place], t)
	}
	oneFolder := func(a, b *compile.Target) error {
		return fmt.Errorf("%s and %s are in one file or folder: save one after the other", a.Path, b.Path)
	}
	for place, of := range places {
		for at := filepath.Dir(place); len(at) < len(place); place, at = at, filepath.Dir(at) {
			if above := places[at]; above != nil {
				return oneFolder(above[0], of[0])
			}
		}
		if len(of) == 1 {
			continue
		}
		var m storage.CollectionMeta
		names := map[string]bool{}
		for _, t := range of {
			path, name, ok := storage.Split(t.Path)
			if !ok || m.Path != "" && path != m.Path || names[name] {
				return oneFolder(of[0], t)
			}
			if t.Region != nil {
				return fmt.Errorf("%s: regions of arrays in one file are not written: write the whole array", t.Path)
			}
			m.Path, m.Add, names[name] = path, true, true
			t.Collection, t.Member = &m, name
		}
	}
	return nil
}
