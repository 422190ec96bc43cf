//go:build !amd64

package kernel

const hasAVX2, hasAVX512 = false, false
