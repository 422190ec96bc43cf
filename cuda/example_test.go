package cuda_test

import (
	"fmt"
	"log"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/units"
)

// Half of the memory is free, and no block is longer than a quarter of it.
func ExampleGPU_Memory() {
	gpu := cuda.Model("64MiB")
	var quarters [4]*cuda.Buffer
	for i := range quarters {
		b, err := gpu.Alloc(16 << 20)
		if err != nil {
			log.Fatal(err)
		}
		defer b.Free()
		quarters[i] = b
	}
	quarters[0].Free()
	quarters[2].Free()
	m, err := gpu.Memory()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(units.Bytes(m.Free), "free, the largest block", units.Bytes(m.Largest))
	_, err = gpu.Alloc(17 << 20)
	fmt.Println(err)
	// Output:
	// 32 MiB free, the largest block 16 MiB
	// model:64MiB: out of device memory: 17,825,792 bytes wanted, 33,554,432 bytes of 67,108,864 bytes free
}

// The same bytes from locked memory and from other: the model's clock takes twice as long
// for what a driver copies twice.
func ExampleStream() {
	gpu := cuda.Model("64MiB")
	buffer, err := gpu.Alloc(63_000_000)
	if err != nil {
		log.Fatal(err)
	}
	defer buffer.Free()
	stream, err := gpu.Stream()
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	locked, err := gpu.Pinned(63_000_000)
	if err != nil {
		log.Fatal(err)
	}
	defer locked.Free()
	for _, from := range [][]byte{locked.Data, make([]byte, 63_000_000)} {
		c, err := stream.Upload(buffer, from)
		if err != nil {
			log.Fatal(err)
		}
		took, err := c.Wait()
		fmt.Println(took, err)
	}
	// Output:
	// 5ms <nil>
	// 10ms <nil>
}
