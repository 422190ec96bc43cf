package setup

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/machine"
	"github.com/gonbext/gonbext/oocore/units"
)

// Check is one thing that notebooks or arrays need, or run better with.
type Check struct {
	Name     string
	Found    string // what there is, "" where it is missing
	Missing  string // what is wrong, where something is
	Fix      string // the command that fixes it
	Required bool

	// Repair does what Fix says; nil where only the user can.
	Repair func(context.Context, Progress) error
}

// OK reports whether nothing is missing.
func (c Check) OK() bool { return c.Missing == "" }

// minGo is the oldest Go that builds this module, as go.mod says.
const minGo = "1.26"

// Doctor looks at all of it. It changes nothing.
func Doctor(ctx context.Context) []Check {
	return []Check{
		checkGo(ctx),
		checkSource(),
		checkTools(),
		checkGopls(),
		checkKernel(),
		checkPython(ctx),
		checkJupyter(ctx),
		checkMemory(),
		checkInstructions(),
		checkBLAS(),
		checkGPU(),
	}
}

func checkGPU() Check {
	list, err := cuda.Devices()
	if errors.Is(err, cuda.ErrNoDriver) {
		return Check{Name: "GPU", Found: "none: no NVIDIA driver was found; --device model:8GiB models one"}
	}
	var said []string
	for _, gpu := range list {
		said = append(said, gpu.String())
	}
	if err != nil {
		said = append(said, err.Error())
	}
	return Check{Name: "GPU", Found: strings.Join(said, "; ")}
}

func checkGo(ctx context.Context) Check {
	c := Check{Name: "Go", Required: true, Fix: "install Go " + minGo + " or later from https://go.dev/dl"}
	path, err := exec.LookPath("go")
	if err != nil {
		c.Missing = "not found in PATH; cells are compiled by it"
		return c
	}
	found, err := goEnv(ctx, "GOVERSION")
	c.Found = found + " at " + path
	if err != nil || !newEnough(found) {
		c.Missing = "older than " + minGo
	}
	return c
}

// newEnough compares what go env GOVERSION says with minGo: of a release candidate, too, by its language.
func newEnough(goVersion string) bool {
	name, _, _ := strings.Cut(goVersion, " ") // experiments follow
	return version.Compare(version.Lang(name), "go"+minGo) >= 0
}

func checkSource() Check {
	c := Check{Name: "gonbext module", Required: true}
	var err error
	if c.Found, err = Source(); err != nil {
		c.Missing, c.Fix, _ = strings.Cut(err.Error(), ": ")
	}
	return c
}

func checkTools() Check {
	c := Check{Name: "GoNB, goimports", Required: true, Fix: "gonbext install", Repair: BuildTools}
	t, err := FindTools()
	if err != nil {
		c.Missing = err.Error()
		return c
	}
	c.Found = t.GoNB + ", " + t.GoImports
	return c
}

func checkGopls() Check {
	c := Check{Name: "gopls", Fix: "go install " + goplsModule, Repair: BuildGopls}
	var err error
	if c.Found, err = FindGopls(); err != nil {
		c.Missing = "Tab completes magics, but not Go"
	}
	return c
}

func checkKernel() Check {
	c := Check{Name: "Jupyter kernel", Required: true, Fix: "gonbext install", Repair: func(ctx context.Context, say Progress) error {
		_, err := Install(ctx, say)
		return err
	}}
	binary, err := InstalledKernel()
	switch {
	case err != nil:
		c.Missing = err.Error()
	case binary == "":
		c.Missing = "not entered where Jupyter looks"
	default:
		c.Found = binary
		if _, err := os.Stat(binary); err != nil {
			c.Missing = "its binary is gone"
		}
	}
	return c
}

func checkPython(ctx context.Context) Check {
	c := Check{Name: "Python", Fix: fmt.Sprintf("install Python 3.%d or later, with venv (Debian: apt install python3-venv)", minPython)}
	p, err := findPython(ctx)
	if err != nil {
		c.Missing = err.Error()
		return c
	}
	c.Found = fmt.Sprintf("3.%d at %s", p.minor, p.path)
	if err := p.canMakeEnvironments(ctx); err != nil {
		c.Missing = "its venv module is missing"
	}
	return c
}

func checkJupyter(ctx context.Context) Check {
	c := Check{Name: "JupyterLab", Fix: "gonbext lab"}
	if python := os.Getenv("GONBEXT_PYTHON"); python != "" {
		c.Found = "that of GONBEXT_PYTHON, " + python
		if err := quietly(ctx, python, PythonCode("import jupyterlab, nbclient, nbconvert")...); err != nil {
			c.Missing, c.Fix = err.Error(), python+" -m pip install jupyterlab nbclient nbconvert"
		}
		return c
	}
	c.Repair = func(ctx context.Context, say Progress) error {
		_, err := Jupyter(ctx, say)
		return err
	}
	p, err := findPython(ctx)
	if err != nil {
		c.Missing = "it needs Python"
		return c
	}
	dir, err := p.environment()
	switch {
	case err != nil:
		c.Missing = err.Error()
	case !complete(dir):
		c.Missing = "not set up yet; lab and run do so"
	default:
		c.Found = dir
	}
	return c
}

func checkMemory() Check {
	limits := machine.Read()
	budget, why := limits.DefaultBudget()
	return Check{Name: "memory", Found: fmt.Sprintf("budget %s by default: %s", units.Bytes(budget), why)}
}

func checkInstructions() Check {
	level, err := host.Instructions()
	if err != nil {
		return Check{Name: "instructions", Missing: err.Error(), Fix: "unset GONBEXT_CPU"}
	}
	return Check{Name: "instructions", Found: level}
}

func checkBLAS() Check {
	c := Check{Name: "BLAS", Fix: "pip install scipy-openblas32, and GONBEXT_BLAS set to its library; on Debian and Ubuntu: apt install libopenblas0-pthread"}
	if runtime.GOOS == "darwin" {
		c.Fix = "brew install openblas"
	}
	version, ok := device.OpenBLAS()
	if !ok {
		c.Missing = "none: matrix products take the kernels that are built in, which are slower"
		return c
	}
	c.Found = version
	return c
}
