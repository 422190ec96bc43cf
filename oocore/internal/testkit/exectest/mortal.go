package exectest

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"time"
)

// mortal is the standard input of a worker process that is killed.
type mortal struct {
	io.Reader
	requests int
	deaths   string
}

// Mortal returns the standard input of a worker process that is killed at a random moment
// of one of its requests: not the first, so that a run comes to its end. The file deaths,
// which exists, gets a byte for each kill.
func Mortal(in io.Reader, deaths string) io.Reader {
	return &mortal{Reader: in, requests: 2 + rand.IntN(3), deaths: deaths}
}

func (m *mortal) Read(b []byte) (int, error) {
	n, err := m.Reader.Read(b)
	if m.requests -= bytes.Count(b[:n], []byte("\n")); m.requests <= 0 && n > 0 {
		time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() {
			if f, err := os.OpenFile(m.deaths, os.O_APPEND|os.O_WRONLY, 0); err == nil {
				f.WriteString("x")
			}
			if p, err := os.FindProcess(os.Getpid()); err == nil {
				p.Kill()
			}
		})
	}
	return n, err
}
