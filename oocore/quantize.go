package oocore

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op/quantize"
	"github.com/gonbext/gonbext/oocore/internal/run"
)

// QuantizeOptions say how floats become small integers, or floats of 8 bits.
type QuantizeOptions struct {
	DType DType // Int8, the default, Uint8, Float8E4M3FN or Float8E5M2
	// PerAxis gives each index of Axis a scale of its own. Block gives one to each group of so many
	// indices of Axis, for each index of the other axes. Without either the array has one scale.
	PerAxis bool
	Axis    int
	Block   int
	// Square gives one scale to each Block by Block elements of the last two axes, whatever Axis
	// is, as checkpoints in FP8 do with 128 by 128. Blocks at the end of the array are smaller.
	Square bool
	// Affine uses all integers for the range of the elements, zero included. Otherwise
	// the largest magnitude becomes the largest integer.
	Affine bool
}

// Quantized is an array in integers with what brings it back:
// x ≈ (Values - Zero) · Scale. A program that has values and scales makes one without Zero to
// Dequantize them.
type Quantized struct {
	Values *Array // of the array's shape
	Scale  *Array // of its dimensions; one index where all along an axis share it
	Zero   *Array // zero point, of the integers' type and Scale's shape
	Block  int    // of Square, else 0
	from   *Array
	scheme quantize.Scheme
	made   [3]*Array      // Values, Scale and Zero of Quantize
	loss   *QuantizeError // that of Save, which has measured it
}

// Quantize maps floats to integers of 8 bits. Saving Values reads the array twice:
// once for its extremes, once to map it; NaN becomes the zero point. The working set is
// a chunk and an accumulator for each scale.
func (a *Array) Quantize(o QuantizeOptions) *Quantized {
	s := quantize.Scheme{DType: o.DType, Block: o.Block, Affine: o.Affine}
	if s.DType == 0 {
		s.DType = Int8
	}
	q := &Quantized{from: a}
	if o.Square {
		q.Block = o.Block
	} else if o.PerAxis || o.Block != 0 {
		s.Axis = &o.Axis
	}
	q.scheme = s
	part := func(pick func(quantize.Quantized) *graph.Node) *Array {
		return build("quantize", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
			made, err := quantize.Quantize(site, in[0], s)
			return pick(made), err
		}, a)
	}
	q.Values = part(func(q quantize.Quantized) *graph.Node { return q.Values })
	q.Scale = part(func(q quantize.Quantized) *graph.Node { return q.Scale })
	q.Zero = part(func(q quantize.Quantized) *graph.Node { return q.Zero })
	q.made = [3]*Array{q.Values, q.Scale, q.Zero}
	return q
}

// Dequantize returns the floats that the integers stand for, in Scale's type: (Values - Zero)
// · Scale. Where Scale has fewer indices along an axis than Values, each stands for as many
// that follow each other, or for Block of them in each of the last two axes.
func (q *Quantized) Dequantize() *Array {
	q = cmp.Or(q, &Quantized{})
	in := []any{q.Values, q.Scale}
	if q.Zero != nil {
		in = append(in, q.Zero)
	}
	return build("dequantize", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return quantize.Dequantize(site, quantize.DequantizeArgs{Q: in[0], Scale: in[1], Zero: append(in, nil)[2], Block: q.Block})
	}, in...)
}

// Save writes values, scale and zero point beside each other: as members of these names
// of a group x.zarr, or of a file x.npz or x.safetensors. OpenQuantized reads them back.
// It reads the array twice, three times if Affine, and once more for scales of more than
// a megabyte. The last pass, which writes the values, also measures what they lose, unless
// a device computes it: Error of what Save returns has it. Blocks of an array that is
// stored in chunks are read in that pass up to three times.
func (q *Quantized) Save(ctx context.Context, path string, opts ...Option) (*Quantized, error) {
	q = cmp.Or(q, &Quantized{})
	var measured *run.SideReductions
	runs := func(opts []Option) error {
		s, err := applyOptions(opts)
		if err != nil {
			return err
		}
		made, mapping := q, opts
		if q.own() && !s.PlanOnly {
			if made, err = q.known(ctx, opts); err != nil {
				return err
			}
			if s.Device == nil && s.Region == "" {
				if measured, err = beside(made.losses()...); err != nil {
					return err
				}
				mapping = append(opts[:len(opts):len(opts)], set(func(s *settings) { s.SideReductions = measured }))
			}
		}
		// The values first: until they are whole, what was there before stays as it was.
		if _, err := made.Values.Save(ctx, member(path, "values"), mapping...); err != nil {
			return err
		}
		if _, err := made.Scale.Save(ctx, member(path, "scale"), opts...); err != nil {
			return err
		}
		_, err = made.Zero.Save(ctx, member(path, "zero_point"), opts...)
		return err
	}
	opts, err := internals{}.Fits(opts, runs)
	if err != nil {
		return nil, err
	}
	measured = nil
	err = internals{}.RunGroup("quantize → "+filepath.Base(path), opts, func(opts []Option, _ func(string, float64)) error { return runs(opts) })
	if err != nil {
		return nil, err
	}
	out := OpenQuantized(path) // when it is whole: each member changes a file of several
	out.from, out.Block = q.from, q.Block
	if measured != nil && measured.Values != nil {
		out.loss = q.report(measured.Values)
	}
	return out, nil
}

