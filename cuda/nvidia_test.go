//go:build linux

package cuda_test

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/cuda"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// answer is what a process of its own says of its GPUs: the loader reads
// LD_LIBRARY_PATH at the start only, and a driver is opened once.
type answer struct {
	First, Second       []cuda.Info
	FirstErr, SecondErr string
	Open                map[string]string // what opening a device says
	Products            string            // what multiplies on the first
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
	a.Open = map[string]string{}
	for _, name := range []string{"cuda:0", "cuda:1", "cuda:9", "cuda:-1"} {
		_, err := cuda.Open(name)
		a.Open[name] = fmt.Sprint(err)
	}
	if g := cuda.NewDevice(0); g.Err() == nil {
		a.Products = cuda.Products(g)
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// ask starts a process that finds its driver in folder.
func ask(t *testing.T, folder, mode string, env ...string) (a answer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asks+"=1", "LD_LIBRARY_PATH="+folder, "DOUBLE="+mode)
	cmd.Env = append(cmd.Env, env...)
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

// The figures are those of testdata/driver.c, less the context that asks.
var (
	big   = cuda.Info{Device: "cuda:0", Name: "Double 9000", Compute: "9.0", Total: 150_754_820_096, Free: 149_000_000_000 - 1_000_000, Driver: "12.9"}
	small = cuda.Info{Device: "cuda:1", Name: "Double Mini", Compute: "8.6", Total: 6_442_450_944, Free: 6_000_000_000 - 1_000_000, Driver: "12.9"}
)

func TestDevices(t *testing.T) {
	a := ask(t, folder, "")
	if want := []cuda.Info{big, small}; !reflect.DeepEqual(a.First, want) || a.FirstErr != "<nil>" {
		t.Errorf("listed %v, %s; want %v", a.First, a.FirstErr, want)
	}
	const line = "cuda:1: Double Mini, compute capability 8.6, 6 GiB of memory, 5.59 GiB free, driver for CUDA 12.9"
	if got := small.String(); got != line {
		t.Errorf("in one line: %s; want %s", got, line)
	}
}

func TestABusyDeviceHidesNoOther(t *testing.T) {
	a := ask(t, folder, "busy")
	if want := []cuda.Info{big}; !reflect.DeepEqual(a.First, want) || a.FirstErr != "cuda:1 does not answer: cuDevicePrimaryCtxRetain: error 2, out of memory" {
		t.Errorf("listed %v, %s; want %v", a.First, a.FirstErr, want)
	}
}

func TestDriverWithoutDevices(t *testing.T) {
	a := ask(t, folder, "none")
	const want = "the NVIDIA driver does not start (error 100: no CUDA-capable device is detected): use --device cpu, or model:SIZE for a modelled GPU of that memory"
	if a.First != nil || a.FirstErr != want {
		t.Errorf("listed %v, %s; want %s", a.First, a.FirstErr, want)
	}
}

// An empty file in its place hides the driver of a machine that has one.
func TestNoDriver(t *testing.T) {
	folder := t.TempDir()
	testcases.WriteFile(t, filepath.Join(folder, "libcuda.so.1"), nil, 0o644)
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

// Each machine and name that has no such GPU gives one sentence, with what to do.
func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	const instead = "use --device cpu, or model:SIZE for a modelled GPU of that memory"
	for mode, want := range map[string]map[string]string{
		"": {
			"cuda:0": "<nil>", "cuda:1": "<nil>",
			"cuda:9":  `there is no cuda:9: here are cuda:0 to cuda:1 (CUDA_VISIBLE_DEVICES is "")`,
			"cuda:-1": `there is no cuda:-1: here are cuda:0 to cuda:1 (CUDA_VISIBLE_DEVICES is "")`,
		},
		"none":   {"cuda:0": `the NVIDIA driver does not start (error 100: no CUDA-capable device is detected) (CUDA_VISIBLE_DEVICES is ""): ` + instead},
		"hidden": {"cuda:0": `the NVIDIA driver shows no GPU (CUDA_VISIBLE_DEVICES is ""): ` + instead},
		"old":    {"cuda:0": "the NVIDIA driver is for CUDA 8.0, and 9.0 or later is needed: update the driver, or " + instead},
		"full":   {"cuda:0": "cuda:0 has no room for a context: end what else is on it (nvidia-smi lists it), or " + instead},
	} {
		a := ask(t, folder, mode)
		for name, text := range want {
			if a.Open[name] != text {
				t.Errorf("%s with a driver that is %q: %s; want %s", name, mode, a.Open[name], text)
			}
		}
	}
}
