package codec

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// inGo turns the vector loops off, until the function that it returns is called.
func inGo() func() {
	had := hasAVX2
	hasAVX2 = false
	return func() { hasAVX2 = had }
}

// TestShuffles holds the loops to the definition, and vector loops to those in Go.
func TestShuffles(t *testing.T) {
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 8, 12, 16, 17, 255}).Draw(t, "size")
		n := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, 9000)).Draw(t, "elements")
		if rapid.Bool().Draw(t, "eights") {
			n &^= 7
		}
		src := make([]byte, n*size+rapid.IntRange(0, size-1).Draw(t, "rest"))
		for i := range src {
			src[i] = byte(i*i*31 + i>>3)
		}
		defined := make([]byte, len(src))
		copy(defined, src)
		for i := range n {
			for j := range size {
				defined[j*n+i] = src[i*size+j]
			}
		}
		bits := make([]byte, len(src))
		copy(bits, src)
		if n%8 == 0 {
			clear(bits[:n*size])
			for i := range n {
				for j := range size {
					for k := range 8 {
						bits[(8*j+k)*(n/8)+i/8] |= src[i*size+j] >> k & 1 << (i % 8)
					}
				}
			}
		}
		check := func(level string) {
			for mode, want := range map[shuffleMode][]byte{byteShuffle: defined, bitShuffle: bits} {
				const guard = 0xa5
				got := bytes.Repeat([]byte{guard}, len(src)+64)
				shuffleBlock(mode, got[:len(src)], src, size)
				if !bytes.Equal(got[:len(src)], want) {
					t.Fatalf("%s: %s of %d elements of %d bytes is wrong", level, shuffleNames[mode], n, size)
				}
				back := bytes.Repeat([]byte{guard}, len(src)+64)
				unshuffle(mode, back[:len(src)], want, size)
				if !bytes.Equal(back[:len(src)], src) {
					t.Fatalf("%s: %s of %d elements of %d bytes is not undone", level, shuffleNames[mode], n, size)
				}
				for i := len(src); i < len(got); i++ {
					if got[i] != guard || back[i] != guard {
						t.Fatalf("%s: %s of %d elements of %d bytes writes past the end", level, shuffleNames[mode], n, size)
					}
				}
			}
		}
		check("vectors")
		defer inGo()()
		check("Go")
	})
}

func BenchmarkShuffle(b *testing.B) {
	src, dst := make([]byte, 512<<10), make([]byte, 512<<10)
	for _, mode := range []shuffleMode{byteShuffle, bitShuffle} {
		for _, size := range []int{1, 2, 4, 8, 16} {
			for name, f := range map[string]func(shuffleMode, []byte, []byte, int){"do": shuffleBlock, "undo": unshuffle} {
				b.Run(fmt.Sprintf("%s/%d/%s", shuffleNames[mode], size, name), func(b *testing.B) {
					b.SetBytes(int64(len(src)))
					for b.Loop() {
						f(mode, dst, src, size)
					}
				})
			}
		}
	}
}