// own reports whether all parts are as Quantize made them.
func (q *Quantized) own() bool {
	return q.from != nil && q.made == [3]*Array{q.Values, q.Scale, q.Zero}
}

// knownBytes is the most that scales may take to be held in addition to a run's buffers.
const knownBytes = 1 << 20

// known returns q with its scales and zero points computed, so that its values need no pass
// for them. It returns q itself where those are large.
func (q *Quantized) known(ctx context.Context, opts []Option) (*Quantized, error) {
	if q.Scale.Bytes()+q.Zero.Bytes() > knownBytes {
		return q, nil
	}
	known := &Quantized{from: q.from, Block: q.Block}
	var err error
	if known.Scale, err = q.Scale.materialise(ctx, opts); err != nil {
		return nil, err
	}
	if known.Zero, err = q.Zero.materialise(ctx, opts); err != nil {
		return nil, err
	}
	known.Values = build("quantize", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return quantize.With(site, in[0], in[1], in[2], q.scheme)
	}, q.from, known.Scale, known.Zero)
	return known, nil
}

// OpenQuantized returns what Quantized.Save wrote. Where square blocks are cut short at the end of
// the array, the program sets Block.
func OpenQuantized(path string) *Quantized {
	return &Quantized{Values: Open(member(path, "values")), Scale: Open(member(path, "scale")), Zero: Open(member(path, "zero_point"))}
}

// member returns the path of one array of several in a group or file.
func member(path, name string) string {
	if ext := filepath.Ext(strings.TrimSuffix(path, "/")); ext == ".npz" || ext == ".safetensors" {
		return path + "#" + name
	}
	return strings.TrimSuffix(path, "/") + "/" + name
}

// QuantizeError is what quantizing loses, and what it saves.
type QuantizeError struct {
	Max   float64 // largest difference
	RMS   float64 // root of the mean squared difference
	SNR   float64 // signal to noise, in decibels
	Bytes int64   // of the array as it was
	Saved int64   // fewer with integers, scales and zero points
}

// losses returns the largest difference and the mean square of the differences, and the mean square of the array.
func (q *Quantized) losses() []*Array {
	x := q.from.AsType(Float64)
	diff := x.Sub(q.Dequantize().AsType(Float64))
	return []*Array{diff.Abs().Max(), diff.Square().Mean(), x.Square().Mean()}
}

// report returns the error that the values of losses give.
func (q *Quantized) report(v []float64) *QuantizeError {
	e := &QuantizeError{Max: v[0], RMS: math.Sqrt(v[1]), SNR: 10 * math.Log10(v[2]/v[1]), Bytes: q.from.Bytes()}
	e.Saved = e.Bytes - q.Values.Bytes() - q.Scale.Bytes() - q.Zero.Bytes()
	return e
}

// Error returns how far the integers are from the array that they were made of. Where Save
// measured this while it wrote the values, nothing is computed; otherwise one pass over the
// array is, after the one for the extremes.
func (q *Quantized) Error(ctx context.Context, opts ...Option) (QuantizeError, error) {
	if q == nil || q.from == nil {
		return QuantizeError{}, errors.New("quantize: what was opened from a file has no array to compare with: quantize that again")
	}
	if q.loss != nil {
		return *q.loss, nil
	}
	// One expression, so that all three share a pass.
	v, err := Collect[float64](ctx, Stack(0, q.losses()...), opts...)
	if err != nil {
		return QuantizeError{}, err
	}
	return *q.report(v), nil
}
