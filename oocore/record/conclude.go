package record

import (
	"fmt"
	"os"
)

// Conclude writes the End of the record at path, whose process died before it could: only
// who waited for the process knows what ended it. Peaks and times are those of the rows
// that reached the file. A record that has an End, or is being written, stays as it is.
func Conclude(path string, status Status, why string) error {
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
	e, at := End{Status: status, Error: why}, r.start
	var t Task
	var s Sample
	var v Event
	r.rows(func(row []byte) bool {
		at += int64(len(row))
		switch row[0] {
		case kindTask:
			t.decode(row)
			e.Computed++
			e.Read += t.Read
			e.Written += t.Written
			e.Duration = max(e.Duration, t.Start+t.Duration)
			return true
		case kindEvent:
			v.decode(row)
			if v.Action <= LeftToCPU {
				e.OOMEvents++
			}
			e.Duration = max(e.Duration, v.At)
			return true
		}
		s.decode(row)
		e.Duration = max(e.Duration, s.At)
		e.ProcessPeak = max(e.ProcessPeak, s.Anonymous)
		e.DevicePeak = max(e.DevicePeak, s.Device)
		if n := s.Arena.Host(); n > e.Peak {
			e.Peak, e.PeakBy = n, s.Arena
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
