package cuda

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/gonbext/gonbext/cuda/internal/cublas"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/units"
)

// GPU is a device of this machine, or a modelled one. It opens at its first use: what is
// wrong with it comes out of Err, and of the run that it is given to.
type GPU struct {
	name    string
	ordinal int
	find    func() (driver.Driver, error)
	ptx     bool // its kernels are in PTX
	model   bool

	open    sync.Once
	err     error // why it cannot be used
	context driver.Context
	spec    device.Spec
	blas    *cublas.Handle // nil where products are the own kernels'
	noBLAS  string         // why
	library int64          // bytes of the device that the BLAS keeps

	mu     sync.Mutex
	used   int64
	peak   int64
	locked int64
	lost   error
}

// oldest is the first CUDA whose drivers take the kernels' PTX.
const oldest = 9000

var errNotMade = errors.New("the GPU is a nil or zero value: Device and Model make one")

func (g *GPU) made() bool { return g != nil && g.find != nil }

// opened is the context on the device.
func (g *GPU) opened() (driver.Context, error) {
	if !g.made() {
		return nil, errNotMade
	}
	g.open.Do(func() { g.err = g.begin() })
	if g.err != nil {
		return nil, g.err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.context, g.lost
}

// begin finds the device and opens it.
func (g *GPU) begin() error {
	d, err := g.find()
	if err != nil {
		return err
	}
	version, err := d.Version()
	if err != nil {
		return fmt.Errorf("the NVIDIA driver does not say its version: %w: %s", err, instead)
	}
	if version < oldest {
		return fmt.Errorf("the NVIDIA driver is for CUDA %s, and %s or later is needed: update the driver, or %s", versionText(version), versionText(oldest), instead)
	}
	n, err := d.Count()
	if err != nil {
		return fmt.Errorf("the NVIDIA driver does not count its GPUs: %w: %s", err, instead)
	}
	if n == 0 {
		return fmt.Errorf("the NVIDIA driver shows no GPU%s: %s", hidden(), instead)
	}
	if g.ordinal < 0 || g.ordinal >= n {
		list := "is cuda:0 alone"
		if n > 1 {
			list = fmt.Sprintf("are cuda:0 to cuda:%d", n-1)
		}
		return fmt.Errorf("there is no %s: here %s%s", g.name, list, hidden())
	}
	p, err := d.Properties(g.ordinal)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w: %s", g.name, err, instead)
	}
	if c := 10*p.Major + p.Minor; g.ptx && c < 52 {
		return fmt.Errorf("%s (%s) has compute capability %d.%d, and 5.2 or later is needed: %s", g.name, p.Name, p.Major, p.Minor, instead)
	}
	c, err := d.Open(g.ordinal)
	if errors.Is(err, driver.ErrMemory) {
		return fmt.Errorf("%s has no room for a context: end what else is on it (nvidia-smi lists it), or %s", g.name, instead)
	}
	if err != nil {
		return fmt.Errorf("%s does not open: %w: %s", g.name, err, instead)
	}
	free, total, err := c.Memory()
	if err != nil {
		return errors.Join(fmt.Errorf("%s does not say its memory: %w: %s", g.name, err, instead), c.Close())
	}
	g.context = c
	if g.ptx {
		g.spec = inPTX(device.Spec{Name: g.name, Computes: device.PTX.Capabilities(), Rates: reported(p.Name, total).Rates()})
		g.openBLAS(version, p, free)
		free -= g.library
		g.spec.Memory = free - free/reserve
	}
	return nil
}

// close ends what the device has in this process.
func (g *GPU) close() (err error) {
	if g.blas != nil {
		if err = g.blas.Close(); errors.Is(err, driver.ErrLost) {
			err = nil // the device took it
		}
	}
	return errors.Join(err, g.context.Close())
}

// reserve is the share of free memory that plans leave: a driver rounds allocations up, and
// takes some memory for modules and streams.
const reserve = 32

// hidden returns a note for messages where the environment hides GPUs, and "" elsewhere.
func hidden() string {
	if v, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		return fmt.Sprintf(" (CUDA_VISIBLE_DEVICES is %q)", v)
	}
	return ""
}

func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Err returns why the device cannot be used, or nil.
func (g *GPU) Err() error {
	_, err := g.opened()
	return err
}

// Spec returns what the planner knows of the device. Its memory is what is free when the device
// opens.
func (g *GPU) Spec() device.Spec {
	if !g.made() {
		return device.Spec{}
	}
	if !g.model {
		_, _ = g.opened() // Err says why it is not
	}
	return g.spec
}

// Keep takes memory that outlives a stage.
func (g *GPU) Keep(bytes int64) (device.Resident, error) { return g.Alloc(bytes) }

// Pin locks the pages of host memory for copies.
func (g *GPU) Pin(b []byte) (func() error, error) {
	c, err := g.opened()
	if err != nil {
		return nil, err
	}
	if err := c.Lock(b); err != nil {
		return nil, g.explain(err)
	}
	g.count(0, int64(len(b)))
	return func() error {
		g.count(0, -int64(len(b)))
		return g.explain(c.Unlock(b))
	}, nil
}

// count adds to what is allocated of the device and locked of the host.
func (g *GPU) count(memory, locked int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used += memory
	g.locked += locked
	g.peak = max(g.peak, g.used)
}

// Usage returns the use of the device's memory. The part of the context that is known is what the BLAS
// keeps; the part of other processes includes the driver's own.
func (g *GPU) Usage() (u device.Usage) {
	c, err := g.opened()
	if !g.made() {
		return u
	}
	g.mu.Lock()
	u.Used, u.Peak = g.used, g.peak
	g.mu.Unlock()
	if err != nil {
		return u
	}
	u.Context = g.library
	if free, total, err := c.Memory(); err == nil {
		u.Free, u.Others = free, max(total-free-u.Used-u.Context, 0)
	}
	return u
}

// alloc takes memory of the device.
func (g *GPU) alloc(n int64) (allocation, error) {
	c, err := g.opened()
	if err != nil {
		return allocation{}, err
	}
	at, err := c.Alloc(n)
	if errors.Is(err, driver.ErrMemory) {
		free, total, unknown := c.Memory()
		if unknown != nil {
			return allocation{}, device.ErrMemory
		}
		return allocation{}, fmt.Errorf("%w: %s wanted, %s of %s free", device.ErrMemory, units.Exact(n), units.Exact(free), units.Exact(total))
	}
	if err != nil {
		return allocation{}, err
	}
	g.count(device.Reserved(n), 0)
	return allocation{at, n}, nil
}

// free gives memory back. It is counted as given back also where the device is lost, which
// gives all of it back.
func (g *GPU) free(a allocation) error {
	g.count(-device.Reserved(a.bytes), 0)
	return g.context.Free(a.at)
}

// explain says what a failure means, and remembers the loss of the device.
func (g *GPU) explain(err error) error {
	switch {
	case errors.Is(err, driver.ErrLost):
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.lost == nil {
			g.lost = fmt.Errorf("%s was lost in this process (%w): restart the kernel, or %s", g.name, err, instead)
		}
	case errors.Is(err, driver.ErrMemory) && !errors.Is(err, device.ErrMemory):
		return fmt.Errorf("%w: %w", device.ErrMemory, err)
	}
	return err
}

// lockable returns memory that shares no page with other memory.
func lockable(n int) []byte {
	b := make([]byte, n+2*device.PageSize)
	first := int(-uintptr(unsafe.Pointer(&b[0])) & (device.PageSize - 1))
	return b[first:][:n:n]
}
