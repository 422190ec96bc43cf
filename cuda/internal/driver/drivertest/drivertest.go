// Package drivertest is the suite that every driver passes.
package drivertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// Test runs the suite on a driver's device 0, of which no one else takes memory meanwhile.
func Test(t *testing.T, d driver.Driver) {
	for _, part := range []struct {
		name string
		test func(*testing.T, driver.Driver)
	}{
		{"devices", testDevices},
		{"order on a stream", testOrder},
		{"events order streams", testEvents},
		{"kernels", testKernels},
		{"memory", testMemory},
		{"locked memory", testLocked},
		{"wrong calls", testWrong},
		{"nothing is left", testLeft},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, d) })
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// increment adds 1 to n integers.
var increment = driver.Kernel{Name: "increment", PTX: `.version 6.0
.target sm_52
.address_size 64
.visible .entry increment(.param .u64 p_x, .param .u64 p_n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [p_x];
	ld.param.u64 %rd2, [p_n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	cvt.u64.u32 %rd3, %r4;
	setp.ge.u64 %p1, %rd3, %rd2;
	@%p1 bra done;
	shl.b64 %rd4, %rd3, 2;
	add.u64 %rd5, %rd1, %rd4;
	ld.global.u32 %r5, [%rd5];
	add.u32 %r6, %r5, 1;
	st.global.u32 [%rd5], %r6;
done:
	ret;
}
`, Go: func(m driver.Memory, args []uint64) (driver.Cost, error) {
	x := m.Bytes(driver.Address(args[0]), 4*int64(args[1]))
	for i := 0; i < len(x); i += 4 {
		binary.LittleEndian.PutUint32(x[i:], binary.LittleEndian.Uint32(x[i:])+1)
	}
	return driver.Cost{Operations: int64(args[1]), Bytes: 2 * int64(len(x))}, nil
}}

func testDevices(t *testing.T, d driver.Driver) {
	if v := testcases.Must[int](t)(d.Version()); v < 9000 {
		t.Errorf("version %d", v)
	}
	n := testcases.Must[int](t)(d.Count())
	if p := testcases.Must[driver.Properties](t)(d.Properties(0)); n < 1 || p.Name == "" {
		t.Errorf("%d devices, the first is %v", n, p)
	}
	for _, bad := range []int{n, -1} {
		if _, err := d.Properties(bad); err == nil {
			t.Errorf("there is a device %d of %d", bad, n)
		}
		if c, err := d.Open(bad); err == nil {
			t.Errorf("device %d of %d opens", bad, n)
			ok(t, c.Close())
		}
	}
}

// opened is a context, and streams of it, that close with the test.
func opened(t *testing.T, d driver.Driver, streams int) (driver.Context, []driver.Stream) {
	c := testcases.Must[driver.Context](t)(d.Open(0))
	t.Cleanup(func() { ok(t, c.Close()) })
	var all []driver.Stream
	for range streams {
		s := testcases.Must[driver.Stream](t)(c.NewStream())
		t.Cleanup(func() { ok(t, s.Close()) })
		all = append(all, s)
	}
	return c, all
}

func alloc(t *testing.T, c driver.Context, n int64) driver.Address {
	t.Helper()
	a := testcases.Must[driver.Address](t)(c.Alloc(n))
	t.Cleanup(func() { ok(t, c.Free(a)) })
	return a
}

func newEvent(t *testing.T, c driver.Context) driver.Event {
	t.Helper()
	e := testcases.Must[driver.Event](t)(c.NewEvent())
	t.Cleanup(func() { ok(t, e.Close()) })
	return e
}

// done waits for all that a stream was given.
func done(t *testing.T, c driver.Context, s driver.Stream) {
	t.Helper()
	e := testcases.Must[driver.Event](t)(c.NewEvent())
	ok(t, s.Record(e))
	ok(t, e.Wait())
	ok(t, e.Close())
}

func testOrder(t *testing.T, d driver.Driver) {
	c, s := opened(t, d, 1)
	a, b := alloc(t, c, 4096), alloc(t, c, 4096)
	x, y := bytes.Repeat([]byte("x"), 4096), bytes.Repeat([]byte("y"), 100)
	got, other := make([]byte, 4096), make([]byte, 1000)
	ok(t, s[0].Upload(a, x))
	ok(t, s[0].Upload(a+50, y))
	ok(t, s[0].Clear(a+60, 20))
	ok(t, s[0].Upload(b, x[:1000]))
	ok(t, s[0].Download(got, a))
	ok(t, s[0].Clear(a, 4096))
	ok(t, s[0].Download(other, b))
	done(t, c, s[0])
	want := slices.Clone(x)
	copy(want[50:], y)
	clear(want[60:80])
	if !bytes.Equal(got, want) || !bytes.Equal(other, x[:1000]) {
		t.Errorf("copies came back as %q… and %q…", got[:200], other[:20])
	}
}

