package gonbext

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"
)

// Context returns a context that an interrupt of the cell cancels, for calls of oocore. Once a
// cell has asked for it, ending is up to the cell; a second interrupt ends it as
// any program.
func Context() context.Context {
	asked.Store(true)
	return cellContext()
}

var (
	asked       atomic.Bool
	cellContext = sync.OnceValue(func() context.Context {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		context.AfterFunc(ctx, func() {
			time.Sleep(300 * time.Millisecond) // one interrupt reaches a cell twice, from Jupyter and from GoNB
			stop()
		})
		return ctx
	})
)

// during is the context of one call of Save or Collect. Between such calls an
// interrupt ends the cell as any program, if it has not asked for Context.
func during() (ctx context.Context, stop context.CancelFunc) {
	parent := context.Background()
	if asked.Load() {
		parent = Context()
	}
	return signal.NotifyContext(parent, os.Interrupt)
}
