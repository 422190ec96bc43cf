package relay

import "sync"

// shutdown remembers a request to shut down until GoNB has answered it, which
// it often does not: it closes its sockets first.
type shutdown struct {
	mu      sync.Mutex
	seen    bool
	on      *socket // nil where nothing is owed
	request message
}

func (s *shutdown) asked(on *socket, request message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.on, s.request = true, on, request
}

func (s *shutdown) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on = nil
}

// expected reports whether Jupyter asked for the kernel's end.
func (s *shutdown) expected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// answer sends the reply that GoNB still owes.
func (s *shutdown) answer(key signer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on == nil {
		return
	}
	restart := false
	if content, err := fields(s.request.content); err == nil {
		restart, _ = content["restart"].(bool)
	}
	reply := newMessage("shutdown_reply", s.request.head().Session, s.request.header,
		map[string]any{"status": "ok", "restart": restart})
	reply.ids = s.request.ids
	_ = s.on.send(key.sign(reply).frames())
	s.on = nil
}
