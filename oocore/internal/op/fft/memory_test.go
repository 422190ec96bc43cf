package fft_test

import (
	"context"

	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// memory is an input that is read whole.
type memory []byte

func (m memory) Read(_ context.Context, _ grid.Box, dst []byte) error {
	copy(dst, m)
	return nil
}
