package oocore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/host"
)

// GONBEXT_CPU is read when a process begins, so that each level is a process of its own.
func TestInstructionsAreThoseOfTheEnvironment(t *testing.T) {
	const child = "GONBEXT_TEST_INSTRUCTIONS"
	if os.Getenv(child) != "" {
		x := oocore.Random(oocore.Float64, 1, 10_007)
		y := x.Sqrt().Mul(2).Add(x.Neg().Exp()).Tanh()
		v, err := oocore.Collect[float64](t.Context(), y)
		if err != nil {
			fmt.Println("error:", err)
			return
		}
		level, err := host.Instructions()
		sum := sha256.Sum256(fmt.Appendf(nil, "%x", v))
		fmt.Println("level:", level, hex.EncodeToString(sum[:]), err)
		return
	}
	run := func(name string) string {
		c := exec.Command(os.Args[0], "-test.run=^TestInstructionsAreThoseOfTheEnvironment$")
		c.Env = append(os.Environ(), child+"=1", "GONBEXT_CPU="+name)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		line, _, _ := strings.Cut(string(out), "\n")
		return line
	}
	widest := strings.Fields(run(""))
	for _, level := range []string{"go", "avx2", "avx512"} {
		switch got := strings.Fields(run(level)); {
		case got[0] == "error:": // the processor has less
			if text := strings.Join(got, " "); !strings.Contains(text, `GONBEXT_CPU is "`+level+`"`) || !strings.Contains(text, "the widest here is "+widest[1]) {
				t.Error(text)
			}
		case got[1] != level || got[2] != widest[2]:
			t.Errorf("%s gives %v, and the widest instructions %v", level, got, widest)
		}
	}
	if got := run("fast"); !strings.Contains(got, `error: collect`) || !strings.Contains(got, `GONBEXT_CPU is "fast": it takes go, avx2 or avx512`) {
		t.Error(got)
	}
}
