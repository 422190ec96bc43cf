// Package fft is the discrete Fourier transform of arrays, under NumPy's names.
//
// A transform along an axis makes one pass that reads and one that writes; one over
// several axes makes these for each of them. A task holds whole lines: about 4 MiB of
// them, or a single longer one, in the input's type and in the result's, and a few lines
// three times or more in complex128. Lines may have any length; those whose length has
// only small prime factors are fastest.
//
// float32, float16 and complex64 give results in single precision, other types in
// double; all are computed in double. What cannot be transformed, such as an axis that
// is not there or lines without elements, is the error of the result.
package fft

import (
	"errors"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op/fft"
)

// Option is a less common argument of a transform.
type Option func(*options)

var errLengths = errors.New("takes one length, as it goes along one axis")

type options struct {
	lengths []int
	norm    string
}

// Length cuts lines to n elements, or continues them with zeros: of each axis in turn,
// for a transform over several; 0 is the axis's own length. Of inverse real transforms
// it is the length of the result.
func Length(n ...int) Option { return func(o *options) { o.lengths = n } }

// Norm is what transforms are divided by: "backward", which is the default, divides the
// inverse by its length, "forward" the other, and "ortho" each by its root.
func Norm(norm string) Option { return func(o *options) { o.norm = norm } }

func settled(opts []Option) options {
	var o options
	for _, f := range opts {
		f(&o)
	}
	return o
}

func along(kind fft.Kind, a *oocore.Array, axis int, opts []Option) *oocore.Array {
	return line(string(kind), a, axis, opts, func(site graph.Site, n *graph.Node, length, axis int, norm string) (*graph.Node, error) {
		return fft.Along(site, kind, n, length, axis, norm)
	})
}

func line(name string, a *oocore.Array, axis int, opts []Option, f func(site graph.Site, n *graph.Node, length, axis int, norm string) (*graph.Node, error)) *oocore.Array {
	return oocore.Build(name, func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		o := settled(opts)
		if len(o.lengths) > 1 {
			return nil, graph.Reject(site, name, errLengths, in...)
		}
		return f(site, in[0], append(o.lengths, 0)[0], axis, o.norm)
	}, a)
}

func over(kind fft.Kind, a *oocore.Array, axes []int, opts []Option) *oocore.Array {
	return oocore.Build(string(kind)+"n", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		o := settled(opts)
		return fft.Over(site, kind, in[0], o.lengths, axes, o.norm)
	}, a)
}

// FFT returns the transform along an axis: element k of a line is the sum over j of
// x[j]·exp(-2πijk/n).
func FFT(a *oocore.Array, axis int, opts ...Option) *oocore.Array {
	return along(fft.Forward, a, axis, opts)
}

// IFFT returns the inverse of FFT.
func IFFT(a *oocore.Array, axis int, opts ...Option) *oocore.Array {
	return along(fft.Inverse, a, axis, opts)
}

// RFFT returns the first n/2+1 elements of FFT of real lines; the others are their
// conjugates.
func RFFT(a *oocore.Array, axis int, opts ...Option) *oocore.Array {
	return along(fft.RealForward, a, axis, opts)
}

// IRFFT returns the inverse of RFFT: real lines, of an even length where none is given.
func IRFFT(a *oocore.Array, axis int, opts ...Option) *oocore.Array {
	return along(fft.RealInverse, a, axis, opts)
}

// HFFT returns the real spectrum of lines whose second half is the conjugate of the first,
// which is given.
func HFFT(a *oocore.Array, axis int, opts ...Option) *oocore.Array {
	return line("hfft", a, axis, opts, fft.Hermitian)
}

// IHFFT returns the inverse of HFFT.
func IHFFT(a *oocore.Array, axis int, opts ...Option) *oocore.Array {
	return line("ihfft", a, axis, opts, fft.InverseHermitian)
}

// FFTN returns the transform along several axes, the last first. No axes are all, or as many
// last ones as there are lengths.
func FFTN(a *oocore.Array, axes []int, opts ...Option) *oocore.Array {
	return over(fft.Forward, a, axes, opts)
}

// IFFTN returns the inverse of FFTN.
func IFFTN(a *oocore.Array, axes []int, opts ...Option) *oocore.Array {
	return over(fft.Inverse, a, axes, opts)
}

// RFFTN is RFFT along the last of the axes and FFT along the others.
func RFFTN(a *oocore.Array, axes []int, opts ...Option) *oocore.Array {
	return over(fft.RealForward, a, axes, opts)
}

// IRFFTN returns the inverse of RFFTN.
func IRFFTN(a *oocore.Array, axes []int, opts ...Option) *oocore.Array {
	return over(fft.RealInverse, a, axes, opts)
}

// FFTShift puts frequency zero in the middle of axes; no axes are all. It is part of
// whatever reads it, with no pass of its own.
func FFTShift(a *oocore.Array, axes ...int) *oocore.Array {
	return oocore.Build("fftshift", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return fft.Shift(site, in[0], axes...)
	}, a)
}

// IFFTShift returns the inverse of FFTShift.
func IFFTShift(a *oocore.Array, axes ...int) *oocore.Array {
	return oocore.Build("ifftshift", func(site graph.Site, in []*graph.Node) (*graph.Node, error) {
		return fft.InverseShift(site, in[0], axes...)
	}, a)
}

// Freq returns the frequencies of FFT's n elements for a line that is sampled every d, in
// cycles by the unit of d, as float64.
func Freq(n int, d float64) *oocore.Array {
	return oocore.Build("fftfreq", func(site graph.Site, _ []*graph.Node) (*graph.Node, error) {
		return fft.Frequencies(site, n, d)
	})
}

// RFreq returns the frequencies of RFFT's n/2+1 elements.
func RFreq(n int, d float64) *oocore.Array {
	return oocore.Build("rfftfreq", func(site graph.Site, _ []*graph.Node) (*graph.Node, error) {
		return fft.RealFrequencies(site, n, d)
	})
}
