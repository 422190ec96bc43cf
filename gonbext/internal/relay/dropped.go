package relay

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// dropped counts the messages that reach nobody. Whoever can connect may send any number
// of them, so they are said once a minute and not each.
type dropped struct {
	mu   sync.Mutex
	n    int
	said time.Time
}

const sayDroppedEvery = time.Minute

// add notes one message and why it is dropped, and says so to w when it is time.
func (d *dropped) add(w io.Writer, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	if time.Since(d.said) < sayDroppedEvery {
		return
	}
	messages := "a message"
	if d.n > 1 {
		messages = fmt.Sprintf("%d messages, the last of them", d.n)
	}
	fmt.Fprintf(w, "gonbext kernel: dropped %s %s\n", messages, why)
	d.n, d.said = 0, time.Now()
}
