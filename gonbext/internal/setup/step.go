package setup

import (
	"time"

	"github.com/gonbext/gonbext/oocore/units"
)

// stepEvery is how often a long step says that it still runs.
const stepEvery = 10 * time.Second

// step does what may take long: it is said at once, again while it lasts, and at its end
// unless that came at once.
func step(say Progress, what string, do func() error) error {
	say("%s …", what)
	begun := time.Now()
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(stepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			say("%s … %s so far", what, units.Duration(time.Since(begun).Round(time.Second)))
		case err := <-done:
			if took := time.Since(begun); err == nil && took > time.Second {
				say("%s: done in %s", what, units.Duration(took))
			}
			return err
		}
	}
}
