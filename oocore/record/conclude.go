package record

import (
	"fmt"
	"os"
)

// Conclude writes the End of the record at path, whose process died before it could: only
// who waited for the process knows what ended it. Peaks and times are those of the rows
// that reached the file, or of e where that has seen more. A record that has an End, or is being
// written, stays as it is.
func Conclude(path string, e End) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("run record: %w", err)
	}
	defer f.Close()
	r := &Run{Path: path}
	if err := r.load(f); err != nil {
		return fmt.Errorf("run record %s: %w", path, err)
	}
	if r.End != nil || locked(f) {
		return nil
	}
	at := r.start
	var t Task
	var s Sample
	var v Event
	var c cursor
	r.rows(func(row []byte) bool {
		at += int64(len(row))
		switch row[0] {
		case kindTask:
			c.decode(row, &t)
			e.Computed++
			e.Read += t.Read
			e.Written += t.Written
			e.Duration = max(e.Duration, t.Start+t.Duration)
		case kindEvent:
			c.decode(row, &v)
			if v.Action <= LeftToCPU {
				e.OOMEvents++
			}
			e.Duration = max(e.Duration, v.At)
		case kindSample:
			c.decode(row, &s)
			e.Duration = max(e.Duration, s.At)
			e.ProcessPeak = max(e.ProcessPeak, s.Anonymous)
			e.DevicePeak = max(e.DevicePeak, s.Device)
			if n := s.Arena.Host(); n > e.Peak {
				e.Peak, e.PeakBy = n, s.Arena
			}
		}
		return true
	})
	b, err := encodeEnd(&e)
	if err == nil {
		_, err = f.WriteAt(b, at)
	}
	if err == nil {
		err = f.Truncate(at + int64(len(b)))
	}
	if err != nil {
		return fmt.Errorf("run record %s: its end could not be written: %w", path, err)
	}
	return nil
}
