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
