package machine

import (
	"bytes"
	"os"
	"strconv"
	"sync"
)

// ownCgroup is looked up once: a process is put into its cgroup before it runs.
var ownCgroup = sync.OnceValue(func() cgroup { return findCgroup(kernel.FS) })

// Process reads this process's memory. It takes some 30 µs: cheap
// enough for many samples a second.
func Process() (Memory, error) {
	m, err := WithoutCache()
	m.Cached = ownCgroup().cached(kernel)
	return m, err
}

// WithoutCache is Process without the page cache, which a kernel with many cores takes long to count.
func WithoutCache() (Memory, error) {
	m, err := processMemory(kernel)
	m.GoHeap, m.GoRuntime = goMemory()
	return m, err
}

// Anonymous reads this process's private memory alone, without its page tables: in 3 µs.
func Anonymous() (int64, error) {
	f, err := own()
	if err != nil {
		return 0, err
	}
	return f.Read()
}

var own = sync.OnceValues(func() (*Resident, error) { return OpenResident("self") })

// Resident is the memory of a process, to be read again and again.
type Resident struct{ statm *os.File }

// OpenResident opens that of the process with this id, as a number or "self".
func OpenResident(pid string) (*Resident, error) {
	f, err := os.Open("/proc/" + pid + "/statm")
	return &Resident{f}, err
}

// Read is what Anonymous is of its own process. It fails when the process has ended.
func (r *Resident) Read() (int64, error) {
	var text [128]byte
	if r == nil {
		return 0, os.ErrInvalid
	}
	n, err := r.statm.ReadAt(text[:], 0)
	fields := bytes.Fields(text[:n]) // size, resident, shared, …, in pages
	if len(fields) < 3 {
		return 0, err
	}
	resident, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0, err
	}
	shared, err := strconv.ParseInt(string(fields[2]), 10, 64)
	return (resident - shared) * int64(os.Getpagesize()), err
}

// Close releases the file.
func (r *Resident) Close() error {
	if r == nil {
		return os.ErrInvalid
	}
	return r.statm.Close()
}
