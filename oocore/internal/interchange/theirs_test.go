package interchange

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// theirs is an array that a library of others writes.
type theirs struct {
	Name     string
	Library  string
	Path     string // to be opened here, in the folder of all cases
	DType    dtype.Type
	Shape    []int
	Metadata object // of Zarr
	Part     []int  // what is written of it, from its beginning; nil is all
	Fill     string // the bits of what is not written
	Order    string // of npy: C or F
	Endian   string // of npy: < or >
	Version  int    // of npy
	Deflated bool   // of npz
}

// strata are what tells cases apart: the library and what is stored how, and the
// library and the dtype.
func (c theirs) strata() []string {
	return []string{c.Library + " " + c.Name, c.Library + " " + c.DType.String()}
}

type object = map[string]any

// shape and chunk divide each other nowhere.
var shape, chunk = []int{13, 7}, []int{4, 3}

const (
	zarrPython  = "zarr-python"
	tensorStore = "TensorStore"
)

// theirCases is what the libraries can write: every dtype with every codec, and
// what else a store can have, each with those dtypes that it can make a difference
// to.
func theirCases() []theirs {
	var all []theirs
	add := func(c theirs) {
		c.Path = fmt.Sprintf("theirs%d", len(all)) + c.Path
		all = append(all, c)
	}
	for _, library := range []string{zarrPython, tensorStore} {
		for _, t := range dtype.All() {
			if t == dtype.BFloat16 && library == zarrPython {
				continue // it has none
			}
			for _, c := range v3Codecs(t) {
				add(v3(library, c.name, t, shape, chunk, c.codecs))
			}
			for _, c := range sharded(t) {
				add(v3(library, c.name, t, []int{13, 10}, []int{8, 4}, c.codecs))
			}
			for _, c := range fills(t) {
				if c.name == "hex" && library == zarrPython {
					continue // it writes every NaN as "NaN"
				}
				s := v3(library, "missing chunks, fill "+c.name, t, shape, chunk, plain(t, "little"))
				s.Metadata["fill_value"], s.Fill, s.Part = c.json, c.bits, chunk
				add(s)
			}
			for _, c := range v2Compressors(t) {
				for _, order := range []string{"C", "F"} {
					add(v2(library, c.name, t, order, "<", c.compressor))
				}
			}
			if t.Size() > 1 && t != dtype.BFloat16 {
				add(v2(library, "big", t, "C", ">", nil))
				add(v2(library, "big zlib", t, "F", ">", object{"id": "zlib", "level": 2}))
			}
		}
		for _, cname := range []string{"blosclz", "lz4", "lz4hc", "zlib", "zstd"} {
			for _, shuffle := range []string{"noshuffle", "shuffle", "bitshuffle"} {
				for _, t := range []dtype.Type{dtype.Uint8, dtype.Int16, dtype.Float32, dtype.Complex128} {
					add(v3(library, cname+" "+shuffle, t, []int{40, 33}, []int{32, 20}, append(plain(t, "little"), blosc(t, cname, shuffle))))
				}
			}
		}
		for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			transpose := object{"name": "transpose", "configuration": object{"order": order}}
			t := dtype.Float32
			add(v3(library, fmt.Sprint("transposed ", order), t, []int{6, 5, 4}, []int{3, 5, 2}, append([]object{transpose}, plain(t, "little")...)))
			add(v3(library, fmt.Sprint("transposed in shards ", order), t, []int{6, 5, 4}, []int{6, 4, 4},
				[]object{shards([]int{3, 2, 1}, append([]object{transpose}, append(plain(t, "big"), zstd(1, false))...), "end")}))
		}
		for _, key := range []string{"default", "v2"} {
			for _, separator := range []string{"/", "."} {
				s := v3(library, key+" keys with "+separator, dtype.Int32, shape, chunk, plain(dtype.Int32, "little"))
				s.Metadata["chunk_key_encoding"] = object{"name": key, "configuration": object{"separator": separator}}
				add(s)
			}
		}
		for _, separator := range []string{"/", "."} {
			s := v2(library, "keys with "+separator, dtype.Int32, "C", "<", nil)
			s.Metadata["dimension_separator"] = separator
			add(s)
		}
		for _, s := range []struct{ shape, chunk []int }{
			{[]int{}, []int{}}, {[]int{17}, []int{5}}, {[]int{17}, []int{100}}, {[]int{1, 1, 1}, []int{1, 1, 1}},
			{[]int{0, 3}, []int{2, 3}}, {[]int{2, 3, 1, 4, 2}, []int{1, 2, 1, 3, 2}}, {[]int{300, 200}, []int{128, 200}},
		} {
			for _, c := range [][]object{plain(dtype.Float64, "little"), append(plain(dtype.Float64, "big"), gzip(1))} {
				add(v3(library, fmt.Sprint("shape ", s.shape, " ", len(c)), dtype.Float64, s.shape, s.chunk, c))
			}
		}
	}
	for _, t := range dtype.All() {
		if t != dtype.BFloat16 {
			for _, order := range []string{"C", "F"} {
				for _, endian := range []string{"<", ">"} {
					if t.Size() > 1 || endian == "<" {
						add(theirs{Name: "npy " + order + " " + endian, Library: "NumPy", Path: ".npy", DType: t, Shape: shape, Order: order, Endian: endian, Version: 1})
					}
				}
			}
			for _, deflated := range []bool{false, true} {
				for _, name := range []string{"", "#name/of it"} {
					add(theirs{Name: fmt.Sprintf("npz%s deflated %t", name, deflated), Library: "NumPy", Path: ".npz" + name, DType: t, Shape: shape, Deflated: deflated})
				}
			}
		}
		if t != dtype.Complex128 {
			for _, name := range []string{"", "#of.layer/0"} {
				add(theirs{Name: "safetensors" + name, Library: "safetensors", Path: ".safetensors" + name, DType: t, Shape: shape})
			}
		}
	}
	for _, t := range dtype.Stored() {
		if t.StorageOnly() {
			add(v3(tensorStore, "none", t, shape, chunk, plain(t, "little")))
			add(v3(tensorStore, "blosc", t, shape, chunk, append(plain(t, "little"), blosc(t, "lz4", "shuffle"))))
			nan := v3(tensorStore, "missing chunks, fill NaN", t, shape, chunk, plain(t, "little"))
			nan.Metadata["fill_value"], nan.Fill, nan.Part = "NaN", map[dtype.Type]string{dtype.Float8E4M3FN: "7f", dtype.Float8E5M2: "7e"}[t], chunk
			add(nan)
			add(theirs{Name: "safetensors", Library: "safetensors", Path: ".safetensors#of.layer/0", DType: t, Shape: shape})
		}
	}
	for _, version := range []int{2, 3} {
		add(theirs{Name: fmt.Sprint("npy version ", version), Library: "NumPy", Path: ".npy", DType: dtype.Float32, Shape: shape, Version: version})
	}
	for _, s := range [][]int{{}, {0, 3}, {17}, {2, 3, 1, 4, 2}, {300, 200}} {
		for _, path := range []string{".npy", ".npz", ".safetensors"} {
			for _, order := range []string{"C", "F"} {
				c := theirs{Name: fmt.Sprint(path, " ", s, " ", order), Library: "NumPy", Path: path, DType: dtype.Float64, Shape: s, Order: order, Version: 1, Deflated: true}
				if path == ".safetensors" {
					c.Library = "safetensors"
				}
				add(c)
			}
		}
	}
	return all
}

