package machine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is Windows' MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                                                uint32
	total, available, totalPage, availablePage, totalSpace, freeSpace, extended uint64
}

// read has no cgroups to ask here, and the limits of jobs are not looked at.
func read() Limits {
	m := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&m))); ok == 0 {
		return Limits{}
	}
	return Limits{Total: int64(m.total), Available: int64(m.available)}
}
