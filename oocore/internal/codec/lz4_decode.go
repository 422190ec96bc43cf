package codec

import (
	"encoding/binary"
	"errors"
)

var errLZ4 = errors.New("the block is damaged")

// decodeLZ4 decodes a block, and returns its size. A block is sequences: a byte with
// two lengths, of bytes as they are and of a repetition, both continuing in further bytes
// from 15 on; the bytes; and how far back the repetition lies. The last one has only
// bytes.
//
// The format's rules for the end of a block are those for a block that fills dst: no
// repetition begins in its last 12 bytes or reaches its last 5. The format's own library
// rejects such blocks too.
func decodeLZ4(dst, src []byte) (int, error) {
	const noRepetition, onlyBytes = 12, 5
	const short = 16 // copied at once, and more often than not enough
	op, ip := 0, 0
	for ip < len(src) {
		token := src[ip]
		ip++
		n := int(token >> 4)
		if n < 15 && ip+short <= len(src) && op+short <= len(dst) {
			copy(dst[op:op+short], src[ip:ip+short])
		} else {
			if n == 15 {
				var more int
				if more, ip = lengthLZ4(src, ip); ip < 0 {
					return 0, ErrShort
				}
				n += more
			}
			if n > len(src)-ip || n > len(dst)-op {
				return 0, errLZ4
			}
			copy(dst[op:op+n], src[ip:ip+n])
		}
		ip, op = ip+n, op+n
		if ip == len(src) {
			return op, nil
		}
		if ip+2 > len(src) {
			return 0, ErrShort
		}
		back := int(binary.LittleEndian.Uint16(src[ip:]))
		ip += 2
		if back == 0 || back > op || op > len(dst)-noRepetition {
			return 0, errLZ4
		}
		n = int(token & 15)
		if n == 15 {
			var more int
			if more, ip = lengthLZ4(src, ip); ip < 0 {
				return 0, ErrShort
			}
			n += more
		}
		n += 4
		if n > len(dst)-op-onlyBytes {
			return 0, errLZ4
		}
		if n <= short && back >= short && op+short <= len(dst) {
			copy(dst[op:op+short], dst[op-back:op-back+short])
		} else {
			repeat(dst[op-back:op+n], back)
		}
		op += n
	}
	return 0, ErrShort
}

// lengthLZ4 reads the rest of a length; at is -1 where it does not end.
func lengthLZ4(src []byte, ip int) (n, at int) {
	for ; ip < len(src); ip++ {
		n += int(src[ip])
		if src[ip] != 255 {
			return n, ip + 1
		}
	}
	return 0, -1
}
