package storage

import "time"

// WritersEnd sets how long attached processes may take to end, until restore is called.
func WritersEnd(limit time.Duration) (restore func()) {
	was := writersEnd
	writersEnd = limit
	return func() { writersEnd = was }
}
