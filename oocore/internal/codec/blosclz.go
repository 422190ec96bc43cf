package codec

import "errors"

var errBloscLZ = errors.New("blosclz: the data are damaged")

// bloscLZ decodes Blosc's own format. Each instruction is a byte: below 32 so many
// bytes and one follow as they are; otherwise its upper three bits are a length and the
// lower five, with the next byte, a distance back to what is repeated. Lengths of seven
// and distances of all ones continue in further bytes.
func bloscLZ(dst, src []byte) (int, error) {
	const far = 8191 // the first distance that takes two more bytes
	if len(src) == 0 {
		return 0, ErrShort
	}
	op, ip := 0, 1
	for control := int(src[0]) & 31; ; ip++ {
		if control < 32 {
			n := control + 1
			if n > len(dst)-op || n > len(src)-ip {
				return 0, errBloscLZ
			}
			op += copy(dst[op:], src[ip:ip+n])
			ip += n
		} else {
			n, back := control>>5-1, control&31<<8
			if n == 6 {
				for more := 255; more == 255; ip++ {
					if ip >= len(src) {
						return 0, errBloscLZ
					}
					more = int(src[ip])
					n += more
				}
			}
			if ip >= len(src) {
				return 0, errBloscLZ
			}
			low := int(src[ip])
			ip++
			if back += low; back == far {
				if ip+2 > len(src) {
					return 0, errBloscLZ
				}
				back = far + int(src[ip])<<8 + int(src[ip+1])
				ip += 2
			}
			back++
			n += 3
			if back > op || n > len(dst)-op {
				return 0, errBloscLZ
			}
			repeat(dst[op-back:op+n], back)
			op += n
		}
		if ip >= len(src) {
			return op, nil
		}
		control = int(src[ip])
	}
}

// repeat fills b with repetitions of its first period bytes.
func repeat(b []byte, period int) {
	for at := period; at < len(b); {
		at += copy(b[at:], b[:at])
	}
}
