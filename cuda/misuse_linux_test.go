package cuda_test

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// What is used after its end gives an error, and the device stays as it is.
func TestBuffersAndStreamsRejectUseAfterTheirEnd(t *testing.T) {
	gpu, _ := gpu(t, 4<<20)
	b, freed := testcases.Must[*cuda.Buffer](t)(gpu.Alloc(100)), testcases.Must[*cuda.Buffer](t)(gpu.Alloc(100))
	s, closed := testcases.Must[*cuda.Stream](t)(gpu.Stream()), testcases.Must[*cuda.Stream](t)(gpu.Stream())
	if err := errors.Join(freed.Free(), closed.Close()); err != nil {
		t.Fatal(err)
	}
	host := make([]byte, 100)
	for name, do := range map[string]func() (*cuda.Copy, error){
		"upload to a freed buffer":     func() (*cuda.Copy, error) { return s.Upload(freed, host) },
		"download from a freed buffer": func() (*cuda.Copy, error) { return s.Download(host, freed) },
		"copy on a closed stream":      func() (*cuda.Copy, error) { return closed.Upload(b, host) },
	} {
		if c, err := do(); err == nil {
			_, failed := c.Wait()
			t.Errorf("%s: no error, and then %v", name, failed)
		}
	}
	if _, err := testcases.Must[*cuda.Copy](t)(s.Upload(b, host)).Wait(); err != nil {
		t.Errorf("a copy after that: %v", err)
	}
	if err := errors.Join(s.Close(), b.Free()); err != nil {
		t.Error(err)
	}
}

// The driver knows host memory by its address only: a copy keeps it until it is done.
func TestCopyKeepsHostMemoryUntilItIsDone(t *testing.T) {
	library.Memory(4 << 20)
	gpu := cuda.NewDevice(0)
	b, s := testcases.Must[*cuda.Buffer](t)(gpu.Alloc(1<<20)), testcases.Must[*cuda.Stream](t)(gpu.Stream())
	var collected atomic.Bool
	upload := func() *cuda.Copy {
		host := make([]byte, 1<<20)
		runtime.AddCleanup(&host[0], func(at *atomic.Bool) { at.Store(true) }, &collected)
		return testcases.Must[*cuda.Copy](t)(s.Upload(b, host))
	}
	c := upload()
	for range 3 {
		runtime.GC()
		runtime.Gosched()
		time.Sleep(5 * time.Millisecond)
	}
	if collected.Load() {
		t.Error("the memory was collected before the copy was waited for")
	}
	if _, err := c.Wait(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.Close(), b.Free(), cuda.Release(gpu)); err != nil {
		t.Error(err)
	}
}
