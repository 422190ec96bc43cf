package units_test

import (
	"fmt"
	"time"

	"github.com/gonbext/gonbext/oocore/units"
)

func ExampleParseSize() {
	n, err := units.ParseSize("1.5GiB")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(units.Both(n))
	fmt.Println(units.Rate(n, 2*time.Second))
	// Output:
	// 1,610,612,736 bytes, 1.5 GiB
	// 805 MB/s
}
