package budget

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
)

// taker takes shares of a pool of 100 bytes, of which the process holds 10, and notes in which order it has them.
type taker struct {
	*testing.T
	pool  Pool
	order []string
}

func (p *taker) take(ctx context.Context, name string, s Share) (release func(), err error) {
	s.Overhead, s.Budget = 10, 100
	release, err = p.pool.Take(ctx, s)
	if err == nil {
		p.order = append(p.order, name)
	}
	return release, err
}

// has checks which runs had their share, in their order, when all that can run has run.
func (p *taker) has(names ...string) {
	p.Helper()
	synctest.Wait()
	if !slices.Equal(p.order, names) {
		p.Errorf("%q have their shares, want %q", p.order, names)
	}
}

func TestPoolAdmitsInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &taker{T: t}
		releases := map[string]chan struct{}{}
		start := func(name string, bytes int64) {
			end := make(chan struct{})
			releases[name] = end
			go func() {
				release, err := p.take(t.Context(), name, Share{Bytes: bytes})
				if err != nil {
					t.Error(err)
					return
				}
				<-end
				release()
			}()
			synctest.Wait()
		}
		start("a", 50)
		start("large", 85)
		start("small", 10) // it would fit together with a
		p.has("a")
		close(releases["a"])
		p.has("a", "large")
		close(releases["large"])
		p.has("a", "large", "small")
		close(releases["small"])
		synctest.Wait()
		if p.pool.active == nil || len(p.pool.active)+len(p.pool.queue) > 0 {
			t.Error("a run was left in the pool")
		}
	})
}

func TestContextEndsWaitAndAdmitsThoseBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &taker{T: t}
		release, err := p.take(t.Context(), "a", Share{Bytes: 50})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the client has gone")
		go func() {
			if _, err := p.take(ctx, "large", Share{Bytes: 60}); err != gone {
				t.Errorf("got %v", err)
			}
		}()
		synctest.Wait()
		go func() {
			end, err := p.take(t.Context(), "small", Share{Bytes: 40})
			if err != nil {
				t.Error(err)
				return
			}
			end()
		}()
		p.has("a")
		cancel(gone)
		p.has("a", "small")
		release()
	})
}

func TestNoWaitRejectsWhatWouldWait(t *testing.T) {
	p := &taker{T: t}
	release, err := p.take(t.Context(), "a", Share{Bytes: 50, NoWait: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.take(t.Context(), "b", Share{Bytes: 60, NoWait: true})
	if busy, ok := errors.AsType[*BusyError](err); !ok || *busy != (BusyError{Bytes: 60, Active: 1, Taken: 50, Budget: 100}) {
		t.Errorf("got %#v", err)
	}
	small, err := p.take(t.Context(), "c", Share{Bytes: 40, NoWait: true})
	if err != nil {
		t.Error(err)
	}
	small()
	release()
	alone, err := p.take(t.Context(), "alone", Share{Bytes: 1000, NoWait: true})
	if err != nil {
		t.Fatal(err)
	}
	alone()
}

// What a loop's body starts passes those that wait for the loop, and what can never fit beside it is an error.
func TestRunsOfALoopsBodyPassThoseThatWaitForTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &taker{T: t}
		other, err := p.take(t.Context(), "other", Share{Bytes: 30})
		if err != nil {
			t.Fatal(err)
		}
		loop, err := p.take(t.Context(), "loop", Share{Bytes: 30, Loop: "the loop"})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			release, err := p.take(t.Context(), "waits", Share{Bytes: 60})
			if err != nil {
				t.Error(err)
				return
			}
			release()
		}()
		synctest.Wait()
		body, err := p.take(t.Context(), "body", Share{Bytes: 20})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.take(t.Context(), "never", Share{Bytes: 80}); !errors.As(err, new(*LoopsError)) {
			t.Errorf("got %v", err)
		}
		body()
		p.has("other", "loop", "body")
		other()
		p.has("other", "loop", "body", "waits")
		loop()
	})
}

func TestHeapHasWhatActiveRunsLeave(t *testing.T) {
	const mib = 1 << 20
	before := debug.SetMemoryLimit(-1)
	var p Pool
	is := func(want int64) {
		t.Helper()
		if n := debug.SetMemoryLimit(-1); n != min(want, before) {
			t.Errorf("a limit of %d MiB, want %d", n/mib, want/mib)
		}
	}
	take := func(s Share) func() {
		release, err := p.Take(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	first := take(Share{Bytes: 100 * mib, Heap: 20 * mib, Overhead: 16 * mib, Budget: 1024 * mib})
	is((1024 - 100 + 20) * mib)
	second := take(Share{Bytes: 300 * mib, Overhead: 32 * mib, Budget: 512 * mib})
	is((512 - 400 + 20) * mib)
	first()
	is((512 - 300) * mib)
	second()
	is(before)
	take(Share{Bytes: 500 * mib, Heap: 20 * mib, Overhead: 32 * mib, Budget: 512 * mib})() // alone
	is(before)
}
