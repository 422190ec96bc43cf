package codec

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// Blocks in a core's cache; bytes are those of the floats.
func BenchmarkGGML(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(ggmls)) {
		g := ggmls[name]
		src, dst := make([]byte, 1<<16/g.floats*g.bytes), make([]byte, 4<<16)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				if _, err := g.decode(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
