package relay

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"
)

// delimiter stands between a message's routing identities and its parts.
var delimiter = []byte("<IDS|MSG>")

// header is the part of a message's header that the relay looks at.
type header struct {
	ID       string `json:"msg_id"`
	Type     string `json:"msg_type"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Version  string `json:"version"`
	Date     string `json:"date"`
}

// message is one message of Jupyter's wire protocol, its parts still encoded:
// what is not changed is sent on as it came.
type message struct {
	ids       [][]byte
	signature []byte
	header    []byte
	parent    []byte
	metadata  []byte
	content   []byte
	buffers   [][]byte
}

// parse splits the frames of a message; ok is false where they are none.
func parse(frames [][]byte) (m message, ok bool) {
	for i, f := range frames {
		if bytes.Equal(f, delimiter) {
			rest := frames[i+1:]
			if len(rest) < 5 {
				return m, false
			}
			return message{frames[:i], rest[0], rest[1], rest[2], rest[3], rest[4], rest[5:]}, true
		}
	}
	return m, false
}

// frames is the inverse of parse.
func (m message) frames() [][]byte {
	f := make([][]byte, 0, len(m.ids)+6+len(m.buffers))
	f = append(f, m.ids...)
	f = append(f, delimiter, m.signature, m.header, m.parent, m.metadata, m.content)
	return append(f, m.buffers...)
}

// head decodes the header, and parentHead the parent's; a malformed one is
// empty, and so matches nothing.
func (m message) head() (h header)       { _ = json.Unmarshal(m.header, &h); return }
func (m message) parentHead() (h header) { _ = json.Unmarshal(m.parent, &h); return }

// fields decodes a part that is an object, keeping the members that the relay
// does not know.
func fields(part []byte) (map[string]any, error) {
	var f map[string]any
	d := json.NewDecoder(bytes.NewReader(part))
	d.UseNumber() // a number that is only passed on keeps its digits
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("message content: %w", err)
	}
	return f, nil
}

// encode is for values made of strings, numbers, maps and slices, which have
// an encoding.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("relay: message content that JSON cannot hold: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// newMessage makes an unsigned message whose parent is the header parent, nil
// for none.
func newMessage(kind, session string, parent []byte, content any) message {
	if parent == nil {
		parent = []byte("{}")
	}
	h := header{
		ID: newID(), Type: kind, Session: session, Username: "gonbext",
		Version: "5.4", Date: time.Now().UTC().Format(time.RFC3339Nano),
	}
	return message{header: encode(h), parent: parent, metadata: []byte("{}"), content: encode(content)}
}

func newID() string { return rand.Text() }
