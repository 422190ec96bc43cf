package strided

import "encoding/binary"

// Gather copies the runs, one after the other, from src to dst. src[0] is byte
// at of the array.
func (l Layout) Gather(dst, src []byte, at int64) {
	if l.Run == 0 {
		return
	}
	axes, row := l.Axes, Axis{Count: 1}
	if n := len(axes); n > 0 {
		axes, row = axes[:n-1], axes[n-1]
	}
	runs(axes, l.Start-at, func(from int64) bool {
		gatherRow(dst, src, int(from), row.Count, int(row.Stride), l.Run)
		dst = dst[row.Count*l.Run:]
		return true
	})
}

// gatherRow copies count runs that lie stride bytes apart. Runs of one
// element's size, what a slice with a step has, are moved as a register.
func gatherRow(dst, src []byte, from, count, stride, run int) {
	le := binary.LittleEndian
	switch run {
	case 1:
		for i := range count {
			dst[i] = src[from]
			from += stride
		}
	case 2:
		for range count {
			le.PutUint16(dst, le.Uint16(src[from:]))
			dst, from = dst[2:], from+stride
		}
	case 4:
		for range count {
			le.PutUint32(dst, le.Uint32(src[from:]))
			dst, from = dst[4:], from+stride
		}
	case 8:
		for range count {
			le.PutUint64(dst, le.Uint64(src[from:]))
			dst, from = dst[8:], from+stride
		}
	default:
		for range count {
			copy(dst[:run], src[from:from+run])
			dst, from = dst[run:], from+stride
		}
	}
}

// Scatter copies src to the runs in dst. dst[0] is byte at of the array.
func (l Layout) Scatter(dst, src []byte, at int64) {
	l.Runs(func(to int64) bool {
		copy(dst[to-at:to-at+int64(l.Run)], src)
		src = src[l.Run:]
		return true
	})
}
