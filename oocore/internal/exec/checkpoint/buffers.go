package checkpoint

import "io"

// CopyBytes is the buffer through which results in memory are copied to the staging folder. It
// is part of the runtime's overhead, not of the arena.
const CopyBytes = 256 << 10

// ReadBuffers fills buffers, one after the other, from an offset of a file on.
func ReadBuffers(from io.ReaderAt, at int64, into [][]byte) error {
	for _, b := range into {
		if _, err := from.ReadAt(b, at); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return nil
}

// Length returns the number of bytes of all buffers.
func Length(all [][]byte) (n int64) {
	for _, b := range all {
		n += int64(len(b))
	}
	return n
}
