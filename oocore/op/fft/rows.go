package fft

import (
	"github.com/gonbext/gonbext/oocore/graph"
	"github.com/gonbext/gonbext/oocore/op"
)

const (
	one   = "1 read, 1 written; n of 0 is the axis's own length"
	each  = "1 read and 1 written for each axis, 2 where blocks have to be turned between them"
	lines = "whole lines: about 4 MiB of them, or one, in the input's type, the result's, and in complex128 three times or more"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Usage: `fft(x, n=0, axis=-1, "norm"=)`, NumPy: "np.fft.fft", Passes: one, Holds: lines, Build: line(Forward), Examples: "fft(s, 0, 1)",
		Go: "fft.FFT"},
	{Usage: `fftn(x, axes..., "s=8,8", "norm"=)`, NumPy: "np.fft.fftn", Passes: each, Holds: lines, Build: axes(Forward),
		Go: "fft.FFTN"},
	{Usage: `fft2(x, "s=8,8", "norm"=)`, NumPy: "np.fft.fft2", Passes: "as fftn", Holds: lines, Build: plane(Forward), Examples: `fft2(slice(s, "0:8192"))`},
	{Usage: `ifft(x, n=0, axis=-1, "norm"=)`, NumPy: "np.fft.ifft", Passes: one, Holds: lines, Build: line(Inverse),
		Go: "fft.IFFT"},
	{Usage: `ifftn(x, axes..., "s=8,8", "norm"=)`, NumPy: "np.fft.ifftn", Passes: each, Holds: lines, Build: axes(Inverse),
		Go: "fft.IFFTN"},
	{Usage: `ifft2(x, "s=8,8", "norm"=)`, NumPy: "np.fft.ifft2", Passes: "as ifftn", Holds: lines, Build: plane(Inverse)},
	{Usage: `rfft(x, n=0, axis=-1, "norm"=)`, NumPy: "np.fft.rfft", Passes: one, Holds: lines, Build: line(RealForward), Examples: "rfft(s, 0, 1); rfft(s, 0, 0)",
		Go: "fft.RFFT"},
	{Usage: `rfftn(x, axes..., "s=8,8", "norm"=)`, NumPy: "np.fft.rfftn", Passes: each, Holds: lines, Build: axes(RealForward),
		Go: "fft.RFFTN"},
	{Usage: `rfft2(x, "s=8,8", "norm"=)`, NumPy: "np.fft.rfft2", Passes: "as rfftn", Holds: lines, Build: plane(RealForward)},
	{Usage: `irfft(x, n=0, axis=-1, "norm"=)`, NumPy: "np.fft.irfft", Passes: one, Holds: lines, Build: line(RealInverse),
		Go: "fft.IRFFT"},
	{Usage: `irfftn(x, axes..., "s=8,8", "norm"=)`, NumPy: "np.fft.irfftn", Passes: each, Holds: lines, Build: axes(RealInverse),
		Go: "fft.IRFFTN"},
	{Usage: `irfft2(x, "s=8,8", "norm"=)`, NumPy: "np.fft.irfft2", Passes: "as irfftn", Holds: lines, Build: plane(RealInverse)},
	{Usage: `hfft(x, n=0, axis=-1, "norm"=)`, NumPy: "np.fft.hfft", Passes: one, Holds: lines, Build: Hermitian,
		Go: "fft.HFFT"},
	{Usage: `ihfft(x, n=0, axis=-1, "norm"=)`, NumPy: "np.fft.ihfft", Passes: one, Holds: lines, Build: InverseHermitian,
		Go: "fft.IHFFT"},
	{Usage: "fftshift(x, axes...)", NumPy: "np.fft.fftshift", Build: Shift, Examples: "fftshift(s)",
		Go: "fft.FFTShift"},
	{Usage: "ifftshift(x, axes...)", NumPy: "np.fft.ifftshift", Build: InverseShift,
		Go: "fft.IFFTShift"},
	{Usage: "fftfreq(n, d=1)", NumPy: "np.fft.fftfreq", Build: Frequencies,
		Go: "fft.Freq"},
	{Usage: "rfftfreq(n, d=1)", NumPy: "np.fft.rfftfreq", Build: RealFrequencies,
		Go: "fft.RFreq"},
}

func line(kind Kind) any {
	return func(site graph.Site, x *graph.Node, n, axis int, norm string) (*graph.Node, error) {
		return Along(site, kind, x, n, axis, norm)
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
