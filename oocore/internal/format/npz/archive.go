package npz

import (
	"archive/zip"
	"encoding/binary"
	"math"
)

// entry is a member as the format describes it: once in front of its bytes, once
// in the directory (PKWARE's APPNOTE.TXT, 4.3.7 and 4.3.12).
type entry struct {
	zip.FileHeader
	source int64 // of its bytes in the old archive
	at     int64 // of its local header in the new one
}

// zip64 is the extra field for what does not fit into 32 bits.
const (
	zip64     = 1
	limit32   = math.MaxUint32 // and above does not fit
	limit16   = math.MaxUint16
	version20 = 20
	version45 = 45 // understands zip64
)

// local is the header in front of the member's bytes. Its length does not depend
// on the checksum.
func (e *entry) local() []byte {
	var extra []byte
	version := uint16(version20)
	size, packed := uint32(e.UncompressedSize64), uint32(e.CompressedSize64)
	if e.UncompressedSize64 >= limit32 || e.CompressedSize64 >= limit32 {
		extra = append16(extra, zip64, 16)
		extra = append64(extra, e.UncompressedSize64, e.CompressedSize64)
		version, size, packed = version45, limit32, limit32
	}
	b := append32(nil, 0x04034b50)
	b = append16(b, version, e.flags(), e.Method, e.ModifiedTime, e.ModifiedDate)
	b = append32(b, e.CRC32, packed, size)
	b = append16(b, uint16(len(e.Name)), uint16(len(extra)))
	b = append(b, e.Name...)
	return append(b, extra...)
}

// flags are the member's, without the one that says that its sizes follow it.
func (e *entry) flags() uint16 { return e.Flags &^ 8 }

// central is the member's part of the directory.
func (e *entry) central() []byte {
	var wide []byte
	fit := func(n uint64) uint32 {
		if n < limit32 {
			return uint32(n)
		}
		wide = append64(wide, n)
		return limit32
	}
	size, packed, at := fit(e.UncompressedSize64), fit(e.CompressedSize64), fit(uint64(e.at))
	extra, version := withoutZip64(e.Extra), uint16(version20)
	if wide != nil {
		extra = append(append16(nil, zip64, uint16(len(wide))), append(wide, extra...)...)
		version = version45
	}
	b := append32(nil, 0x02014b50)
	b = append16(b, e.CreatorVersion&0xff00|version, version, e.flags(), e.Method, e.ModifiedTime, e.ModifiedDate)
	b = append32(b, e.CRC32, packed, size)
	b = append16(b, uint16(len(e.Name)), uint16(len(extra)), uint16(len(e.Comment)), 0, 0)
	b = append32(b, e.ExternalAttrs, at)
	b = append(b, e.Name...)
	b = append(b, extra...)
	return append(b, e.Comment...)
}

// withoutZip64 drops the field that is written anew from a member's extra ones.
func withoutZip64(extra []byte) (rest []byte) {
	for len(extra) >= 4 {
		n := 4 + int(binary.LittleEndian.Uint16(extra[2:]))
		if n > len(extra) {
			break
		}
		if binary.LittleEndian.Uint16(extra) != zip64 {
			rest = append(rest, extra[:n]...)
		}
		extra = extra[n:]
	}
	return rest
}

// directory is what follows the members, which end at a place: their headers, and
// where these are.
func directory(entries []*entry, at int64) []byte {
	var b []byte
	for _, e := range entries {
		b = append(b, e.central()...)
	}
	n, size := uint64(len(entries)), uint64(len(b))
	if n >= limit16 || size >= limit32 || uint64(at) >= limit32 {
		record := uint64(at) + size
		b = append32(b, 0x06064b50)
		b = append64(b, 44) // bytes of this record that follow
		b = append16(b, version45, version45)
		b = append32(b, 0, 0) // disks
		b = append64(b, n, n, size, uint64(at))
		b = append32(b, 0x07064b50, 0)
		b = append64(b, record)
		b = append32(b, 1)
		n, size, at = min(n, limit16), min(size, limit32), min(at, limit32)
	}
	b = append32(b, 0x06054b50)
	b = append16(b, 0, 0, uint16(n), uint16(n))
	b = append32(b, uint32(size), uint32(at))
	return append16(b, 0)
}

func append16(b []byte, values ...uint16) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func append32(b []byte, values ...uint32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func append64(b []byte, values ...uint64) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}