func v3(library, name string, t dtype.Type, shape, chunk []int, codecs []object) theirs {
	var fill any = 0
	switch t.Kind() {
	case dtype.KindBool:
		fill = false
	case dtype.KindComplex:
		fill = []float64{0, 0}
	case dtype.KindFloat:
		fill = 0.0
	}
	return theirs{Name: "v3 " + name, Library: library, Path: ".zarr", DType: t, Shape: shape, Metadata: object{
		"zarr_format": 3, "node_type": "array", "shape": shape, "data_type": t.String(), "fill_value": fill, "codecs": codecs, "attributes": object{},
		"chunk_grid":         object{"name": "regular", "configuration": object{"chunk_shape": chunk}},
		"chunk_key_encoding": object{"name": "default", "configuration": object{"separator": "/"}},
	}}
}

// named are the codecs of an array.
type named struct {
	name   string
	codecs []object
}

func v3Codecs(t dtype.Type) []named {
	little := func(more ...object) []object { return append(plain(t, "little"), more...) }
	all := []named{
		{"none", little()}, {"gzip", little(gzip(6))}, {"zstd", little(zstd(3, false))}, {"zstd checksum", little(zstd(1, true))},
		{"blosc lz4", little(blosc(t, "lz4", "shuffle"))}, {"blosc zstd", little(blosc(t, "zstd", "bitshuffle"))},
		{"crc32c", little(object{"name": "crc32c"})}, {"zstd crc32c", little(zstd(1, false), object{"name": "crc32c"})},
	}
	if t.Size() > 1 {
		all = append(all, named{"big", plain(t, "big")}, named{"big zstd", append(plain(t, "big"), zstd(1, false))})
	}
	return all
}

