package device_test

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/device"
)

// The memory of a modelled device: allocations are whole pages, up to its limit.
func ExampleMemory() {
	m := device.NewMemory(2 * device.PageSize)
	defer m.Close()
	b, err := m.Alloc(device.PageSize + 1)
	fmt.Println(err, m.Used() == device.Reserved(device.PageSize+1))
	_, err = m.Alloc(1)
	fmt.Println(err)
	b.Free()
	// Output:
	// <nil> true
	// arena: 4096 bytes for device do not fit: 8192 of 8192 are taken
}
