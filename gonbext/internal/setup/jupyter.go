package setup

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// requirements are JupyterLab, what runs notebooks without it and all that these
// need, pinned, with the hashes of their files. They are made from requirements.in:
//
//	uv pip compile --universal --python-version 3.10 --generate-hashes --no-emit-index-url --no-header requirements.in -o requirements.txt
//
//go:embed requirements.txt
var requirements string

// minPython is the oldest minor version of Python 3 that requirements take.
const minPython = 10

// overrides are JupyterLab's settings here: it asks nobody for news.
const overrides = `{"@jupyterlab/apputils-extension:notification": {"checkForUpdates": false, "fetchNews": "false", "doNotDisturbMode": false}}
`

// Jupyter gives a Python that has JupyterLab, nbclient and nbconvert:
// $GONBEXT_PYTHON, else that of a virtual environment in the user's cache,
// which is made here where it is missing.
func Jupyter(ctx context.Context, say Progress) (python string, err error) {
	if python := os.Getenv("GONBEXT_PYTHON"); python != "" {
		return absoluteProgram(python)
	}
	base, err := findPython(ctx)
	if err != nil {
		return "", err
	}
	dir, err := base.environment()
	if err != nil {
		return "", err
	}
	python = filepath.Join(dir, "bin", "python")
	return python, once(ctx, dir, func() error {
		if err := base.canMakeEnvironments(ctx); err != nil {
			return err
		}
		err := step(say, fmt.Sprintf("Installing JupyterLab for gonbext alone, in %s (once)", dir), func() error {
			if err := quietly(ctx, base.path, "-I", "-m", "venv", dir); err != nil {
				return fmt.Errorf("make a Python environment: %w", err)
			}
			lock := filepath.Join(dir, "requirements.txt")
			if err := os.WriteFile(lock, []byte(requirements), 0o600); err != nil {
				return err
			}
			if err := quietly(ctx, python, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input",
				"--require-hashes", "-r", lock); err != nil {
				return fmt.Errorf("install JupyterLab (this once, a network is needed): %w", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		settings := filepath.Join(dir, "share", "jupyter", "lab", "settings")
		if err := os.MkdirAll(settings, 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(settings, "overrides.json"), []byte(overrides), 0o644)
	})
}

// pythonProgram is an interpreter on this machine.
type pythonProgram struct {
	path  string
	minor int // of Python 3
}

// findPython looks for Python 3, new enough, in PATH.
func findPython(ctx context.Context) (p pythonProgram, err error) {
	found := ""
	for _, name := range []string{"python3", "python"} {
		if p.path, err = exec.LookPath(name); err != nil {
			continue
		}
		cmd := exec.CommandContext(ctx, p.path, "-I", "-c", "import sys; print(*sys.version_info[:2])")
		cmd.Dir = Elsewhere() // a version manager would take one that the present folder names
		out, err := cmd.Output()
		if err != nil {
			continue
		}
		var major int
		if _, err := fmt.Sscan(string(out), &major, &p.minor); err != nil {
			continue
		}
		if major == 3 && p.minor >= minPython {
			return p, nil
		}
		found = fmt.Sprintf(" (found %s: %d.%d)", p.path, major, p.minor)
	}
	return p, fmt.Errorf("JupyterLab needs Python 3.%d or later%s: install it from your system's packages or https://python.org", minPython, found)
}

// environment is the folder of the virtual environment for this Python and
// these requirements.
func (p pythonProgram) environment() (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	pins := sha256.Sum256([]byte(requirements + overrides))
	return filepath.Join(cache, fmt.Sprintf("jupyter-python3.%d-%x", p.minor, pins[:4])), nil
}

// canMakeEnvironments finds out what Debian ships as a package of its own.
func (p pythonProgram) canMakeEnvironments(ctx context.Context) error {
	if err := quietly(ctx, p.path, "-I", "-c", "import venv, ensurepip"); err != nil {
		return fmt.Errorf("%s has no venv module: install it (on Debian and Ubuntu: apt install python3-venv)", p.path)
	}
	return nil
}

// PythonCode returns the arguments by which Python runs code that may import the user's own packages, but none of the
// present folder: -P does that from Python 3.11 on, and -I leaves out what the user has installed for himself.
func PythonCode(code string, args ...string) []string {
	return append([]string{"-c", "import sys; sys.path = [p for p in sys.path if p]; " + code}, args...)
}

// PythonModule returns the arguments by which Python runs a module, as PythonCode runs code.
func PythonModule(module string, args ...string) []string {
	return PythonCode("import runpy; del sys.argv[0]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)", append([]string{module}, args...)...)
}

// absoluteProgram is a program's name for a process with another working directory.
func absoluteProgram(name string) (string, error) {
	if !strings.ContainsRune(filepath.ToSlash(name), '/') {
		return name, nil
	}
	return filepath.Abs(name)
}

// Elsewhere is a folder in which programs run that would take settings or code from the present one.
func Elsewhere() string { return filepath.VolumeName(os.TempDir()) + string(filepath.Separator) }

// quietly runs a program whose output matters only if it fails.
func quietly(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = Elsewhere()
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(string(out)))
	}
	return nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// ShortSockets reports whether Jupyter's runtime folder leaves room for the names
// of a kernel's sockets: systems limit a socket's path to about a hundred bytes.
func ShortSockets() bool {
	dir := os.Getenv("JUPYTER_RUNTIME_DIR")
	if dir == "" {
		data, err := jupyterData()
		if err != nil {
			return false
		}
		dir = filepath.Join(data, "runtime")
	}
	const name = "kernel-01234567-89ab-cdef-0123-456789abcdef-ipc-99999"
	return len(filepath.Join(dir, name)) <= 103
}
