package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/host"
)

func newConvert() *cobra.Command {
	var j job
	var e each
	var levels int
	var halve []string
	c := &cobra.Command{
		Use:   "convert SRC DST",
		Short: "Write an array, or a whole collection, in another format, chunking, compression or dtype, within a budget",
		Long: `Write an array in another format, chunking, compression or dtype, within a budget of memory.

The form of a path names its format: x.zarr, x.zarr/group/array, x.npy, x.npz#name, x.safetensors#name,
x.bin?shape=AxB&dtype=T; of tables (x.parquet, x.csv) x.parquet#column, and x.parquet#table for all columns as rows × columns; s3://bucket/…, gs://bucket/… and, to read, http(s)://… for those that object stores hold. Chunks that
lie across those of SRC take one pass over the data, or two by way of a file beside DST where the output cannot
be filled in pieces and the budget is smaller than the array: --plan says which. A conversion that was cut off
resumes where it stopped. SRC or DST can be -, for a pipe, as in compute. --chunks auto:FILE takes the chunks, and shards, that
gonbext chunks proposes for the reads in FILE.

Where SRC holds several arrays (a checkpoint, x.npz, a Zarr group, an HDF5 file, a folder) all of them are written in
one run: to x.safetensors, x.safetensors.index.json with files of --shard-size, x.gguf, x.npz, x.zarr as a group,
x.parquet with a column of each, or a folder of npy files. --each computes an expression of each, or definitions of which the last counts, and calls it
x; where the name of the last begins with _, each definition whose name does is an array of its own, as w_blocks and w_scales of w are
by _blocks and _scales. --only and --except say which arrays that and --dtype change: the others are copied. --skip leaves arrays out. A
checkpoint's small files, such as config.json, come along, and a folder as Hugging Face has models becomes one where
DST is a folder or a path that names no format; a GGUF file has the key-value pairs of SRC, or of
--template. Of a NetCDF file x.zarr is a group and x.nc a file, also of one variable, which xarray opens as it opens the file.

--levels writes an image of OME-Zarr: SRC, and means of 2 × 2 elements along y and x again and again, in one run.
Samples (RGB), channels, z and time keep their lengths; --halve z,y,x halves others than y and x. Axes are known by
the dimension names of SRC; --dims gives those of an array without names. They are written in the order t, c, z, y, x.`,
		Example: `  gonbext convert acts.npy acts.zarr --chunks 1024x512 --codec zstd:3
  gonbext convert rows.zarr columns.zarr --chunks 65536x8 --memory 512MiB --plan
  gonbext convert acts.npy half.npy --dtype float16 --memory 256MiB
  gonbext convert 'frames/*.npy' frames.zarr --chunks 16x512x512
  gonbext convert model.safetensors.index.json half/model.safetensors.index.json --dtype float16 --except '*norm*'
  gonbext convert model.safetensors scaled.npz --each 'x / sqrt(mean(x*x))' --only '*.weight'
  gonbext convert model.safetensors fp4.safetensors --only '*proj*' --each '_blocks = quantize_fp4(x, "mxfp4 blocks"); _scales = quantize_fp4_scale(x, "mxfp4")'
  gonbext convert model.gguf small.gguf --codec q4_k_m
  gonbext convert 'trades.csv#table' trades.npy
  gonbext convert trades.npz trades.parquet
  gonbext convert scan.tif scan.zarr --levels 5 --chunks 512x512
  gonbext convert acts.npy 'columns.npy?order=F&dtype=>f4'
  gonbext convert 'acts.bin?shape=3075200x512&dtype=float32' acts.safetensors#acts`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := j.count(c); err != nil {
				return err
			}
			if err := j.checkReport(stacked(args[0]), args[1]); err != nil {
				return err
			}
			pyramid := c.Flags().Changed("levels")
			if pyramid && levels < 1 {
				return usagef("--levels %d: give one or more", levels)
			}
			if halve != nil && !pyramid {
				return usagef("--halve is of --levels")
			}
			if pyramid || e.asked() {
				if err := notPiped("convert of several arrays", args...); err != nil {
					return err
				}
			}
			if e.asked() {
				if pyramid {
					return usagef("--levels is of one array")
				}
				return j.convertAll(c, args[0], args[1], &e)
			}
			return j.twice(c.Context(), func() error { return j.convert(c, args, &e, levels, halve) })
		},
	}
	c.Flags().StringVar(&e.dtype, "dtype", "", "element type of the output (default that of SRC)")
	c.Flags().StringVar(&e.expression, "each", "", "compute this expression of x for each array of a collection")
	c.Flags().IntVar(&levels, "levels", 0, "write an image of OME-Zarr at so many resolutions")
	c.Flags().StringSliceVar(&halve, "halve", nil, "with --levels: the axes that are halved, such as z,y,x (default y,x)")
	e.flags(c)
	j.flags(c)
	return c
}

// alone reports the only variable of a NetCDF file besides coordinates, which is named by its file. Its copy is a group
// of Zarr or a file of NetCDF that has all of it, for xarray opens that as it opens the file. An array of HDF5 whose axes have no
// names, and which has the file for itself, is none.
func alone(ctx context.Context, a *oocore.Array, from, to string) bool {
	if !slices.Contains([]string{".zarr", ".nc", ".nc4"}, filepath.Ext(to)) || host.Remote(to) {
		return false
	}
	members, err := host.Members(ctx, from)
	if err != nil || len(members) == 0 || !strings.HasPrefix(members[0].Path, from+"#") {
		return false
	}
	if len(members) == 1 && a.DimNames() == nil && !slices.Contains([]string{".nc", ".nc4", ".cdf", ".nc3"}, filepath.Ext(from)) {
		return false
	}
	groups, err := host.Groups(ctx, from)
	return err == nil && len(groups) > 0
}

// convert writes what is at a path, or comes from standard input, to another or to standard output.
func (j *job) convert(c *cobra.Command, args []string, e *each, levels int, halve []string) error {
	pyramid := levels > 0
	a, err := j.open(c, args[0])
	if err != nil {
		return err
	}
	if !pyramid && !j.appends && j.region == "" && a.Err() == nil && alone(c.Context(), a, args[0], args[1]) {
		return j.convertAll(c, args[0], args[1], e)
	}
	var open *oocore.Error
	if errors.As(a.Err(), &open) {
		all := oocore.OpenAll(args[0])
		if all.Len() == 0 || all.Len() == 1 && errors.As(all.Get(all.Names()[0]).Err(), &open) {
			return failure(open.Err) // which names the file
		}
		if pyramid {
			return usagef("--levels is of one array: %w", failure(open.Err))
		}
		if err := notPiped("convert of several arrays", args[1]); err != nil {
			return err
		}
		return j.convertAll(c, args[0], args[1], e)
	}
	if e.dtype != "" {
		t, err := dtype.Parse(e.dtype)
		if err != nil {
			return usagef("--dtype: %w", err)
		}
		a = a.AsType(t)
	}
	if err := j.autoChunks(a, args[0]); err != nil {
		return err
	}
	if pyramid {
		var names []string
		if j.dims != "" {
			names = strings.Split(j.dims, ",")
		}
		return j.saveCollection(c, a.PyramidAlong(levels, names, halve...), e, args[1])
	}
	to, err := j.output(c, args[1])
	if err == nil {
		err = agree(args[1], a)
	}
	if err != nil {
		return err
	}
	return j.do(c, a, to)
}
