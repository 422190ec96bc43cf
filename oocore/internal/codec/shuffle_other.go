//go:build !amd64

package codec

// There are no vector loops here: those in Go do all elements.

func shuffleGroups(dst, src []byte, size, plane int) (done int)   { return 0 }
func unshuffleGroups(dst, src []byte, size, plane int) (done int) { return 0 }
func splitGroups(dst, src []byte, row int) (done int)             { return 0 }
func joinGroups(dst, src []byte, row int) (done int)              { return 0 }

func levels8AVX2(rows int, x, w, xw, lane *float32, low, high int32) {}
func errors8AVX2(rows int, x, w, lane *float32, low, high int32)     {}