// testEvents lets three streams work on two buffers by turns: what events order comes in
// that order, round after round.
func testEvents(t *testing.T, d driver.Driver) {
	c, s := opened(t, d, 3)
	f := testcases.Must[driver.Function](t)(c.Load(increment))
	t.Cleanup(func() { ok(t, f.Close()) })
	const n, sets, rounds = 1000, 2, 40
	type set struct {
		at                             driver.Address
		uploaded, computed, downloaded driver.Event
	}
	var all []set
	for range sets {
		all = append(all, set{alloc(t, c, 4*n), newEvent(t, c), newEvent(t, c), newEvent(t, c)})
	}
	got := make([][]byte, rounds)
	begin := newEvent(t, c)
	ok(t, s[0].Record(begin))
	for round := range got {
		u := &all[round%sets]
		x := make([]byte, 4*n)
		for i := range n {
			binary.LittleEndian.PutUint32(x[4*i:], uint32(round*n+i))
		}
		got[round] = make([]byte, 4*n)
		ok(t, s[0].Wait(u.downloaded))
		ok(t, s[0].Upload(u.at, x))
		ok(t, s[0].Record(u.uploaded))
		ok(t, s[1].Wait(u.uploaded))
		ok(t, s[1].Launch(f, [3]uint32{(n + 127) / 128, 1, 1}, [3]uint32{128, 1, 1}, uint64(u.at), n))
		ok(t, s[1].Record(u.computed))
		ok(t, s[2].Wait(u.computed))
		ok(t, s[2].Download(got[round], u.at))
		ok(t, s[2].Record(u.downloaded))
	}
	for _, u := range all {
		ok(t, u.downloaded.Wait())
		if took := testcases.Must[int64](t)(since(u.downloaded, begin)); took < 0 {
			t.Errorf("%d ns from the beginning to the end", took)
		}
	}
	for round, g := range got {
		for i := range n {
			if v := binary.LittleEndian.Uint32(g[4*i:]); v != uint32(round*n+i+1) {
				t.Fatalf("round %d, element %d is %d", round, i, v)
			}
		}
	}
}

func since(e, first driver.Event) (int64, error) {
	took, err := e.Since(first)
	return int64(took), err
}

func testKernels(t *testing.T, d driver.Driver) {
	c, s := opened(t, d, 1)
	f, again := testcases.Must[driver.Function](t)(c.Load(increment)), testcases.Must[driver.Function](t)(c.Load(increment))
	a := alloc(t, c, 4000)
	ok(t, s[0].Clear(a, 4000))
	for _, f := range []driver.Function{f, again, f} {
		ok(t, s[0].Launch(f, [3]uint32{10, 1, 1}, [3]uint32{100, 1, 1}, uint64(a), 999))
	}
	got := make([]byte, 4000)
	ok(t, s[0].Download(got, a))
	done(t, c, s[0])
	for i := range 1000 {
		want := uint32(3)
		if i == 999 {
			want = 0
		}
		if v := binary.LittleEndian.Uint32(got[4*i:]); v != want {
			t.Fatalf("element %d is %d, want %d", i, v, want)
		}
	}
	ok(t, f.Close())
	ok(t, again.Close())
	if _, err := c.Load(driver.Kernel{Name: "none", PTX: "this is no module"}); err == nil {
		t.Error("a kernel without a form is loaded")
	}
}

// testMemory takes all memory, in the end in small pieces, and gives it back.
func testMemory(t *testing.T, d driver.Driver) {
	c, _ := opened(t, d, 0)
	free, total, err := c.Memory()
	ok(t, err)
	if free > total || free <= 0 {
		t.Fatalf("%d bytes of %d are free", free, total)
	}
	if _, err := c.Alloc(total + 1); !errors.Is(err, driver.ErrMemory) {
		t.Errorf("more than there is gave %v", err)
	}
	var all []driver.Address
	for n := free; n >= 1<<16; {
		a, err := c.Alloc(n)
		if err == nil {
			all = append(all, a)
			continue
		}
		if !errors.Is(err, driver.ErrMemory) {
			t.Fatal(err)
		}
		n /= 2
	}
	if left, _, err := c.Memory(); err != nil || left > free/2 {
		t.Errorf("%d of %d bytes are free after all was taken: %v", left, free, err)
	}
	for _, a := range all {
		ok(t, c.Free(a))
	}
	if left, _, err := c.Memory(); err != nil || left != free {
		t.Errorf("%d bytes are free after all was given back, and %d before: %v", left, free, err)
	}
}

func testLocked(t *testing.T, d driver.Driver) {
	c, s := opened(t, d, 1)
	host := make([]byte, 1<<20)
	ok(t, c.Lock(host))
	if err := c.Lock(host); err == nil {
		t.Error("the same memory is locked twice")
	}
	a := alloc(t, c, 1<<20)
	ok(t, s[0].Clear(a, 1<<20))
	host[7] = 7
	ok(t, s[0].Download(host[:100], a))
	done(t, c, s[0])
	if host[7] != 0 {
		t.Error("a copy to locked memory did not arrive")
	}
	ok(t, c.Unlock(host))
	if err := c.Unlock(host); err == nil {
		t.Error("the same memory is unlocked twice")
	}
}

func testWrong(t *testing.T, d driver.Driver) {
	c, s := opened(t, d, 1)
	if err := c.Free(12345); err == nil {
		t.Error("an address of no allocation is given back")
	}
	if _, err := c.Alloc(0); err == nil {
		t.Error("an allocation of no bytes")
	}
	e := newEvent(t, c)
	ok(t, e.Wait()) // never recorded: there is nothing to wait for
	ok(t, s[0].Wait(e))
	done(t, c, s[0])
}

// testLeft opens and closes: each time as much memory is free as the time before.
func testLeft(t *testing.T, d driver.Driver) {
	var before int64
	for i := range 3 {
		c := testcases.Must[driver.Context](t)(d.Open(0))
		s := testcases.Must[driver.Stream](t)(c.NewStream())
		a := testcases.Must[driver.Address](t)(c.Alloc(1 << 16))
		ok(t, s.Clear(a, 1<<16))
		ok(t, s.Close())
		ok(t, c.Free(a))
		free, _, err := c.Memory()
		ok(t, err)
		if i > 0 && free != before {
			t.Errorf("%d bytes are free, %d the time before", free, before)
		}
		before = free
		ok(t, c.Close())
	}
}
