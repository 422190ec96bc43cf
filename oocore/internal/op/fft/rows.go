package fft

import (
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

const (
	one   = "1 read, 1 written; n of 0 is the axis's own length"
	each  = "1 read and 1 written for each axis, 2 where blocks have to be turned between them"
	lines = "whole lines: about 4 MiB of them, or one, in the input's type, the result's, and in complex128 three times or more"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: `fft(x, n, axis=-1, "norm"=)`, NumPy: "np.fft.fft", Passes: one, Holds: lines, Build: single(Forward), Examples: "fft(s, 0, 1)",
		Go: "fft.FFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `FFT returns the transform along an axis: element k of a line is the sum over j of x[j]·exp(-2πijk/n).`},
	{Usage: `fftn(x, axes..., "s=8,8", "norm"=)`, NumPy: "np.fft.fftn", Passes: each, Holds: lines, Build: axes(Forward),
		Go: "fft.FFTN(a *Array, axes []int, opts ...Option) = a, axes, lengths(opts), norm(opts)", Doc: `FFTN returns the transform along several axes, the last first. No axes are all, or as many last ones as there are lengths.`},
	{Usage: `fft2(x, "s=8,8", "norm"=)`, NumPy: "np.fft.fft2", Passes: "as fftn", Holds: lines, Build: plane(Forward), Examples: `fft2(slice(s, "0:8192"))`},
	{Usage: `ifft(x, n, axis=-1, "norm"=)`, NumPy: "np.fft.ifft", Passes: one, Holds: lines, Build: single(Inverse),
		Go: "fft.IFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `IFFT returns the inverse of FFT.`},
	{Usage: `ifftn(x, axes..., "s=8,8", "norm"=)`, NumPy: "np.fft.ifftn", Passes: each, Holds: lines, Build: axes(Inverse),
		Go: "fft.IFFTN(a *Array, axes []int, opts ...Option) = a, axes, lengths(opts), norm(opts)", Doc: `IFFTN returns the inverse of FFTN.`},
	{Usage: `ifft2(x, "s=8,8", "norm"=)`, NumPy: "np.fft.ifft2", Passes: "as ifftn", Holds: lines, Build: plane(Inverse)},
	{Usage: `rfft(x, n, axis=-1, "norm"=)`, NumPy: "np.fft.rfft", Passes: one, Holds: lines, Build: single(RealForward), Examples: "rfft(s, 0, 1); rfft(s, 0, 0)",
		Go: "fft.RFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `RFFT returns the first n/2+1 elements of FFT of real lines; the others are their conjugates.`},
	{Usage: `rfftn(x, axes..., "s=8,8", "norm"=)`, NumPy: "np.fft.rfftn", Passes: each, Holds: lines, Build: axes(RealForward),
		Go: "fft.RFFTN(a *Array, axes []int, opts ...Option) = a, axes, lengths(opts), norm(opts)", Doc: `RFFTN is RFFT along the last of the axes and FFT along the others.`},
	{Usage: `rfft2(x, "s=8,8", "norm"=)`, NumPy: "np.fft.rfft2", Passes: "as rfftn", Holds: lines, Build: plane(RealForward)},
	{Usage: `irfft(x, n, axis=-1, "norm"=)`, NumPy: "np.fft.irfft", Passes: one, Holds: lines, Build: single(RealInverse),
		Go: "fft.IRFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `IRFFT returns the inverse of RFFT: real lines, of an even length where none is given.`},
	{Usage: `irfftn(x, axes..., "s=8,8", "norm"=)`, NumPy: "np.fft.irfftn", Passes: each, Holds: lines, Build: axes(RealInverse),
		Go: "fft.IRFFTN(a *Array, axes []int, opts ...Option) = a, axes, lengths(opts), norm(opts)", Doc: `IRFFTN returns the inverse of RFFTN.`},
	{Usage: `irfft2(x, "s=8,8", "norm"=)`, NumPy: "np.fft.irfft2", Passes: "as irfftn", Holds: lines, Build: plane(RealInverse)},
	{Usage: `hfft(x, n, axis=-1, "norm"=)`, NumPy: "np.fft.hfft", Passes: one, Holds: lines, Build: line("hfft", Hermitian),
		Go: "fft.HFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `HFFT returns the real spectrum of lines whose second half is the conjugate of the first, which is given.`},
	{Usage: `ihfft(x, n, axis=-1, "norm"=)`, NumPy: "np.fft.ihfft", Passes: one, Holds: lines, Build: line("ihfft", InverseHermitian),
		Go: "fft.IHFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `IHFFT returns the inverse of HFFT.`},
	{Usage: "fftshift(x, axes...)", NumPy: "np.fft.fftshift", Build: Shift, Examples: "fftshift(s)",
		Go: "fft.FFTShift(a *Array, axes ...int)", Doc: `FFTShift puts frequency zero in the middle of axes; no axes are all.`},
	{Usage: "ifftshift(x, axes...)", NumPy: "np.fft.ifftshift", Build: InverseShift,
		Go: "fft.IFFTShift(a *Array, axes ...int)", Doc: `IFFTShift returns the inverse of FFTShift.`},
	{Usage: "fftfreq(n, d=1)", NumPy: "np.fft.fftfreq", Build: Frequencies,
		Go: "fft.Freq(n int, d float64)", Doc: `Freq returns the frequencies of FFT's n elements for a line that is sampled every d, in cycles by the unit of d, as float64.`},
	{Usage: "rfftfreq(n, d=1)", NumPy: "np.fft.rfftfreq", Build: RealFrequencies,
		Go: "fft.RFreq(n int, d float64)", Doc: `RFreq returns the frequencies of RFFT's n/2+1 elements.`},
}

func single(kind Kind) any {
	return line(string(kind), func(site graph.Site, x *graph.Node, n, axis int, norm string) (*graph.Node, error) {
		return Along(site, kind, x, n, axis, norm)
	})
}

func line(name string, f func(site graph.Site, x *graph.Node, n, axis int, norm string) (*graph.Node, error)) any {
	return func(site graph.Site, x *graph.Node, n []int, axis int, norm string) (*graph.Node, error) {
		if len(n) > 1 {
			return nil, graph.Reject(site, name, errors.New("takes one length, as it goes along one axis"), x)
		}
		return f(site, x, append(n, 0)[0], axis, norm)
	}
}

func axes(kind Kind) any {
	return func(site graph.Site, x *graph.Node, axes, lengths []int, norm string) (*graph.Node, error) {
		return Over(site, kind, x, lengths, axes, norm)
	}
}

func plane(kind Kind) any {
	return func(site graph.Site, x *graph.Node, lengths []int, norm string) (*graph.Node, error) {
		return Over(site, kind, x, lengths, []int{-2, -1}, norm)
	}
}
