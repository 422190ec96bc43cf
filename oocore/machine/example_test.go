package machine_test

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/machine"
)

// A container of 8 GiB on a machine with more: what is left of it decides.
func ExampleLimits_Headroom() {
	l := machine.Limits{Total: 64 << 30, Available: 60 << 30, Container: machine.Limit{Max: 8 << 30, Used: 2 << 30}}
	bytes, reason := l.Headroom()
	fmt.Println(bytes>>30, reason)
	// Output: 6 the container allows 8 GiB
}
