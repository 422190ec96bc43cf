package magic

import (
	"fmt"
	"runtime"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/device"
)

// device sets the device of the cells that follow, and describes it.
func (r *rewriting) device(operands []string) error {
	if err := inherit(&r.inherited.device, operands, "name", checkDevice); err != nil {
		return err
	}
	name := r.inherited.device
	if name == "" || name == "cpu" {
		r.say(fmt.Sprintf("Device of the cells that follow: cpu, %d cores, %s.", runtime.NumCPU(), blasName()))
		return nil
	}
	d, err := cuda.Describe(name)
	if err != nil {
		return err
	}
	r.say(fmt.Sprintf("Device of the cells that follow: %s.\n\n%s", name, d))
	return nil
}

// blasName says what multiplies matrices on the CPU.
func blasName() string {
	if version, ok := device.OpenBLAS(); ok {
		return "products by " + version
	}
	return "products by gonbext's own kernels"
}
