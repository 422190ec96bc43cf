package fft

import "cmp"

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
