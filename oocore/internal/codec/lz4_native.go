package codec

import "runtime"

func (l *libLZ4) decompressor() lz4Decompressor {
	c := &caller{}
	return func(dst, src []byte) error {
		r := c.call(l.decompressSafe, address(src), address(dst), uintptr(len(src)), uintptr(len(dst)))
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		switch n := int(int32(r)); {
		case n < 0:
			return errLZ4
		case n < len(dst):
			return ErrShort
		}
		return nil
	}
}

func (l *libLZ4) memory(high bool) memory { return memory{arena: room(l.stateSize(high))} }

func (l *libLZ4) stateSize(high bool) int64 {
	if high {
		return int64(int32(call(l.sizeofStateHC)))
	}
	return int64(int32(call(l.sizeofState)))
}

func (l *libLZ4) compressor(high bool, level int, work []byte) lz4Compressor {
	memory, c := cutter{work}, &caller{}
	state := memory.cut(l.stateSize(high))
	compress := l.compressFast
	if high {
		compress = l.compressHC
	}
	return func(dst, src []byte) int {
		r := c.call(compress, address(state), address(src), address(dst), uintptr(len(src)), uintptr(len(dst)), uintptr(level))
		runtime.KeepAlive(state)
		runtime.KeepAlive(dst)
		runtime.KeepAlive(src)
		return max(int(int32(r)), 0)
	}
}
