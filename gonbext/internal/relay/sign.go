package relay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// signer signs messages with the connection's key, which Jupyter, the relay and
// GoNB share. An empty key means that nobody signs.
type signer []byte

// sign returns m with the signature of its parts.
func (key signer) sign(m message) message {
	m.signature = key.signature(m)
	return m
}

// with returns m with another content.
func (key signer) with(m message, content any) message {
	m.content = encode(content)
	return key.sign(m)
}

// edit returns m with what change makes of its content; m as it is where change reports that it has changed nothing, and
// where the content is no object.
func (key signer) edit(m message, change func(content map[string]any) bool) message {
	content, err := fields(m.content)
	if err != nil || content == nil || !change(content) {
		return m
	}
	return key.with(m, content)
}

// valid reports whether m is signed with the key.
func (key signer) valid(m message) bool {
	return len(key) == 0 || hmac.Equal(m.signature, key.signature(m))
}

func (key signer) signature(m message) []byte {
	if len(key) == 0 {
		return nil
	}
	h := hmac.New(sha256.New, key)
	for _, part := range [][]byte{m.header, m.parent, m.metadata, m.content} {
		h.Write(part)
	}
	return hex.AppendEncode(nil, h.Sum(nil))
}

// seen are the signatures of requests, of which each is good for once. It forgets
// the older half of its bound at a time. It is for one goroutine at a time.
type seen struct{ now, before map[[sha256.Size]byte]bool }

// seenMost is how many signatures are known at the least.
const seenMost = 1 << 15

// first reports whether signature, which is valid, comes for the first time.
// Messages without a signature are always first.
func (s *seen) first(signature []byte) bool {
	var key [sha256.Size]byte
	if len(signature) != hex.EncodedLen(len(key)) {
		return len(signature) == 0
	}
	if _, err := hex.Decode(key[:], signature); err != nil {
		return false
	}
	if s.now[key] || s.before[key] {
		return false
	}
	if s.now == nil || len(s.now) == seenMost {
		s.now, s.before = map[[sha256.Size]byte]bool{}, s.now
	}
	s.now[key] = true
	return true
}
