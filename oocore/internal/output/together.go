package output

import (
	"fmt"
	"path/filepath"

	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

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
