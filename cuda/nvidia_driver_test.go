//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda_test

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
)

// answer is what a process of its own says of its GPUs: the loader reads
// LD_LIBRARY_PATH at the start only, and a driver is opened once.
type answer struct {
	First, Second       []cuda.Info
	FirstErr, SecondErr string
}

const asks = "GONBEXT_TEST_ASKS_DRIVER"

func init() {
	if os.Getenv(asks) == "" {
		return
	}
	var a answer
	var err error
	a.First, err = cuda.Devices()
	a.FirstErr = fmt.Sprint(err)
	a.Second, err = cuda.Devices()
	a.SecondErr = fmt.Sprint(err)
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// ask starts a process that finds its driver in folder.
func ask(t *testing.T, folder, mode string) (a answer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asks+"=1", "LD_LIBRARY_PATH="+folder, "DOUBLE="+mode)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the process ended with %v and said %q", err, out)
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if !reflect.DeepEqual(a.First, a.Second) || a.FirstErr != a.SecondErr {
		t.Errorf("asked twice, it says %v, %s and %v, %s", a.First, a.FirstErr, a.Second, a.SecondErr)
	}
	return a
}

// double compiles testdata/driver.c to the driver of a folder.
func double(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	cc := exec.Command("cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", filepath.Join(folder, "libcuda.so.1"), "testdata/driver.c")
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return folder
}

// The figures are those of testdata/driver.c, less the context that asks.
var (
	big   = cuda.Info{Device: "cuda:0", Name: "Double 9000", Compute: "9.0", Total: 150_754_820_096, Free: 149_000_000_000 - 1_000_000, Driver: "12.9"}
	small = cuda.Info{Device: "cuda:1", Name: "Double Mini", Compute: "8.6", Total: 6_442_450_944, Free: 6_000_000_000 - 1_000_000, Driver: "12.9"}
)

func TestDevices(t *testing.T) {
	a := ask(t, double(t), "")
	if want := []cuda.Info{big, small}; !reflect.DeepEqual(a.First, want) || a.FirstErr != "<nil>" {
		t.Errorf("listed %v, %s; want %v", a.First, a.FirstErr, want)
	}
	const line = "cuda:1: Double Mini, compute capability 8.6, 6 GiB of memory, 5.59 GiB free, driver for CUDA 12.9"
	if got := small.String(); got != line {
		t.Errorf("in one line: %s; want %s", got, line)
	}
}

func TestABusyDeviceHidesNoOther(t *testing.T) {
	a := ask(t, double(t), "busy")
	if want := []cuda.Info{big}; !reflect.DeepEqual(a.First, want) || a.FirstErr != "cuda:1 does not answer: OutOfMemory" {
		t.Errorf("listed %v, %s; want %v", a.First, a.FirstErr, want)
	}
}

func TestDriverWithoutDevices(t *testing.T) {
	a := ask(t, double(t), "none")
	const want = "the NVIDIA driver does not start (error 100: no CUDA-capable device is detected): use --device cpu, or model:SIZE for a modelled GPU of that memory"
	if a.First != nil || a.FirstErr != want {
		t.Errorf("listed %v, %s; want %s", a.First, a.FirstErr, want)
	}
}

// An empty file in its place hides the driver of a machine that has one.
func TestNoDriver(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "libcuda.so.1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	a := ask(t, folder, "")
	if a.First != nil || !strings.HasPrefix(a.FirstErr, "no NVIDIA driver was found (") || !strings.HasSuffix(a.FirstErr, ": use --device cpu, or model:SIZE for a modelled GPU of that memory") || strings.Contains(a.FirstErr, "\n") {
		t.Errorf("listed %v, %s", a.First, a.FirstErr)
	}
}

func TestTheProgramNeedsNoDriverToStart(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libraries {
		if strings.Contains(l, "cuda") {
			t.Errorf("the loader must find %s before main: the program needs %v", l, libraries)
		}
	}
}

func TestOpenSaysWhatThisBuildLacks(t *testing.T) {
	_, err := cuda.Open("cuda:0")
	if !errors.Is(err, cuda.ErrNoDriver) || !strings.HasPrefix(fmt.Sprint(err), "this build of gonbext lists GPUs and does not compute on them yet: ") {
		t.Errorf("cuda:0 gave %v", err)
	}
}
