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
	{Name: "fft", NumPy: "np.fft.fft", Passes: one, Holds: lines, Build: op.Build(AlongLine).With(LineArgs{Kind: Forward}), Examples: "fft(s, 0, 1)",
		Go: "fft.FFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `FFT returns the transform along an axis: element k of a line is the sum over j of x[j]·exp(-2πijk/n).`},
	{Name: "fftn", NumPy: "np.fft.fftn", Passes: each, Holds: lines, Build: op.Build(AlongAxes).With(AxesArgs{Kind: Forward}),
		Go: "fft.FFTN(a *Array, axes []int, opts ...Option) = a, axes, lengths(opts), norm(opts)", Doc: `FFTN returns the transform along several axes, the last first. No axes are all, or as many last ones as there are lengths.`},
	{Name: "fft2", Without: "Axes", NumPy: "np.fft.fft2", Passes: "as fftn", Holds: lines, Build: op.Build(alongPlane).With(AxesArgs{Kind: Forward}), Examples: `fft2(slice(s, "0:8192"))`},
	{Name: "ifft", NumPy: "np.fft.ifft", Passes: one, Holds: lines, Build: op.Build(AlongLine).With(LineArgs{Kind: Inverse}),
		Go: "fft.IFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `IFFT returns the inverse of FFT.`},
	{Name: "ifftn", NumPy: "np.fft.ifftn", Passes: each, Holds: lines, Build: op.Build(AlongAxes).With(AxesArgs{Kind: Inverse}),
		Go: "fft.IFFTN(a *Array, axes []int, opts ...Option) = a, axes, lengths(opts), norm(opts)", Doc: `IFFTN returns the inverse of FFTN.`},
	{Name: "ifft2", Without: "Axes", NumPy: "np.fft.ifft2", Passes: "as ifftn", Holds: lines, Build: op.Build(alongPlane).With(AxesArgs{Kind: Inverse})},
	{Name: "rfft", NumPy: "np.fft.rfft", Passes: one, Holds: lines, Build: op.Build(AlongLine).With(LineArgs{Kind: RealForward}), Examples: "rfft(s, 0, 1); rfft(s, 0, 0)",
		Go: "fft.RFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `RFFT returns the first n/2+1 elements of FFT of real lines; the others are their conjugates.`},
	{Name: "rfftn", NumPy: "np.fft.rfftn", Passes: each, Holds: lines, Build: op.Build(AlongAxes).With(AxesArgs{Kind: RealForward}),
		Go: "fft.RFFTN(a *Array, axes []int, opts ...Option) = a, axes, lengths(opts), norm(opts)", Doc: `RFFTN is RFFT along the last of the axes and FFT along the others.`},
	{Name: "rfft2", Without: "Axes", NumPy: "np.fft.rfft2", Passes: "as rfftn", Holds: lines, Build: op.Build(alongPlane).With(AxesArgs{Kind: RealForward})},
	{Name: "irfft", NumPy: "np.fft.irfft", Passes: one, Holds: lines, Build: op.Build(AlongLine).With(LineArgs{Kind: RealInverse}),
		Go: "fft.IRFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `IRFFT returns the inverse of RFFT: real lines, of an even length where none is given.`},
	{Name: "irfftn", NumPy: "np.fft.irfftn", Passes: each, Holds: lines, Build: op.Build(AlongAxes).With(AxesArgs{Kind: RealInverse}),
		Go: "fft.IRFFTN(a *Array, axes []int, opts ...Option) = a, axes, lengths(opts), norm(opts)", Doc: `IRFFTN returns the inverse of RFFTN.`},
	{Name: "irfft2", Without: "Axes", NumPy: "np.fft.irfft2", Passes: "as irfftn", Holds: lines, Build: op.Build(alongPlane).With(AxesArgs{Kind: RealInverse})},
	{Name: "hfft", NumPy: "np.fft.hfft", Passes: one, Holds: lines, Build: op.Build(HermitianLine),
		Go: "fft.HFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `HFFT returns the real spectrum of lines whose second half is the conjugate of the first, which is given.`},
	{Name: "ihfft", NumPy: "np.fft.ihfft", Passes: one, Holds: lines, Build: op.Build(InverseHermitianLine),
		Go: "fft.IHFFT(a *Array, axis int, opts ...Option) = a, lengths(opts), axis, norm(opts)", Doc: `IHFFT returns the inverse of HFFT.`},
	{Name: "fftshift", NumPy: "np.fft.fftshift", Build: op.Build(Shift), Examples: "fftshift(s)",
		Go: "fft.FFTShift(a *Array, axes ...int)", Doc: `FFTShift puts frequency zero in the middle of axes; no axes are all.`},
	{Name: "ifftshift", NumPy: "np.fft.ifftshift", Build: op.Build(InverseShift),
		Go: "fft.IFFTShift(a *Array, axes ...int)", Doc: `IFFTShift returns the inverse of FFTShift.`},
	{Name: "fftfreq", NumPy: "np.fft.fftfreq", Build: op.Build(Frequencies),
		Go: "fft.Freq(n int, d float64)", Doc: `Freq returns the frequencies of FFT's n elements for a line that is sampled every d, in cycles by the unit of d, as float64.`},
	{Name: "rfftfreq", NumPy: "np.fft.rfftfreq", Build: op.Build(RealFrequencies),
		Go: "fft.RFreq(n int, d float64)", Doc: `RFreq returns the frequencies of RFFT's n/2+1 elements.`},
}

// Arguments, by the operation.
type (
	LineArgs struct {
		Kind Kind `usage:"-"`
		X    *graph.Node
		N    []int  `most:"1"`
		Axis int    `default:"-1"`
		Norm string `default:""`
	}
	AxesArgs struct {
		Kind Kind `usage:"-"`
		X    *graph.Node
		Axes []int
		S    []int  `word:"8,8"`
		Norm string `default:""`
	}
	FreqArgs struct {
		N int
		D float64 `default:"1"`
	}
)

// AlongLine transforms along one axis.
func AlongLine(site graph.Site, a LineArgs) (*graph.Node, error) {
	return line(site, string(a.Kind), a, func(site graph.Site, x *graph.Node, n, axis int, norm string) (*graph.Node, error) {
		return Along(site, a.Kind, x, n, axis, norm)
	})
}

// HermitianLine is Hermitian along one axis.
func HermitianLine(site graph.Site, a LineArgs) (*graph.Node, error) {
	return line(site, "hfft", a, Hermitian)
}

// InverseHermitianLine is InverseHermitian along one axis.
func InverseHermitianLine(site graph.Site, a LineArgs) (*graph.Node, error) {
	return line(site, "ihfft", a, InverseHermitian)
}

func line(site graph.Site, name string, a LineArgs, f func(site graph.Site, x *graph.Node, n, axis int, norm string) (*graph.Node, error)) (*graph.Node, error) {
	if len(a.N) > 1 {
		return nil, graph.Reject(site, name, errors.New("takes one length, as it goes along one axis"), a.X)
	}
	return f(site, a.X, append(a.N, 0)[0], a.Axis, a.Norm)
}

// AlongAxes transforms along several axes.
func AlongAxes(site graph.Site, a AxesArgs) (*graph.Node, error) {
	return Over(site, a.Kind, a.X, a.S, a.Axes, a.Norm)
}

func alongPlane(site graph.Site, a AxesArgs) (*graph.Node, error) {
	return Over(site, a.Kind, a.X, a.S, []int{-2, -1}, a.Norm)
}
