package relay

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
	"pgregory.net/rapid"
)

func TestFramesAreParsedBack(t *testing.T) {
	frame := rapid.SliceOfN(rapid.Byte(), 0, 20).Filter(func(b []byte) bool { return !bytes.Equal(b, delimiter) })
	rapid.Check(testcases.Seeded(t), func(t *rapid.T) {
		ids := rapid.SliceOfN(frame, 0, 3).Draw(t, "ids")
		rest := rapid.SliceOfN(frame, 0, 8).Draw(t, "rest")
		frames := append(append(append([][]byte{}, ids...), delimiter), rest...)
		m, ok := parse(frames)
		if ok != (len(rest) >= 5) {
			t.Fatalf("%d parts: parsed %v", len(rest), ok)
		}
		if ok && !reflect.DeepEqual(m.frames(), frames) {
			t.Fatalf("got %q, want %q", m.frames(), frames)
		}
	})
}

func TestNoMessageWithoutDelimiter(t *testing.T) {
	if _, ok := parse([][]byte{[]byte("a"), []byte("b")}); ok {
		t.Error("parsed")
	}
	if _, ok := parse(nil); ok {
		t.Error("parsed nothing")
	}
}

// The signature was computed by Python's hmac module.
func TestSignatureIsJupyters(t *testing.T) {
	key := signer("a0436f6c-1916-498b-8eb9-e81ab9368e84")
	m := message{header: []byte(`{"msg_id":"1"}`), parent: []byte("{}"), metadata: []byte("{}"), content: []byte(`{"code":"π"}`)}
	m = key.sign(m)
	if got := string(m.signature); got != "9b05a5d1e935c217488853654280bc63dd0a6de5ca9227b16865ca336d45bc32" {
		t.Errorf("signature %s", got)
	}
	if !key.valid(m) {
		t.Error("not valid by its own key")
	}
	for _, part := range []*[]byte{&m.header, &m.parent, &m.metadata, &m.content, &m.signature} {
		old := *part
		*part = append([]byte(" "), old...)
		if key.valid(m) {
			t.Error("valid though a part has changed")
		}
		*part = old
	}
	if none := signer(""); !none.valid(none.sign(message{})) || none.sign(m).signature != nil {
		t.Error("without a key nobody signs")
	}
}

func TestUnknownFieldsAreKept(t *testing.T) {
	const content = `{"a":12345678901234567890,"b":1.10,"c":"<&>","d":{"e":[null]}}`
	f, err := fields([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(encode(f)); got != content {
		t.Errorf("got %s", got)
	}
	if _, err := fields([]byte(`[]`)); err == nil {
		t.Error("a list has no fields")
	}
}

func TestConnectionFiles(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]string{
		`{"transport":"tcp","ip":"127.0.0.1","key":"k","signature_scheme":"hmac-sha256"}`: "",
		`{"transport":"ipc","ip":"s","key":""}`:                                           "",
		`{"transport":"pgm"}`:                                                             `transport "pgm"`,
		`{"transport":"tcp","key":"k","signature_scheme":"hmac-md5"}`:                     `signature scheme "hmac-md5"`,
		`{`: "unexpected end",
	} {
		file := filepath.Join(dir, "c.json")
		testcases.WriteFile(t, file, []byte(content), 0o600)
		_, err := readConnection(file)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", content, err)
		}
	}
	if _, err := readConnection(filepath.Join(dir, "none.json")); err == nil {
		t.Error("read a file that is not there")
	}
}

func TestConnectionBehindIsPrivate(t *testing.T) {
	dir := shortDir(t)
	front := connection{Transport: "tcp", IP: "127.0.0.1", Key: "k", Shell: 1000}
	b, file, err := front.behind(dir, "/somewhere/kernel-0a1b.json")
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(file) != "kernel-0a1b.json" { // GoNB takes the kernel's id from it
		t.Errorf("file %s", file)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st, err)
	}
	if got, err := readConnection(file); err != nil || got != b {
		t.Errorf("read back %v, %v; want %v", got, err, b)
	}
	if b.Transport != "ipc" || b.Key != "k" {
		t.Errorf("%v", b)
	}
	if _, _, err := front.behind(dir+strings.Repeat("x", 120), "k.json"); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("a path that is too long for a socket: %v", err)
	}
}
