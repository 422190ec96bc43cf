package fft_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/fft"
)

// A line that repeats itself twice has one frequency beside its mean.
func ExampleRFFT() {
	line := oocore.FromSlice([]float64{3, 1, -1, 1, 3, 1, -1, 1})
	size, err := oocore.Collect[float64](context.Background(), fft.RFFT(line, 0).Abs())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(size)
	// Output: [8 0 8 0 0]
}

func ExampleWelch() {
	x := oocore.Full(1.0, 4096)
	p := fft.Welch(x, 0, fft.SegmentOptions{FS: 100, NPerSeg: 512})
	z := fft.STFT(x, 0, fft.SegmentOptions{FS: 100, NPerSeg: 512})
	fmt.Println(p.Shape(), z.Shape(), p.Err(), z.Err())
	// Output: [257] [257 17] <nil> <nil>
}
