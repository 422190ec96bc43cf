package machine

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"testing/fstest"
)

const mib = 1 << 20

// The trees below testdata are cut from those of real systems. Each has 16 GiB
// available, a process of 40 MiB, and the limits that its name says.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		tree      string
		container Limit
		headroom  int64
		why       string
		cached    int64
	}{
		{tree: "v1", container: Limit{512 * mib, 50 * mib}, headroom: 462 * mib, why: "the container allows 512 MiB", cached: 150 * mib},
		{tree: "v2", container: Limit{256 * mib, 36 * mib}, headroom: 220 * mib, why: "the container allows 256 MiB", cached: 28 * mib},
		{tree: "nested", container: Limit{1024 * mib, 966367641}, headroom: 1024*mib - 966367641,
			why: "the container allows 1 GiB", cached: 4096},
		{tree: "hybrid", container: Limit{256 * mib, mib}, headroom: 255 * mib, why: "the container allows 256 MiB", cached: 8192},
		{tree: "unlimited", headroom: 16384 * mib, why: "this machine has 16 GiB available", cached: -1},
	} {
		t.Run(c.tree, func(t *testing.T) {
			root := os.DirFS(filepath.Join("testdata", c.tree))
			want := Limits{Total: 24683548 * 1024, Available: 16384 * mib, Container: c.container}
			l := readLimits(root, findCgroup(root))
			if l.readUsed(root); l != want {
				t.Errorf("limits %+v\nwant   %+v", l, want)
			}
			limited := l
			limited.Data.Max = 1024 * mib
			limited.readUsed(root)
			want.AddressSpace, want.Data = Limit{Used: 1263104 * 1024}, Limit{1024 * mib, 80 * mib}
			if limited != want {
				t.Errorf("limits %+v\nwant   %+v", limited, want)
			}
			if n, why := l.Headroom(); n != c.headroom || why != c.why {
				t.Errorf("headroom %d, %q; want %d, %q", n, why, c.headroom, c.why)
			}
			n, why := l.DefaultBudget()
			if n > c.headroom*7/10 || n < c.headroom*7/10-1 || why != "70 % of what is free: "+c.why {
				t.Errorf("default budget %d, %q; want 70 %% of %d", n, why, c.headroom)
			}
			m, err := processMemory(root)
			m.Cached = findCgroup(root).cached(root)
			if want := (Memory{Anonymous: 22*mib + 256*1024, Mapped: 18 * mib, Cached: c.cached}); err != nil || m != want {
				t.Errorf("memory %+v, %v; want %+v", m, err, want)
			}
		})
	}
}

func TestNothingReadable(t *testing.T) {
	empty := fstest.MapFS{}
	l := readLimits(empty, findCgroup(empty))
	if l != (Limits{}) {
		t.Errorf("limits of an empty tree: %+v", l)
	}
	if n, why := l.DefaultBudget(); n != fallback || why == "" {
		t.Errorf("default budget %d, %q", n, why)
	}
	if _, err := processMemory(empty); err == nil {
		t.Error("memory was read from an empty tree")
	}
}

// A limit that is used up leaves nothing, not less than nothing.
func TestUsedUp(t *testing.T) {
	l := Limits{Available: 100, Container: Limit{Max: 10, Used: 12}}
	if n, _ := l.Headroom(); n != 0 {
		t.Errorf("headroom %d", n)
	}
}

func TestHeadroomIsTheTightest(t *testing.T) {
	l := Limits{Available: 16384 * mib, AddressSpace: Limit{4096 * mib, 1234 * mib}, Data: Limit{1024 * mib, 80 * mib}}
	if n, why := l.Headroom(); n != 944*mib || why != "ulimit -d allows 1 GiB" {
		t.Errorf("headroom %d, %q", n, why)
	}
}

