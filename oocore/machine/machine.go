// Package machine reads the limits of this machine and its containers: what there is, and what the
// process has taken.
//
// On Linux both come from files of the kernel below /proc and /sys, which the
// tests make up; elsewhere from the system's own calls, with less detail.
package machine

import (
	"fmt"

	"github.com/gonbext/gonbext/oocore/units"
)

// Limits are what bounds this process's memory, in bytes. What is zero is
// unknown or has no limit.
type Limits struct {
	Total        int64 `json:"total"`         // physical memory
	Available    int64 `json:"available"`     // of it, what the kernel could give without swapping
	Container    Limit `json:"container"`     // the tightest of the enclosing memory cgroups
	AddressSpace Limit `json:"address_space"` // ulimit -v
	Data         Limit `json:"data"`          // ulimit -d
	Cores        int   `json:"cores"`         // that Go uses: it follows affinity and a cgroup's quota by itself
}

// Limit is one bound and how much of it is taken already, page cache that the
// kernel can take back not counted. Without a bound, Max is zero.
type Limit struct {
	Max  int64 `json:"max"`
	Used int64 `json:"used"`
}

func (l Limit) free() int64 { return max(l.Max-l.Used, 0) }

// Read asks the system anew; it takes well under a millisecond. What cannot be
// read is left out.
func Read() Limits {
	l := read()
	l.Cores = Cores()
	return l
}

// Headroom returns how many more bytes the process can take, and a clause that says
// what sets that bound: "the container allows 512 MiB". Without any known bound
// it is zero and the clause empty.
func (l Limits) Headroom() (bytes int64, reason string) {
	consider := func(known, free int64, why string) {
		if known > 0 && (reason == "" || free < bytes) {
			bytes, reason = free, fmt.Sprintf(why, units.Bytes(known))
		}
	}
	consider(l.Available, l.Available, "this machine has %s available")
	consider(l.Container.Max, l.Container.free(), "the container allows %s")
	consider(l.AddressSpace.Max, l.AddressSpace.free(), "ulimit -v allows %s")
	consider(l.Data.Max, l.Data.free(), "ulimit -d allows %s")
	return bytes, reason
}

// Check rejects a budget of more bytes than there could ever be here, whatever
// is free at the moment.
func (l Limits) Check(budget int64) error {
	switch {
	case l.Container.Max > 0 && budget > l.Container.Max:
		return fmt.Errorf("a budget of %s is more than the %s that the container allows", units.Bytes(budget), units.Bytes(l.Container.Max))
	case l.Total > 0 && budget > l.Total:
		return fmt.Errorf("a budget of %s is more than the %s that this machine has", units.Bytes(budget), units.Bytes(l.Total))
	}
	return nil
}

// share of the headroom that a budget takes where the user names none: the
// rest is for the page cache, and for what others start meanwhile.
const share = 0.7

// fallback is the budget on a machine that tells nothing about itself.
const fallback = 1 << 30

// DefaultBudget returns the budget of a run whose user names none, and a clause that
// says where it comes from: "70 % of what is free: the container allows 512 MiB".
func (l Limits) DefaultBudget() (bytes int64, reason string) {
	free, why := l.Headroom()
	if why == "" {
		return fallback, "this system does not tell its limits"
	}
	return int64(share * float64(free)), "70 % of what is free: " + why
}
