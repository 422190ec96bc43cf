package interchange

import (
	"fmt"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// ours is an array that is written here.
type ours struct {
	Name      string
	Libraries []string // that read it
	Path      string
	DType     dtype.Type
	Shape     []int
	Chunks    []int
	Shards    []int
	Codec     string
}

// strata are what tells cases apart: what is stored how, and format and dtype.
func (c ours) strata() []string {
	return []string{c.Name, c.Path[strings.Index(c.Path, "."):] + " " + c.DType.String()}
}

// ourCases is what can be written: every dtype with every codec, in chunks and in
// shards, and every format.
func ourCases() []ours {
	var all []ours
	add := func(c ours) {
		c.Path = fmt.Sprintf("ours%d", len(all)) + c.Path
		all = append(all, c)
	}
	zarr := func(t dtype.Type, codec string, shape, chunks, shards []int) {
		c := ours{Name: fmt.Sprintf("%s %v %v %v", codec, shape, chunks, shards), Libraries: []string{zarrPython, tensorStore}, Path: ".zarr",
			DType: t, Shape: shape, Chunks: chunks, Shards: shards, Codec: codec}
		if t == dtype.BFloat16 {
			c.Libraries = c.Libraries[1:]
		}
		add(c)
	}
	for _, t := range dtype.All() {
		for _, codec := range []string{"", "none", "zstd:3", "zstd:1:checksum", "gzip:5", "blosc:lz4:5:shuffle", "blosc:zstd:3:bitshuffle", "blosc:lz4:1:noshuffle"} {
			zarr(t, codec, shape, chunk, nil)
			zarr(t, codec, []int{30, 11}, []int{5, 4}, []int{10, 8})
		}
	}
	for _, t := range dtype.Stored() {
		if t.StorageOnly() {
			add(ours{Name: "none", Libraries: []string{tensorStore}, Path: ".zarr", DType: t, Shape: shape, Chunks: chunk, Codec: "none"})
			add(ours{Name: "safetensors", Libraries: []string{"safetensors"}, Path: ".safetensors#of.layer/0", DType: t, Shape: shape})
		}
	}
	for _, codec := range []string{"none", "zstd:1"} {
		for _, s := range []struct{ shape, chunks, shards []int }{
			{[]int{}, nil, nil}, {[]int{17}, nil, nil}, {[]int{17}, []int{5}, []int{10}}, {[]int{0, 3}, []int{2, 3}, nil},
			{[]int{1, 1, 1}, []int{1, 1, 1}, []int{1, 1, 1}}, {[]int{2, 3, 1, 4, 2}, []int{1, 2, 1, 3, 2}, nil},
			{[]int{300, 200}, []int{128, 200}, nil}, {[]int{300, 200}, []int{16, 16}, []int{128, 64}}, {[]int{600, 500}, nil, nil},
		} {
			zarr(dtype.Float32, codec, s.shape, s.chunks, s.shards)
		}
	}
	for _, t := range dtype.All() {
		for _, path := range []string{".npy", ".npz", ".npz#name/of it", ".safetensors", ".safetensors#of.layer/0"} {
			library := "NumPy"
			switch {
			case path[:4] == ".saf" && t != dtype.Complex128:
				library = "safetensors"
			case path[:4] == ".saf", t == dtype.BFloat16:
				continue // the format has none
			}
			add(ours{Name: path, Libraries: []string{library}, Path: path, DType: t, Shape: shape})
			if t == dtype.Float64 {
				for _, s := range [][]int{{}, {0, 3}, {17}, {2, 3, 1, 4, 2}, {300, 200}} {
					add(ours{Name: fmt.Sprint(path, " ", s), Libraries: []string{library}, Path: path, DType: t, Shape: s})
				}
			}
		}
	}
	return all
}
