package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// completerSettings have JupyterLab wait for completions: it discards what comes later, by
// default after a second, in which a busy machine's gopls does not answer.
var completerSettings = []byte(`{
    // set by gonbext: milliseconds
    "providerTimeout": 10000
}
`)

// completerPath is where JupyterLab keeps the user's own settings of its completer.
func completerPath() (string, error) {
	dir := os.Getenv("JUPYTERLAB_SETTINGS_DIR")
	if dir == "" {
		config := os.Getenv("JUPYTER_CONFIG_DIR")
		if config == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("no folder for JupyterLab's settings: set HOME or JUPYTER_CONFIG_DIR (%w)", err)
			}
			config = filepath.Join(home, ".jupyter")
		}
		dir = filepath.Join(config, "lab", "user-settings")
	}
	return filepath.Join(dir, "@jupyterlab", "completer-extension", "manager.jupyterlab-settings"), nil
}

// AwaitCompletions has the user's JupyterLab wait for completions, unless the user has settings
// of the completer already.
func AwaitCompletions() error {
	path, err := completerPath()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return ReplaceFile(path, completerSettings, 0o600)
}

// ownCompleterSettings is the path of what AwaitCompletions has written, "" where there is none
// or the user has changed it.
func ownCompleterSettings() string {
	path, err := completerPath()
	if err != nil {
		return ""
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, completerSettings) {
		return ""
	}
	return path
}
