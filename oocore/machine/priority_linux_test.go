package machine

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestGiveWayLowersOneGoroutine(t *testing.T) {
	before := niceness(0)
	type thread struct{ id, niceness int }
	lowered, end := make(chan thread), make(chan struct{})
	go func() {
		GiveWay()
		lowered <- thread{unix.Gettid(), niceness(0)}
		<-end
		lowered <- thread{unix.Gettid(), niceness(0)}
	}()
	got := <-lowered
	if want := max(before, lowNiceness); got.niceness != want {
		t.Errorf("niceness is %d, want %d", got.niceness, want)
	}
	others := make(chan int)
	for range 20 { // none runs on the thread that was lowered
		go func() { others <- niceness(0) }()
	}
	for range 20 {
		if n := <-others; n != before {
			t.Errorf("another goroutine has niceness %d, want %d", n, before)
		}
	}
	close(end)
	if again := <-lowered; again != got {
		t.Errorf("later the goroutine is on thread %v, want %v", again, got)
	}
}
