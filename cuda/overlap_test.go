package cuda_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/cuda/internal/driver/model"
	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/device/devicetest"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// rooted is the square root of elements that a device has to be sent.
func rooted(n int) *oocore.Array {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i % 1009)
	}
	return oocore.FromSlice(values).Sqrt()
}

// on runs an expression on a device, with one worker.
func on(t *testing.T, root *oocore.Array, g *cuda.GPU, chunks ...int) []byte {
	t.Helper()
	return testcases.Must[[]byte](t)(attempt(t, root, g, chunks...))
}

func attempt(t *testing.T, root *oocore.Array, g *cuda.GPU, chunks ...int) ([]byte, error) {
	t.Helper()
	e := devicetest.Expression{Root: root, Chunks: chunks}
	o := devicetest.Options{Budget: 256 << 20, Workers: 1}
	if g == nil {
		out, _, _, err := e.Run(t, nil, o)
		return out, err
	}
	out, p, _, err := e.Run(t, g, o)
	if p.OnDevice[0] == nil {
		t.Fatalf("the stage is not on the device: %s", p.Stages[0].Note)
	}
	return out, err
}

// Where upload, computing and download take equally long, at least nine tenths of what two
// of them take is hidden behind the third.
func TestOneWorkerHidesBalancedTransfers(t *testing.T) {
	const n, rate = 24 << 20, 1e9
	g := cuda.NewModel("16MiB", device.Rates{Upload: rate, Download: rate, Memory: 2 * rate}, model.Concurrent)
	on(t, rooted(n), g, n)
	seconds := float64(4 * n / rate)
	each := time.Duration(seconds * float64(time.Second))
	took := cuda.Clock(g)
	if hidden := float64(3*each-took) / float64(2*each); hidden < 0.9 || hidden > 1 {
		t.Errorf("each lane is busy for %v, and all together take %v: %.0f %% of two are hidden", each, took, 100*hidden)
	}
	if err := cuda.Release(g); err != nil {
		t.Error(err)
	}
}

// Whatever order of streams the events leave open, the bytes are the CPU's.
func TestStreamsInAnyOrderGiveTheBytesOfTheCPU(t *testing.T) {
	for _, root := range orders() {
		want := on(t, root, nil)
		for _, order := range []model.Order{model.Lazy, model.Hasty} {
			g := cuda.NewModel("16MiB", device.Rates{}, order)
			if got := on(t, root, g); !bytes.Equal(got, want) {
				t.Errorf("%v: other bytes in order %d", root.Shape(), order)
			}
			if err := cuda.Release(g); err != nil {
				t.Error(err)
			}
		}
	}
}

// orders are a map, a reduction and a product.
func orders() []*oocore.Array {
	m := rooted(2_400_000).Reshape(20_000, 120)
	return []*oocore.Array{rooted(3_000_000), rooted(3_000_000).Sum(), m.Transpose().MatMul(m)}
}

// careless is a driver with a fault of the code above it.
type careless struct {
	driver.Driver
	drop func(stream int) bool // waits of a stream of the three are left out
	leak bool                  // memory is not given back
	swap bool                  // each upload goes to where the one before should have gone
}

type carelessContext struct {
	driver.Context
	fault   careless
	streams int
	before  driver.Address
}

type carelessStream struct {
	driver.Stream
	context *carelessContext
	number  int
}

func (c careless) Open(device int) (driver.Context, error) {
	inner, err := c.Driver.Open(device)
	return &carelessContext{Context: inner, fault: c}, err
}

func (c *carelessContext) Free(a driver.Address) error {
	if c.fault.leak {
		return nil
	}
	return c.Context.Free(a)
}

func (c *carelessContext) NewStream() (driver.Stream, error) {
	s, err := c.Context.NewStream()
	c.streams++
	return &carelessStream{s, c, (c.streams - 1) % 3}, err
}

func (s *carelessStream) Wait(e driver.Event) error {
	if f := s.context.fault.drop; f != nil && f(s.number) {
		return nil
	}
	return s.Stream.Wait(e)
}

func (s *carelessStream) Upload(to driver.Address, from []byte) error {
	if c := s.context; c.fault.swap {
		if to, c.before = c.before, to; to == 0 {
			to = c.before
		}
	}
	return s.Stream.Upload(to, from)
}

// Memory that is not given back shows when the context is released, and copies to the
// wrong place show in the values.
func TestModelShowsLeaksAndCopiesToTheWrongPlace(t *testing.T) {
	root := rooted(3_000_000)
	want := on(t, root, nil)
	for name, fault := range map[string]careless{"leak": {leak: true}, "swap": {swap: true}} {
		g := cuda.NewModel("16MiB", device.Rates{}, model.Lazy)
		cuda.Wrap(g, func(d driver.Driver) driver.Driver { fault.Driver = d; return fault })
		got, err := attempt(t, root, g)
		wrong := err != nil || !bytes.Equal(got, want)
		left := cuda.Release(g) != nil
		if wrong != fault.swap || left != fault.leak {
			t.Errorf("%s: the values are wrong: %v; something is left: %v; %v", name, wrong, left, err)
		}
	}
}

// A wait that is missing on any stream shows: in one of the orders the bytes are wrong.
func TestOrdersShowWaitsThatAreMissing(t *testing.T) {
	all := orders()
	for stream, name := range []string{"upload", "compute", "download"} {
		caught := false
		const rounds = 30 // the host's own order differs from one to the next
		for i := 0; i < rounds*len(all) && !caught; i++ {
			root := all[i%len(all)]
			want := on(t, root, nil)
			for _, order := range []model.Order{model.Lazy, model.Hasty} {
				g := cuda.NewModel("16MiB", device.Rates{}, order)
				cuda.Wrap(g, func(d driver.Driver) driver.Driver {
					return careless{Driver: d, drop: func(on int) bool { return on == stream }}
				})
				got, err := attempt(t, root, g)
				caught = caught || err != nil || !bytes.Equal(got, want)
			}
		}
		if !caught {
			t.Errorf("no order shows that stream %s waits for nothing", name)
		}
	}
}

// counting is a driver that counts the events that it makes.
type counting struct {
	driver.Driver
	events int
}

type countingContext struct {
	driver.Context
	driver *counting
}

func (d *counting) Open(device int) (driver.Context, error) {
	c, err := d.Driver.Open(device)
	return &countingContext{c, d}, err
}

func (c *countingContext) NewEvent() (driver.Event, error) {
	c.driver.events++
	return c.Context.NewEvent()
}

// A reduction of a million chunks takes the events of one.
func TestTasksOfAReductionShareEvents(t *testing.T) {
	e := devicetest.Expression{Root: oocore.Random(dtype.Float32, 3, 100_000).Sum()}
	d, c := cuda.Model("64MiB"), &counting{}
	cuda.Wrap(d, func(inner driver.Driver) driver.Driver { c.Driver = inner; return c })
	s := e.Plan(t, devicetest.Options{Budget: 64 << 20, Workers: 1, Device: d.Spec()}).OnDevice[0]
	w, err := d.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	states := make([][]byte, len(s.Buffers.Slot.States))
	for i, b := range s.Buffers.Slot.States {
		states[i] = make([]byte, b.Bytes())
	}
	first := 0
	for n := range 100 {
		w.Begin(0, s.Grid.Box(0))
		if _, err := w.Partials(0, states).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			first = c.events
		}
	}
	if c.events > first+4 {
		t.Errorf("%d events after two tasks, %d after a hundred", first, c.events)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
