//go:build !amd64

package codec

// hasAVX2 is false where there is none; tests set it.
var hasAVX2 = false
