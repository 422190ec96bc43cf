package codec

import (
	"encoding/binary"

	lib "github.com/klauspost/compress/zstd"
)

// StatedSize returns how many bytes a chunk says that it has decoded, whose last codec has this name in Zarr; false of a codec, or a chunk, that
// does not say. What it says is not trusted: decoding checks it.
func StatedSize(name string, encoded []byte) (int64, bool) {
	at := map[string]int{"blosc": 4, "lz4": 0, "gzip": len(encoded) - 4}
	switch name {
	case "", "bytes":
		return int64(len(encoded)), true
	case "zstd":
		var h lib.Header
		err := h.Decode(encoded)
		return int64(h.FrameContentSize), err == nil && h.HasFCS && h.FrameContentSize < 1<<40
	}
	from, known := at[name]
	if !known || from < 0 || from+4 > len(encoded) {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint32(encoded[from:])), true
}