func TestCheck(t *testing.T) {
	l := Limits{Total: 8 << 30, Container: Limit{Max: 512 * mib, Used: 500 * mib}}
	if err := l.Check(512 * mib); err != nil {
		t.Errorf("the whole container: %v", err)
	}
	if err := l.Check(512*mib + 1); err == nil {
		t.Error("more than the container allows was accepted")
	}
	l.Container = Limit{}
	if err := l.Check(8 << 30); err != nil {
		t.Errorf("the whole machine: %v", err)
	}
	if err := l.Check(1 << 40); err == nil {
		t.Error("more than the machine has was accepted")
	}
	if err := (Limits{}).Check(1 << 40); err != nil {
		t.Errorf("unknown limits: %v", err)
	}
}

func TestThisMachine(t *testing.T) {
	l := Read()
	if l.Total <= 0 || l.Available <= 0 || l.Available > l.Total || l.Cores < 1 {
		t.Errorf("limits of this machine: %+v", l)
	}
	before, err := Process()
	if err != nil {
		t.Fatal(err)
	}
	held := make([]byte, 64*mib)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	after, err := Process()
	if err != nil {
		t.Fatal(err)
	}
	if held[0] != 1 || after.Anonymous-before.Anonymous < 60*mib || after.GoHeap-before.GoHeap < 60*mib {
		t.Errorf("64 MiB more: before %+v, after %+v", before, after)
	}
	if after.GoHeap+after.GoRuntime > after.Anonymous+16*mib {
		t.Errorf("Go's part is more than the whole: %+v", after)
	}
}

func TestGoMemoryLeavesNothingOutThatIsNotReleased(t *testing.T) {
	defer debug.FreeOSMemory()
	_ = bytes.Repeat([]byte{1}, 64*mib)
	runtime.GC() // they are free, and not released yet
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for _, name := range goClasses {
		samples = append(samples, metrics.Sample{Name: name})
	}
	metrics.Read(samples)
	left := samples[0].Value.Uint64() - samples[1].Value.Uint64()
	for _, s := range samples[2:] {
		left -= s.Value.Uint64()
	}
	if left != 0 {
		t.Errorf("%d bytes of the Go runtime's are in no class", int64(left))
	}
}

func TestRunsThatOverlapLeaveTheMemoryLimitAsItWas(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	first, second := LimitRuntime(300*mib), LimitRuntime(100*mib)
	if n := limit(); n != min(before, 400*mib) {
		t.Errorf("two runs have %d bytes", n)
	}
	first()
	if n := limit(); n != min(before, 100*mib) {
		t.Errorf("the second has %d bytes when the first has ended", n)
	}
	third := LimitRuntime(200 * mib)
	second()
	third()
	if n := limit(); n != before {
		t.Errorf("the limit is %d at the end, and was %d", n, before)
	}
}

func BenchmarkProcess(b *testing.B) {
	for b.Loop() {
		if _, err := Process(); err != nil {
			b.Fatal(err)
		}
	}
}

// What a program keeps while runs are active does not leave the collector without room.
func TestMemoryLimitFollowsHeapOfProgram(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	debug.SetMemoryLimit(math.MaxInt64)
	var bytes atomic.Int64
	bytes.Store(16 * mib)
	done := LimitRuntimeTo(bytes.Load)
	kept := make([]byte, 100*mib)
	runtime.GC()
	FollowHeap()
	if n := debug.SetMemoryLimit(-1); n < 125*mib || n > 160*mib {
		t.Errorf("the limit is %d with 100 MiB that are live", n)
	}
	bytes.Store(300 * mib)
	UpdateRuntimeLimit()
	if n := debug.SetMemoryLimit(-1); n != 300*mib {
		t.Errorf("the limit is %d where runs allow 300 MiB", n)
	}
	runtime.KeepAlive(kept)
	debug.SetMemoryLimit(200 * mib) // the program's own choice
	UpdateRuntimeLimit()
	if n := debug.SetMemoryLimit(-1); n != 200*mib {
		t.Errorf("the limit is %d where the program has set 200 MiB", n)
	}
	done()
	if n := debug.SetMemoryLimit(-1); n != 200*mib {
		t.Errorf("the limit is %d after the run, where the program has set 200 MiB", n)
	}
}
