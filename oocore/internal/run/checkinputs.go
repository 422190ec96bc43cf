package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/disk"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// checkInputs rejects outputs that would replace an input of one of them.
func checkInputs(outputs []compile.Output) error {
	replaced := map[fileKey]string{}
	add := func(path string) {
		if path == "" {
			return
		}
		if place, err := storage.Place(path); err == nil {
			if key, ok := keyOf(place); ok {
				replaced[key] = path
			}
		}
	}
	var seen *storage.CollectionMeta
	for _, out := range outputs {
		add(out.Target.Path)
		if m := out.Target.Collection; m != nil && m != seen {
			seen = m
			for _, path := range replacedBy(m) {
				add(path)
			}
		}
	}
	if len(replaced) == 0 {
		return nil
	}
	at := map[string]string{} // what is replaced that a file or folder is, or lies in
	var find func(place string) string
	find = func(place string) string {
		output, ok := at[place]
		if !ok {
			key, _ := keyOf(place)
			if output = replaced[key]; output == "" && filepath.Dir(place) != place {
				output = find(filepath.Dir(place))
			}
			at[place] = output
		}
		return output
	}
	for _, out := range outputs {
		for n := range graph.Nodes(out.Root) {
			if n.Kind != graph.Source {
				continue
			}
			places, numbers := storage.Places(&n.Stored.Info)
			for _, place := range places {
				if output := find(place); output != "" {
					return isInput(output, n)
				}
			}
			for device, inode := range numbers {
				if output := replaced[fileKey{device: device, inode: inode}]; output != "" {
					return isInput(output, n)
				}
			}
		}
	}
	return nil
}

func isInput(output string, n *graph.Node) error {
	return fmt.Errorf("%s is also an input (%s): save to another place", output, n.Stored.Info.Path)
}

// replacedBy are the files and folders that a new collection replaces, but for those of its members.
func replacedBy(m *storage.CollectionMeta) []string {
	stem, ok := strings.CutSuffix(m.Path, ".safetensors.index.json")
	switch {
	case ok:
		quote := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)
		shards, _ := filepath.Glob(quote.Replace(stem) + "-*-of-*.safetensors")
		return shards
	case !m.Add && storage.ReplacesFolder(m.Path):
		return []string{m.Path}
	}
	return nil
}

// fileKey identifies a file that is there: by the numbers that it keeps under any name, and by
// its path where the system has none.
type fileKey struct {
	device, inode uint64
	path          string
}

func keyOf(place string) (key fileKey, ok bool) {
	st, err := os.Stat(place)
	if err != nil {
		return key, false
	}
	if key.device, key.inode = disk.Numbers(st); key == (fileKey{}) {
		key.path = place
	}
	return key, true
}
