package crash

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/decomp" // cp and tucker in expressions
)

// A save is one kind of run on one kind of store, small enough to run within a moment.
// The campaigns disturb each of them.
type save struct {
	name    string
	outputs []string // what it writes, by names in its folder
	// prepare puts into that folder what the run changes; nil where it begins with none.
	prepare func(in, out string) error
	run     func(in, out string) error
	// dirty says that an array which is changed in place is reported as damaged until the
	// next run has ended.
	dirty bool
	// appends says that a second run adds to what the first has made.
	appends bool
	// oneCopy says that the disk never has more than the result, and a little for the checkpoint.
	oneCopy bool
}

const rows, columns = 90, 70

// options are those of every run. Chunks give one of this size several tasks.
func options(more ...oocore.Option) []oocore.Option {
	return append([]oocore.Option{oocore.Memory("256MiB"), oocore.Workers(2)}, more...)
}

func put(a *oocore.Array, path string, more ...oocore.Option) error {
	_, err := a.Save(context.Background(), path, options(more...)...)
	return err
}

// inputs makes the arrays that the saves read.
func inputs(dir string) error {
	x := oocore.Random(oocore.Float32, 7, rows, columns)
	for name, opts := range map[string][]oocore.Option{
		"x.npy":         nil,
		"x.npz":         nil,
		"x.safetensors": nil,
		rawName("x"):    nil,
		"x.zarr":        {oocore.Chunks(20, 35), oocore.Shards(40, 35)},
		"open.zarr":     {oocore.Chunks(20, 35), oocore.Codec("none")},
	} {
		if err := put(x, filepath.Join(dir, name), opts...); err != nil {
			return err
		}
	}
	for i := range 3 {
		if err := put(x.Slice(fmt.Sprintf("%d:%d", i*30, i*30+30)), filepath.Join(dir, fmt.Sprintf("frame-%d.npy", i))); err != nil {
			return err
		}
	}
	return errors.Join(model(dir), version2(filepath.Join(dir, "v2.zarr")))
}

// layers are the tensors of a model.
const layers = 6

func weight(i int) string { return fmt.Sprintf("layers.%d.weight", i) }

// model makes a checkpoint of several files, and a LoRA adapter of it.
func model(dir string) error {
	base, adapter := filepath.Join(dir, "model"), filepath.Join(dir, "adapter")
	if err := errors.Join(os.Mkdir(base, 0o777), os.Mkdir(adapter, 0o777)); err != nil {
		return err
	}
	config := `{"peft_type":"LORA","r":4,"lora_alpha":8}`
	if err := os.WriteFile(filepath.Join(adapter, "adapter_config.json"), []byte(config), 0o666); err != nil {
		return err
	}
	from := filepath.Join(dir, "model.npz")
	var weights, factors []oocore.Output
	for i := range layers {
		w := oocore.RandomNormal(oocore.Float32, uint64(i), 512, 128).AsType(oocore.BFloat16)
		weights = append(weights, oocore.Output{Array: w.AsType(oocore.Float32), Path: from + "#" + weight(i)})
		if i%2 == 0 {
			module := filepath.Join(adapter, "adapter_model.safetensors") + fmt.Sprintf("#base_model.model.layers.%d", i)
			factors = append(factors,
				oocore.Output{Array: oocore.RandomNormal(oocore.Float32, uint64(100+i), 4, 128), Path: module + ".lora_A.weight"},
				oocore.Output{Array: oocore.RandomNormal(oocore.Float32, uint64(200+i), 512, 4), Path: module + ".lora_B.weight"})
		}
	}
	for _, all := range [][]oocore.Output{weights, factors} {
		if _, err := oocore.SaveAll(context.Background(), all, options()...); err != nil {
			return err
		}
	}
	_, err := oocore.OpenAll(from).Map(func(_ string, w *oocore.Array) *oocore.Array { return w.AsType(oocore.BFloat16) }).
		Save(context.Background(), filepath.Join(base, "model.safetensors.index.json"), options(oocore.ShardSize("300kB"))...)
	return err
}

