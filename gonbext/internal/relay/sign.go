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
