package dl

import "unsafe"

// Text copies a string of C that a library owns.
func Text(p uintptr) string {
	var s []byte
	for at := *(*unsafe.Pointer)(unsafe.Pointer(&p)); at != nil && *(*byte)(at) != 0; at = unsafe.Add(at, 1) {
		s = append(s, *(*byte)(at))
	}
	return string(s)
}
