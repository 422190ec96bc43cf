package machine

import (
	"errors"
	"io/fs"
	"runtime/metrics"
)

// Memory is where this process's memory is, in bytes.
type Memory struct {
	Anonymous int64 // private, with its page tables: the kernel cannot take it back
	Mapped    int64 // pages of files that are mapped: the kernel can take them back
	Cached    int64 // page cache charged to the process's own cgroup, or -1 where that is unknown
	GoHeap    int64 // objects, the room between them, and what the collector has not returned yet; part of Anonymous
	GoRuntime int64 // stacks, spans and the garbage collector; part of Anonymous
}

// processMemory reads a Linux process's memory, without the page cache, from the tree that / is.
func processMemory(root fs.FS) (Memory, error) {
	status := text(root, "proc/self/status")
	if field(status, "VmRSS:") == 0 {
		return Memory{Cached: -1}, errors.New("the process's memory cannot be read: /proc/self/status has no VmRSS")
	}
	return Memory{
		Anonymous: field(status, "RssAnon:") + field(status, "RssShmem:") + field(status, "VmPTE:"),
		Mapped:    field(status, "RssFile:"),
		Cached:    -1,
	}, nil
}

// The classes of the Go runtime's memory that goMemory adds up. Reading them
// does not stop the program.
var goClasses = [...]string{
	"/memory/classes/heap/objects:bytes", // the first three are the heap
	"/memory/classes/heap/unused:bytes",
	"/memory/classes/heap/free:bytes",
	"/memory/classes/heap/stacks:bytes", // the rest the runtime's
	"/memory/classes/metadata/mcache/free:bytes",
	"/memory/classes/metadata/mcache/inuse:bytes",
	"/memory/classes/metadata/mspan/free:bytes",
	"/memory/classes/metadata/mspan/inuse:bytes",
	"/memory/classes/metadata/other:bytes",
	"/memory/classes/os-stacks:bytes",
	"/memory/classes/other:bytes",
	"/memory/classes/profiling/buckets:bytes",
}

func goMemory() (heap, runtime int64) {
	var samples [len(goClasses)]metrics.Sample
	for i, name := range goClasses {
		samples[i].Name = name
	}
	metrics.Read(samples[:])
	for i, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			continue
		}
		if n := int64(s.Value.Uint64()); i < 3 {
			heap += n
		} else {
			runtime += n
		}
	}
	return heap, runtime
}
