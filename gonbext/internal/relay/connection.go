package relay

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// connection is the content of a connection file: where a kernel listens.
type connection struct {
	SignatureScheme string `json:"signature_scheme"`
	Transport       string `json:"transport"`
	IP              string `json:"ip"`
	Key             string `json:"key"`
	KernelName      string `json:"kernel_name,omitempty"`
	Shell           int    `json:"shell_port"`
	Control         int    `json:"control_port"`
	Stdin           int    `json:"stdin_port"`
	IOPub           int    `json:"iopub_port"`
	Heartbeat       int    `json:"hb_port"`
}

func readConnection(path string) (c connection, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("connection file: %w", err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("connection file %s: %w", path, err)
	}
	switch {
	case c.Transport != "tcp" && c.Transport != "ipc":
		return c, fmt.Errorf("connection file %s: transport %q is neither tcp nor ipc", path, c.Transport)
	case c.Key != "" && c.SignatureScheme != "" && c.SignatureScheme != "hmac-sha256":
		return c, fmt.Errorf("connection file %s: signature scheme %q is not hmac-sha256", path, c.SignatureScheme)
	}
	return c, nil
}

func (c connection) address(port int) string {
	if c.Transport == "ipc" {
		return fmt.Sprintf("ipc://%s-%d", c.IP, port)
	}
	return fmt.Sprintf("tcp://%s:%d", c.IP, port)
}

// guarded is the address as a guard listens there.
func (c connection) guarded(port int, guard string) string {
	return strings.Replace(c.address(port), "://", "-"+guard+"://", 1)
}

// behind makes the connection of the kernel behind, with the same key, in a
// folder that only this user can enter; it returns the connection and its
// file. The sockets are Unix ones: no port to race for, and none for others to
// find. The file has the front's base name, from which GoNB takes the kernel's
// id.
func (c connection) behind(dir, frontFile string) (connection, string, error) {
	b := connection{
		SignatureScheme: "hmac-sha256", Transport: "ipc", IP: filepath.Join(dir, "s"),
		Key: c.Key, KernelName: c.KernelName,
		Shell: 1, Control: 2, Stdin: 3, IOPub: 4, Heartbeat: 5,
	}
	// The longest address that macOS takes; Linux takes four bytes more.
	if n := len(b.IP) + len("-1"); n > 103 {
		return b, "", fmt.Errorf("socket path %s-1 has %d bytes and systems allow 103: set TMPDIR to a shorter folder", b.IP, n)
	}
	file := filepath.Join(dir, filepath.Base(frontFile))
	data, err := json.Marshal(b)
	if err != nil {
		return b, "", err
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return b, "", fmt.Errorf("connection file for GoNB: %w", err)
	}
	return b, file, nil
}
