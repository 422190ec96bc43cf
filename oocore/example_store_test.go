package oocore_test

import (
	"context"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/types"
)

// squares is a stored array of the program's own: each element is the square of its index.
type squares struct{ length int }

func (s squares) Info() store.Info {
	return store.Info{Path: "squares", Format: "squares", Shape: []int{s.length}, DType: oocore.Float64}
}

func (s squares) Read(_ context.Context, dst []byte, r types.Region) error {
	for i := range dtype.Slice[float64](dst) {
		at := r.Start[0] + i*r.Step[0]
		dtype.Slice[float64](dst)[i] = float64(at * at)
	}
	return nil
}

func (squares) Close() error { return nil }

func ExampleFromStore() {
	ctx := context.Background()
	x := oocore.FromStore(squares{1_000_000_000}) // 8 GB, of which nothing is read yet
	fmt.Println(x)
	fmt.Println(oocore.Collect[float64](ctx, x.Slice("3:12:3").Sqrt()))
	// Output:
	// squares: 1,000,000,000 float64, 7.45 GiB
	// [3 6 9] <nil>
}