// rawName is a raw file of an array as oocore.Open takes it.
func rawName(name string) string {
	return fmt.Sprintf("%s.bin?shape=%d,%d&dtype=float32", name, rows, columns)
}

// version2 writes an array of Zarr's second version by hand: two rows of two chunks.
func version2(dir string) error {
	text := fmt.Sprintf(`{"zarr_format":2,"shape":[%d,%d],"chunks":[45,35],"dtype":"<f4","fill_value":0,"order":"C","compressor":null,"filters":null}`, rows, columns)
	if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, ".zarray"), []byte(text), 0o666)); err != nil {
		return err
	}
	for i := range 4 {
		var chunk []byte
		for k := range 45 * 35 {
			chunk = binary.LittleEndian.AppendUint32(chunk, math.Float32bits(float32(i*1000+k)/8000))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.%d", i/2, i%2)), chunk, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// kinds are expressions whose plans have each kind of stage and operation.
var kinds = []struct{ name, expr string }{
	{"map", "sqrt(x)*2 + exp(-x)"},
	{"reduction", "std(x, 1)"},
	{"centred", "x - mean(x, 0)"},
	{"product", "matmul(x, transpose(x))"},
	{"transpose", "transpose(x)"},
	{"sort", "sort(x, 0)"},
	{"topk", "topk(x, 5, 0)"},
	{"median", "median(x, 0)"},
	{"scan", "cumsum(x, 0)"},
	{"fft", "abs(fft(x, 0, 0))"},
	{"fft2", "abs(fft2(x))"},
	{"filter", "gaussian_filter(x, 2)"},
	{"qr", `qr(x, "q")`},
	{"svd", `svd(x, "u")`},
	{"inverse", "inv(matmul(transpose(x), x) + eye(70, 70, 0))"},
	{"mask", "mask(x, x > 0.5)"},
	{"unique", "unique(floor(x*50))"},
	{"histogram", "histogram(x, 10, 0, 1)"},
	{"take", `take(x, argsort(slice(x, ":, 0"), 0), 0)`},
	{"concatenate", "concatenate(x, x*2, 0)"},
	{"random", "x + random(3, 90, 70)"},
	{"cp", `cp(x, 2, "iterations=2")`},
	{"tucker", `tucker(x, 3, 3, "iterations=2")`},
}

// evaluated saves an expression of an input.
func evaluated(expr, input, output string, opts ...oocore.Option) save {
	return save{outputs: []string{output}, run: func(in, out string) error {
		names := oocore.Names{"x": oocore.Open(filepath.Join(in, input))}
		a := oocore.EvalContext(context.Background(), expr, names, options()...)
		return put(a, filepath.Join(out, output), opts...)
	}}
}

// saves are every kind of run on npy and on zarr, and a few of them on every store.
func saves() (all []save) {
	add := func(name string, s save) {
		s.name = name
		all = append(all, s)
	}
	for _, k := range kinds {
		add(k.name+" to npy", evaluated(k.expr, "x.npy", "o.npy"))
		add(k.name+" to zarr", evaluated(k.expr, "x.zarr", "o.zarr"))
	}
	grid := []oocore.Option{oocore.Chunks(15, 35)}
	for _, o := range []struct {
		output string
		opts   []oocore.Option
	}{
		{"chunks.npy", grid},
		{"shards.zarr", []oocore.Option{oocore.Chunks(15, 10), oocore.Shards(30, 70), oocore.Codec("zstd:1")}},
		{"gzip.zarr", append(grid, oocore.Codec("gzip:1"))},
		{"open.zarr", append(grid, oocore.Codec("none"))},
		{"group.zarr/a", grid},
		{rawName("o"), nil},
		{"o.npz#a", nil},
		{"o.safetensors#a", []oocore.Option{oocore.Chunks(15, 70)}},
	} {
		add("map to "+o.output, evaluated(kinds[0].expr, "x.npy", o.output, o.opts...))
		add("centred to "+o.output, evaluated(kinds[2].expr, "x.zarr", o.output, o.opts...))
	}
	for _, input := range []string{"x.npz", "x.safetensors", rawName("x"), "open.zarr", "v2.zarr"} {
		add("centred of "+input, evaluated(kinds[2].expr, input, "o.zarr", grid...))
		add("sort of "+input, evaluated("sort(x, 0)", input, "o.npy"))
	}
	for _, output := range []string{"old.npy", "old.zarr", "old.npz", "old.safetensors"} {
		s := evaluated(kinds[0].expr, "x.npy", output)
		s.prepare = func(in, out string) error {
			return put(oocore.Ones(oocore.Float32, rows, columns), filepath.Join(out, output))
		}
		add("replacing "+output, s)
	}
	add("member of a group", save{
		outputs: []string{"g.zarr/a", "g.zarr/b"},
		prepare: func(in, out string) error {
			return put(oocore.Ones(oocore.Float32, rows, columns), filepath.Join(out, "g.zarr", "b"), grid...)
		},
		run: evaluated(kinds[0].expr, "x.npy", "g.zarr/a", grid...).run,
	})
	for _, output := range []string{"region.npy", "region.zarr"} {
		add("region of "+output, save{
			outputs: []string{output},
			dirty:   true,
			prepare: func(in, out string) error {
				var opts []oocore.Option
				if output == "region.zarr" {
					opts = grid
				}
				return put(oocore.Ones(oocore.Float32, rows, columns), filepath.Join(out, output), opts...)
			},
			run: func(in, out string) error {
				a := oocore.Open(filepath.Join(in, "x.npy")).Slice("0:50, 0:40").Sqrt()
				return put(a, filepath.Join(out, output), oocore.Region("20:70, 15:55"))
			},
		})
	}
	for name, opts := range [][]oocore.Option{grid, {oocore.Chunks(15, 35), oocore.Shards(30, 70)}} {
		for axis := range 2 {
			add(fmt.Sprintf("append to %s along axis %d", []string{"chunks", "shards"}[name], axis), save{
				outputs: []string{"grown.zarr"},
				appends: true,
				prepare: func(in, out string) error {
					return put(oocore.Ones(oocore.Float32, rows, columns), filepath.Join(out, "grown.zarr"), opts...)
				},
				run: func(in, out string) error {
					a := oocore.Open(filepath.Join(in, "x.npy")).Sqrt()
					_, err := a.Append(context.Background(), filepath.Join(out, "grown.zarr"), axis, options()...)
					return err
				},
			})
		}
	}
	add("several outputs", save{
		outputs: []string{"a.npy", "b.zarr", "c.npy"},
		run: func(in, out string) error {
			x := oocore.Open(filepath.Join(in, "x.zarr"))
			mean := x.Mean(0)
			_, err := oocore.SaveAll(context.Background(), []oocore.Output{
				{Array: x.Sub(mean), Path: filepath.Join(out, "a.npy")},
				{Array: x.Sqrt(), Path: filepath.Join(out, "b.zarr"), Options: grid},
				{Array: mean, Path: filepath.Join(out, "c.npy")},
			}, options()...)
			return err
		},
	})
	for _, of := range [][2]string{{"o.safetensors", "#%s"}, {"o.npz", "#%s"}, {"o.safetensors.index.json", "#%s"}, {"o.zarr", "/%s"}, {"folder", "/%s.npy"}} {
		to, member := of[0], of[1]
		add("collection to "+to, save{
			outputs: []string{to + fmt.Sprintf(member, "x"), to + fmt.Sprintf(member, "y"), to + fmt.Sprintf(member, "z")},
			run: func(in, out string) error {
				c := oocore.OpenAll(filepath.Join(out, "three.npz"))
				opts := options()
				if strings.HasSuffix(to, ".index.json") {
					opts = options(oocore.ShardSize("30kB"))
				}
				_, err := c.Map(func(_ string, x *oocore.Array) *oocore.Array { return x.Sqrt() }).
					Save(context.Background(), filepath.Join(out, to), opts...)
				return err
			},
			prepare: func(in, out string) error {
				x := oocore.Open(filepath.Join(in, "x.npy"))
				for i, name := range []string{"x", "y", "z"} {
					if err := put(x.Add(i), filepath.Join(out, "three.npz#"+name)); err != nil {
						return err
					}
				}
				return nil
			},
		})
	}
	half := func(_ string, w *oocore.Array) *oocore.Array { return w.AsType(oocore.Float16) }
	for _, of := range []struct {
		name, to string
		make     func(c *oocore.Collection, in string) *oocore.Collection
		opts     []oocore.Option
	}{
		{"to float16", "m.safetensors.index.json", func(c *oocore.Collection, _ string) *oocore.Collection { return c.Map(half) }, []oocore.Option{oocore.ShardSize("300kB")}},
		{"to GGUF", "m.gguf", func(c *oocore.Collection, _ string) *oocore.Collection { return c }, []oocore.Option{oocore.Codec("q8_0")}},
		{"with LoRA", "m.safetensors.index.json", func(c *oocore.Collection, in string) *oocore.Collection {
			return c.MergeLoRA(filepath.Join(in, "adapter"))
		}, []oocore.Option{oocore.ShardSize("300kB")}},
	} {
		s := save{oneCopy: true, run: func(in, out string) error {
			c := of.make(oocore.OpenAll(filepath.Join(in, "model", "model.safetensors.index.json")), in)
			_, err := c.Save(context.Background(), filepath.Join(out, of.to), options(of.opts...)...)
			return err
		}}
		for i := range layers {
			s.outputs = append(s.outputs, of.to+"#"+weight(i))
		}
		add("checkpoint "+of.name, s)
	}
	add("pyramid", save{
		outputs: []string{"o.zarr/0", "o.zarr/1", "o.zarr/2", "o.zarr/3"},
		run: func(in, out string) error {
			x := oocore.Open(filepath.Join(in, "x.npy"))
			_, err := x.Pyramid(4).Save(context.Background(), filepath.Join(out, "o.zarr"), options(oocore.Chunks(10, 8))...)
			return err
		},
	})
	add("members of a new group", save{
		outputs: []string{"o.zarr/a", "o.zarr/in/b"},
		run: func(in, out string) error {
			x := oocore.Open(filepath.Join(in, "x.npy"))
			_, err := oocore.SaveAll(context.Background(), []oocore.Output{
				{Array: x.Sqrt(), Path: filepath.Join(out, "o.zarr/a")}, {Array: x.Mean(0), Path: filepath.Join(out, "o.zarr/in/b")}}, options()...)
			return err
		},
	})
	add("members of o.npz", save{
		outputs: []string{"o.npz#a", "o.npz#b"},
		run: func(in, out string) error {
			x := oocore.Open(filepath.Join(in, "x.npy"))
			_, err := oocore.SaveAll(context.Background(), []oocore.Output{
				{Array: x.Sqrt(), Path: filepath.Join(out, "o.npz#a")}, {Array: x.Mean(0), Path: filepath.Join(out, "o.npz#b")}}, options()...)
			return err
		},
	})
	add("stack", save{
		outputs: []string{"o.npy"},
		run: func(in, out string) error {
			return put(oocore.OpenStack(filepath.Join(in, "frame-*.npy"), 0).Mean(0), filepath.Join(out, "o.npy"))
		},
	})
	add("function of chunks", save{
		outputs: []string{"o.npy"},
		run: func(in, out string) error {
			a := oocore.MapChunks(func(dst, src []float32, _ oocore.Block) error {
				for i, v := range src {
					dst[i] = v + 1
				}
				return nil
			}, oocore.Open(filepath.Join(in, "x.npy")), oocore.MapOptions{Chunks: []int{15, 35}})
			return put(a, filepath.Join(out, "o.npy"), oocore.Version("v1"))
		},
	})
	return all
}

// contents are the elements of an output; nil where there is none.
func contents(path string) (v []complex128, err error) {
	a := oocore.Open(path)
	if errors.Is(a.Err(), fs.ErrNotExist) {
		return nil, nil
	}
	return oocore.Collect[complex128](context.Background(), a.AsType(oocore.Complex128), options()...)
}

// join is the place of what has a name in a folder, or in a bucket.
func join(folder, name string) string { return folder + "/" + name }
