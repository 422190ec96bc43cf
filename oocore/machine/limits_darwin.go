package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// read has no cgroups to ask here. Available are the pages that are free, read
// ahead, or backed by files, all of which the system gives away first.
func read() Limits {
	var l Limits
	if total, err := unix.SysctlUint64("hw.memsize"); err == nil {
		l.Total = int64(total)
	}
	var pages int64
	for _, name := range []string{"vm.page_free_count", "vm.page_speculative_count", "vm.page_pageable_external_count"} {
		if n, err := unix.SysctlUint32(name); err == nil {
			pages += int64(n)
		}
	}
	l.Available = min(pages*int64(os.Getpagesize()), l.Total)
	l.AddressSpace.Max = softLimit(unix.RLIMIT_AS)
	l.Data.Max = softLimit(unix.RLIMIT_DATA)
	return l
}
