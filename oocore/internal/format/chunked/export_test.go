package chunked

import "github.com/gonbext/gonbext/oocore/store"

// WithWindow returns a session whose window is as long as chosen says, as if chunks were large.
func WithWindow(a *Array, whole bool, chosen func(most int) int) (store.Session, error) {
	_, n := a.divide(nil, whole)
	s, err := a.newSession(make([]byte, n), whole)
	if err != nil {
		return nil, err
	}
	if n := chosen(len(s.memory.window)); n > 0 {
		s.memory.window = s.memory.window[:n]
	}
	return s, nil
}

// AppendQuoted is appendQuoted.
var AppendQuoted = appendQuoted
