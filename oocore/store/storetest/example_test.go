package storetest_test

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/types"
)

// What a format reads of a region is compared with this.
func ExamplePick() {
	data := []byte{1, 2, 3, 4, 5, 6}
	fmt.Println(storetest.Pick(data, []int{2, 3}, 1, types.Region{Start: []int{0, 2}, Count: []int{2, 2}, Step: []int{1, -2}}))
	// Output: [3 1 6 4]
}
