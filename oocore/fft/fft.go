// Package fft is the discrete Fourier transform of arrays, under NumPy's names, and that of segments of them, STFT and
// Welch, under those of scipy.signal.
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

import "cmp"

// Option is a less common argument of a transform.
type Option struct{ set func(*options) }

type options struct {
	lengths []int
	norm    string
}

// Length cuts lines to n elements, or continues them with zeros: of each axis in turn,
// for a transform over several; 0 is the axis's own length. Of inverse real transforms
// it is the length of the result.
func Length(n ...int) Option { return Option{func(o *options) { o.lengths = n }} }

// Norm is what transforms are divided by: "backward", which is the default, divides the
// inverse by its length, "forward" the other, and "ortho" each by its root.
func Norm(norm string) Option { return Option{func(o *options) { o.norm = norm }} }

func applied(opts []Option) (o options) {
	for _, f := range opts {
		if f.set != nil {
			f.set(&o)
		}
	}
	return o
}

func lengths(opts []Option) []int { return applied(opts).lengths }

func norm(opts []Option) string { return applied(opts).norm }

// SegmentOptions are the arguments of STFT and Welch, under scipy.signal's names. The zero value has SciPy's defaults.
type SegmentOptions struct {
	FS        float64 // the sampling frequency; 0 is 1
	Window    string  // "hann", which "" is, "boxcar", "hamming", "blackman", "nuttall", "blackmanharris", "flattop", or "kaiser,5.0" with its beta
	NPerSeg   int     // elements of a segment; 0 is 256, or the length of shorter lines
	NOverlap  int     // elements that segments share; 0 is half of them
	NoOverlap bool    // none are shared
	NFFT      int     // the length of transforms, up to 65,536; 0 is a segment's
	TwoSided  bool    // real signals have all frequencies too
	Detrend   string  // what is taken off each segment: "constant", "linear" or "false"; "" is "false" of STFT and "constant" of Welch
	Scaling   string  // of STFT "spectrum", which "" is, or "psd"; of Welch "density", which "" is, or "spectrum"
	Boundary  string  // of STFT, how lines are continued by half a segment at both ends: "zeros", which "" is, "even", "odd", "constant" or "none"
	Unpadded  bool    // of STFT: elements that fill no segment at the end are left out
	Average   string  // of Welch: "mean", which "" is, or "median"
}

func (o SegmentOptions) overlap() int {
	if o.NoOverlap {
		return 0
	}
	return cmp.Or(o.NOverlap, -1)
}

func or[T comparable](v, otherwise T) T { return cmp.Or(v, otherwise) }
