//go:build !amd64

package fft

// vectorPass does nothing of what it does elsewhere.
func vectorPass(_, _ []complex128, _, _, _ int, _ []complex128, _ int) bool { return false }

const lanes = 0
