package machine

import (
	"fmt"
	"runtime"
	"sync"
)

// Processor names the processor and the cores that Go uses of it, as in
// "AMD EPYC 7B13, 2 cores": rates that were measured on one machine hold for those of the
// same name.
func Processor() string {
	return fmt.Sprintf("%s, %d cores", processorName(), Cores())
}

var processorName = sync.OnceValue(func() string {
	if name := readProcessor(); name != "" {
		return name
	}
	return runtime.GOARCH
})
