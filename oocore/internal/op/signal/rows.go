// Package signal has the operations of sampled signals along an axis, as scipy.signal has them: filters with a memory,
// other sampling rates, and spectra of segments.
package signal

import (
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

const (
	recursive = "2 that read, 1 where lines are short"
	spectral  = "8 MiB of spectra or of signals, the other side of these, and a few segments in complex128 three times"
)

// Rows are the operations of this package.
var Rows = []op.Row{
	{Name: "lfilter", NumPy: "scipy.signal.lfilter", Passes: recursive + " or the filter has no denominator", Holds: "256 KiB, and what the filter remembers of each line", Build: op.Build(lfilter), Examples: `lfilter("0.2", "1, -0.8", x, 0); lfilter("0.5, 0.5", "1", x, 1)`,
		Go: "filter.LFilter"},
	{Name: "sosfilt", NumPy: "scipy.signal.sosfilt", Passes: recursive, Holds: "256 KiB, and what the filter remembers of each line", Build: op.Build(sosfilt), Examples: `sosfilt("0.2, 0.2, 0, 1, -0.6, 0", x, 0)`,
		Go: "filter.SOSFilt"},
	{Name: "sosfiltfilt", NumPy: "scipy.signal.sosfiltfilt", Passes: "2 that read and 1 that writes there, and 2 that read back", Holds: "as sosfilt", Build: op.Build(sosfiltfilt), Examples: `sosfiltfilt("0.2, 0.2, 0, 1, -0.6, 0", x, 0)`,
		Go: "filter.SOSFiltFilt"},
	{Name: "resample_poly", NumPy: "scipy.signal.resample_poly", Passes: op.Fused + `; 1 of a padtype that reduces lines`, Holds: "what the filter shows of a box", Build: op.Build(ResamplePoly), Examples: "resample_poly(x, 2, 3, 0); resample_poly(x, 1, 4, 1)",
		Go: "filter.ResamplePoly(a *Array, up, down, axis int, o ResampleOptions) = a, up, down, axis, o.window(), o.padType(), o.Value", Doc: `ResamplePoly returns the signals along an axis at up/down times their sampling rate, through a low-pass filter without a shift in phase: scipy.signal.resample_poly. The result has n·up/down elements along the axis, rounded up; float64 of integers.`},
	{Name: "stft", NumPy: "scipy.signal.stft, its Zxx", Passes: "1 read, 1 written", Holds: spectral, Build: op.Build(STFT), Examples: `stft(x, 0, "nperseg=64")`,
		Go: "fft.STFT(a *Array, axis int, o SegmentOptions) = a, axis, or(o.FS, 1), or(o.Window, \"hann\"), o.NPerSeg, o.overlap(), o.NFFT, o.TwoSided, or(o.Detrend, \"false\"), or(o.Scaling, \"spectrum\"), or(o.Boundary, \"zeros\"), o.Unpadded", Doc: `STFT returns the short-time Fourier transform along an axis, scipy.signal.stft's Zxx: frequencies, those of RFreq(nfft, 1/fs), lie along the axis, and segments, whose middles are (nperseg-noverlap)/fs apart, along a new last one. Complex signals have all frequencies of Freq.`},
	{Name: "welch", NumPy: "scipy.signal.welch, its Pxx", Passes: "1; a median 2 read, 1 written", Holds: spectral, Build: op.Build(Welch), Examples: `welch(x, 0, "nperseg=64")`,
		Go: "fft.Welch(a *Array, axis int, o SegmentOptions) = a, axis, or(o.FS, 1), or(o.Window, \"hann\"), o.NPerSeg, o.overlap(), o.NFFT, o.TwoSided, or(o.Detrend, \"constant\"), or(o.Scaling, \"density\"), or(o.Average, \"mean\")", Doc: `Welch returns the power spectral density along an axis by Welch's method, scipy.signal.welch's Pxx: the mean over overlapping segments of their squared spectra, at the frequencies RFreq(nfft, 1/fs).`},
}

// Arguments, by the operation.
type (
	lfilterArgs struct {
		B, A op.Value
		X    *graph.Node
		Axis int `default:"-1"`
		Read op.Labels
	}
	sosArgs struct {
		SOS  op.Value
		X    *graph.Node
		Axis int `default:"-1"`
		Read op.Labels
	}
	sosfiltfiltArgs struct {
		SOS  op.Value
		X    *graph.Node
		Axis int `default:"-1"`
		Extension
		Read op.Labels
	}
	// Extension is how lines are continued at both ends: by PadLen elements, -1 being as many as SciPy's default.
	Extension struct {
		PadType string `word:"odd" default:"odd"`
		PadLen  int    `word:"9" default:"-1"`
	}
	// ResampleArgs are the arguments of resample_poly. Window is of the filter.
	ResampleArgs struct {
		X        *graph.Node
		Up, Down int
		Axis     int     `default:"0"`
		Window   string  `word:"kaiser,5.0" default:"kaiser,5.0"`
		PadType  string  `word:"constant" default:"constant"`
		Value    float64 `usage:"cval" word:"0"`
	}
	// Segments are the arguments that stft and welch share. An NPerSeg of 0 is 256 or the length of shorter lines, an
	// NOverlap of -1 half of it, and an NFFT of 0 all of it.
	Segments struct {
		FS       float64 `word:"1" default:"1"`
		Window   string  `word:"hann" default:"hann"`
		NPerSeg  int     `word:"256" default:"0"`
		NOverlap int     `word:"128" default:"-1"`
		NFFT     int     `word:"256" default:"0"`
		TwoSided bool    `usage:"return_onesided=false"`
	}
	// STFTArgs are the arguments of stft.
	STFTArgs struct {
		X    *graph.Node
		Axis int `default:"-1"`
		Segments
		Detrend  string `word:"constant" default:"false"`
		Scaling  string `word:"psd" default:"spectrum"`
		Boundary string `word:"even" default:"zeros"`
		Unpadded bool   `usage:"padded=false"`
	}
	// WelchArgs are the arguments of welch.
	WelchArgs struct {
		X    *graph.Node
		Axis int `default:"-1"`
		Segments
		Detrend string `word:"linear" default:"constant"`
		Scaling string `word:"spectrum" default:"density"`
		Average string `word:"median" default:"mean"`
	}
)
