package main

import (
	"errors"
	"go/token"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
)

func newCompute() *cobra.Command {
	var j job
	var out string
	c := &cobra.Command{
		Use:   "compute EXPR NAME=PATH... -o DST",
		Short: "Compute an expression of stored arrays within a budget",
		Long: `Compute an expression of stored arrays within a budget of memory.

EXPR is written in Go's expression syntax over NumPy's names, with positional axes: tanh(sqrt(b)*2 + exp(-b)),
mean(x, 0), matmul(a, b), astype(x, "float16"), slice(x, "0:100, ::2"), where(x > 0, x, 0). A result of no
dimensions is printed where no -o is given.`,
		Example: `  gonbext compute 'sqrt(x)' x=acts.npy -o roots.npy --memory 256MiB
  gonbext compute 'mean(x, 0)' x=acts.npy -o means.npy --report means.html
  gonbext compute 'x - mean(x, 0)' x=acts.zarr -o centred.zarr --chunks 1024x512 --shards 16384x512 --codec blosc:lz4
  gonbext compute 'std(x)' x=acts.npy`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			names, err := openNames(args[1:])
			if err != nil {
				return err
			}
			a := oocore.Eval(args[0], names)
			if err := a.Err(); err != nil {
				return wrongUsage(err)
			}
			if out == "" && a.Dims() > 0 {
				return usagef("the result has shape %v: say with -o where to write it", a.Shape())
			}
			return j.do(c, a, out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "array to write: x.zarr, x.npy, x.safetensors#name, x.npz#name, or x.bin for bare elements")
	c.Flags().StringVar(&j.device, "device", "cpu", "cpu, cuda:0, or model:8GiB for a modelled GPU of that memory")
	j.flags(c)
	return c
}

// openNames opens the arrays of NAME=PATH arguments.
func openNames(args []string) (oocore.Names, error) {
	names := make(oocore.Names)
	for _, arg := range args {
		name, path, ok := strings.Cut(arg, "=")
		switch {
		case !ok || path == "":
			return nil, usagef("%q does not name an array: write NAME=PATH, as in x=acts.npy", arg)
		case !token.IsIdentifier(name):
			return nil, usagef("%q cannot be a name in an expression: use letters and digits, as in x=acts.npy", name)
		case names[name] != nil:
			return nil, usagef("the name %s is given twice", name)
		}
		names[name] = oocore.Open(path)
		var open *oocore.Error
		if errors.As(names[name].Err(), &open) {
			return nil, open.Err // which names the file
		}
	}
	return names, nil
}
