//go:build unix

package cuda_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/device/devicetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// idle is a driver whose copies and kernels do nothing: what is left is the host's part.
type idle struct{ driver.Driver }

type idleContext struct{ driver.Context }

type idleStream struct{ driver.Stream }

func (d idle) Open(device int) (driver.Context, error) {
	c, err := d.Driver.Open(device)
	return idleContext{c}, err
}

func (c idleContext) NewStream() (driver.Stream, error) {
	s, err := c.Context.NewStream()
	return idleStream{s}, err
}

func (idleStream) Upload(driver.Address, []byte) error   { return nil }
func (idleStream) Download([]byte, driver.Address) error { return nil }
func (idleStream) Launch(driver.Function, [3]uint32, [3]uint32, ...uint64) error {
	return nil
}

// BenchmarkTile is what a tile of a map costs the host, the events of the model among it:
// the time, and that of all its threads.
func BenchmarkTile(b *testing.B) {
	g := cuda.NewModel("64MiB", device.Rates{}, model.Concurrent)
	cuda.Wrap(g, func(d driver.Driver) driver.Driver { return idle{d} })
	e := devicetest.Expression{Root: rooted(1 << 20), Chunks: []int{1 << 20}}
	p := e.Plan(b, devicetest.Options{Budget: 256 << 20, Workers: 1, Device: g.Spec()})
	s := p.OnDevice[0]
	w := testcases.Must[device.Work](b)(g.Open(s))
	tile := device.Box{Start: make([]int, len(s.Tile)), Shape: s.Tile}
	in, out := [][]byte{make([]byte, 4*tile.Size())}, make([]byte, 4*tile.Size())
	jobs := make([]device.Job, s.Depth)
	before := processor(b)
	for i := 0; b.Loop(); i++ {
		j := &jobs[i%len(jobs)]
		if *j != nil {
			testcases.Must[device.Times](b)((*j).Wait(b.Context()))
		}
		*j = w.Map(0, tile, in, out)
	}
	b.ReportMetric(float64((processor(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
	if err := w.Close(); err != nil {
		b.Error(err)
	}
}

// processor is the time that all threads of the process have computed.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
