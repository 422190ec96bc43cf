package types_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/types"
)

// A budget that is too small is rejected before anything is read, with one that works.
func ExampleMemoryError() {
	x := oocore.Arange(0.0, 1e6, 1.0)
	_, err := oocore.Collect[float64](context.Background(), x.Sqrt(), oocore.Memory("1MiB"))
	var small *types.MemoryError
	if errors.As(err, &small) {
		roots, err := oocore.Collect[float64](context.Background(), x.Sqrt(), oocore.MemoryBytes(small.Need))
		fmt.Println(len(roots), err)
	}
	// Output: 1000000 <nil>
}
