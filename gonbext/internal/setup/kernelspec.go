package setup

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Kernel is the name that notebooks know the kernel by.
const Kernel = "gonbext"

// kernelSpec is Jupyter's kernel.json.
type kernelSpec struct {
	Argv          []string       `json:"argv"`
	DisplayName   string         `json:"display_name"`
	Language      string         `json:"language"`
	InterruptMode string         `json:"interrupt_mode"`
	Metadata      map[string]any `json:"metadata"`
}

// Install builds what the kernel needs, where it is missing, enters the kernel
// where Jupyter looks, and gives the entry's folder. The entry calls a copy of
// this binary, since one that go run has built goes away.
func Install(ctx context.Context, say Progress) (string, error) {
	if _, err := FindTools(); err != nil {
		if err := BuildTools(ctx, say); err != nil {
			return "", err
		}
	}
	binary, err := keepBinary()
	if err != nil {
		return "", fmt.Errorf("install: %w", err)
	}
	dir, err := kernelDir()
	if err != nil {
		return "", err
	}
	spec, err := json.MarshalIndent(kernelSpec{
		Argv:          []string{binary, "kernel", "{connection_file}"},
		DisplayName:   "Go (gonbext)",
		Language:      "go",
		InterruptMode: "signal",
		Metadata:      map[string]any{"debugger": false},
	}, "", " ")
	if err != nil {
		return "", err
	}
	lessons, err := extensionDir()
	if err == nil {
		err = errors.Join(copyFiles(dir, "jupyter/kernel"), copyFiles(lessons, "jupyter/lessons"))
	}
	if err != nil {
		return "", fmt.Errorf("install: %w", err)
	}
	return dir, ReplaceFile(filepath.Join(dir, "kernel.json"), append(spec, '\n'), 0o644)
}

// jupyterFiles are the kernel's logo, and the extension of JupyterLab that has the lessons in
// its launcher.
//
//go:embed jupyter
var jupyterFiles embed.FS

// copyFiles writes the files of a folder of jupyterFiles to dir.
func copyFiles(dir, from string) error {
	return fs.WalkDir(jupyterFiles, from, func(name string, e fs.DirEntry, err error) error {
		target := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, from)))
		if err != nil || e.IsDir() {
			return errors.Join(err, os.MkdirAll(target, 0o755))
		}
		data, err := jupyterFiles.ReadFile(name)
		if err != nil {
			return err
		}
		return ReplaceFile(target, data, 0o644)
	})
}

// InstalledKernel is the binary that Jupyter's entry calls, "" without one.
func InstalledKernel() (string, error) {
	dir, err := kernelDir()
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if os.IsNotExist(err) {
		return "", nil
	}
	var spec kernelSpec
	if err == nil {
		err = json.Unmarshal(data, &spec)
	}
	if err != nil || len(spec.Argv) == 0 {
		return "", fmt.Errorf("%s is not a kernel's entry", filepath.Join(dir, "kernel.json"))
	}
	return spec.Argv[0], nil
}

func kernelDir() (string, error) {
	data, err := jupyterData()
	return filepath.Join(data, "kernels", Kernel), err
}

// extensionDir is where JupyterLab looks for the extension.
func extensionDir() (string, error) {
	data, err := jupyterData()
	return filepath.Join(data, "labextensions", Kernel), err
}

// jupyterData is the user's folder in which Jupyter looks.
func jupyterData() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no folder for Jupyter's entry: set HOME or JUPYTER_DATA_DIR (%w)", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	if xdg := os.Getenv("XDG_DATA_HOME"); xdg != "" {
		return filepath.Join(xdg, "jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// keepBinary copies this binary to the user's cache, unless it runs from there.
func keepBinary() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	kept := filepath.Join(cache, "bin", "gonbext")
	if a, err := os.Stat(self); err == nil {
		if b, err := os.Stat(kept); err == nil && os.SameFile(a, b) {
			return kept, nil
		}
	}
	data, err := os.ReadFile(self)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return "", err
	}
	return kept, ReplaceFile(kept, data, 0o755)
}

// ReplaceFile writes a file whole or not at all: on a full disk what was there before stays, and a
// kernel that runs from it continues.
func ReplaceFile(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Chmod(mode); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
