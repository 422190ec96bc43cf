package codec

import "unsafe"

//go:generate go run ./internal/asm -out shuffle_amd64.s -stubs shuffle_stubs_amd64.go -pkg codec

// shuffleGroups does as many elements from the first on as the vector loops can, and
// returns their number. plane is the distance of the rows.
func shuffleGroups(dst, src []byte, size, plane int) (done int) {
	d, s := unsafe.SliceData(dst), unsafe.SliceData(src)
	group, groups := groupsOf(size, len(src))
	if groups == 0 {
		return 0
	}
	switch size {
	case 2:
		shuffle2AVX2(d, s, plane, groups)
	case 4:
		shuffle4AVX2(d, s, plane, groups)
	case 8:
		shuffle8AVX2(d, s, plane, groups)
	case 16:
		shuffle16AVX2(d, s, plane, groups)
	default:
		return 0
	}
	return groups * group
}

// unshuffleGroups undoes shuffleGroups.
func unshuffleGroups(dst, src []byte, size, plane int) (done int) {
	d, s := unsafe.SliceData(dst), unsafe.SliceData(src)
	group, groups := groupsOf(size, len(dst))
	if groups == 0 {
		return 0
	}
	switch size {
	case 2:
		unshuffle2AVX2(d, s, plane, groups)
	case 4:
		unshuffle4AVX2(d, s, plane, groups)
	case 8:
		unshuffle8AVX2(d, s, plane, groups)
	case 16:
		unshuffle16AVX2(d, s, plane, groups)
	default:
		return 0
	}
	return groups * group
}

// groupsOf is the number of elements that a loop does at a time, and how often.
func groupsOf(size, bytes int) (group, groups int) {
	if !hasAVX2 {
		return 0, 0
	}
	if group = 32; size == 16 {
		group = 16
	}
	return group, bytes / size / group
}

// splitGroups puts the bits of as many bytes as the vector loop can into eight rows.
func splitGroups(dst, src []byte, row int) (done int) {
	groups := len(src) / 256
	if !hasAVX2 || groups == 0 {
		return 0
	}
	shuffleBitsAVX2(unsafe.SliceData(dst), unsafe.SliceData(src), row, groups)
	return groups * 256
}

// joinGroups undoes splitGroups.
func joinGroups(dst, src []byte, row int) (done int) {
	groups := len(dst) / 256
	if !hasAVX2 || groups == 0 {
		return 0
	}
	unshuffleBitsAVX2(unsafe.SliceData(dst), unsafe.SliceData(src), row, groups)
	return groups * 256
}