// sharded are codecs of shards of 8 × 4, by chunks of 4 × 2.
func sharded(t dtype.Type) []named {
	inner := []int{4, 2}
	return []named{
		{"shards", []object{shards(inner, plain(t, "little"), "end")}},
		{"shards, index first", []object{shards(inner, append(plain(t, "little"), zstd(3, false)), "start")}},
		{"shards of gzip", []object{shards(inner, append(plain(t, "little"), gzip(1)), "end")}},
		{"shards of blosc", []object{shards(inner, append(plain(t, "little"), blosc(t, "lz4", "shuffle"), object{"name": "crc32c"}), "start")}},
	}
}

func shards(inner []int, codecs []object, index string) object {
	return object{"name": "sharding_indexed", "configuration": object{
		"chunk_shape": inner, "codecs": codecs, "index_location": index,
		"index_codecs": []object{{"name": "bytes", "configuration": object{"endian": "little"}}, {"name": "crc32c"}},
	}}
}

func plain(t dtype.Type, endian string) []object {
	if t.Size() == 1 {
		return []object{{"name": "bytes"}}
	}
	return []object{{"name": "bytes", "configuration": object{"endian": endian}}}
}

func gzip(level int) object { return object{"name": "gzip", "configuration": object{"level": level}} }

func zstd(level int, checksum bool) object {
	return object{"name": "zstd", "configuration": object{"level": level, "checksum": checksum}}
}

func blosc(t dtype.Type, cname, shuffle string) object {
	return object{"name": "blosc", "configuration": object{"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": t.Size(), "blocksize": 0}}
}

// fill is a fill value as JSON, and its bits.
type fill struct {
	name string
	json any
	bits string
}

// fills are the values that a dtype's fill can have which are special.
func fills(t dtype.Type) []fill {
	of := func(name string, json any, v dtype.Value) fill {
		b := make([]byte, t.Size())
		v.Put(b)
		return fill{name, json, hex.EncodeToString(b)}
	}
	integer := func(n int64) fill { return of(fmt.Sprint(n), n, dtype.Value{Type: t, Lo: uint64(n)}) }
	switch t.Kind() {
	case dtype.KindBool:
		return []fill{of("true", true, dtype.ValueOf(true))}
	case dtype.KindInt:
		return []fill{integer(-1), integer(100)}
	case dtype.KindUint:
		return []fill{integer(200)}
	case dtype.KindComplex:
		if t == dtype.Complex64 {
			return []fill{of("pair", []any{1.5, -2.0}, dtype.ValueOf(complex64(1.5-2i)))}
		}
		return []fill{of("pair", []any{1.5, -2.0}, dtype.ValueOf(1.5-2i))}
	}
	bits := map[dtype.Type][4]uint64{ // of NaN, Infinity, -Infinity, 1.5
		dtype.Float16: {0x7e00, 0x7c00, 0xfc00, 0x3e00}, dtype.BFloat16: {0x7fc0, 0x7f80, 0xff80, 0x3fc0},
		dtype.Float32: {0x7fc00000, 0x7f800000, 0xff800000, 0x3fc00000},
		dtype.Float64: {0x7ff8000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x3ff8000000000000},
	}[t]
	var all []fill
	for i, json := range []any{"NaN", "Infinity", "-Infinity", 1.5} {
		all = append(all, of(fmt.Sprint(json), json, dtype.Value{Type: t, Lo: bits[i]}))
	}
	// A NaN of its own, which only its bits can say.
	odd := dtype.Value{Type: t, Lo: bits[0] | 1}
	return append(all, of("hex", fmt.Sprintf("0x%0*x", 2*t.Size(), odd.Lo), odd))
}

// compressor is one of Zarr v2.
type compressor struct {
	name       string
	compressor object
}

func v2Compressors(t dtype.Type) []compressor {
	return []compressor{
		{"none", nil}, {"zlib", object{"id": "zlib", "level": 4}}, {"zstd", object{"id": "zstd", "level": 3}},
		{"blosc", object{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}},
	}
}

func v2(library, name string, t dtype.Type, order, endian string, by object) theirs {
	descr := map[dtype.Kind]string{dtype.KindBool: "b", dtype.KindInt: "i", dtype.KindUint: "u", dtype.KindFloat: "f", dtype.KindComplex: "c"}[t.Kind()]
	descr = endian + descr + fmt.Sprint(t.Size())
	if t.Size() == 1 {
		descr = "|" + descr[1:]
	}
	if t == dtype.BFloat16 {
		descr = "bfloat16"
	}
	var compressor any
	if by != nil {
		compressor = by
	}
	return theirs{Name: strings.Join([]string{"v2", name, order, endian}, " "), Library: library, Path: ".zarr", DType: t, Shape: slices.Clone(shape), Metadata: object{
		"zarr_format": 2, "shape": shape, "chunks": chunk, "dtype": descr, "order": order, "compressor": compressor,
		"filters": nil, "fill_value": nil, "dimension_separator": ".",
	}}
}
