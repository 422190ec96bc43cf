//go:build unix

package ptx_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/ptx"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// assembler returns NVIDIA's, which .ci/requirements.txt installs in the Python of the
// tests; "" where there is none.
func assembler(t *testing.T) string {
	t.Helper()
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" {
		t.Log("nothing is assembled: GONBEXT_PYTHON names no Python that has nvidia-cuda-nvcc-cu12")
		return ""
	}
	const find = "import importlib.util as u; print(list(u.find_spec('nvidia.cuda_nvcc').submodule_search_locations)[0])"
	out, err := exec.Command(python, "-c", find).CombinedOutput()
	if err != nil {
		if testcases.Full() {
			t.Fatalf("no ptxas: %v: %s", err, out)
		}
		t.Logf("nothing is assembled: %s has no nvidia-cuda-nvcc-cu12", python)
		return ""
	}
	return filepath.Join(strings.TrimSpace(string(out)), "bin", "ptxas")
}

// module is a module with the names of what it tests.
type module struct {
	strata []string
	ptx.Module
}

// modules are those of every operation, conversion, reduction and product.
func modules(t *testing.T) (all []module) {
	add := func(m ptx.Module, err error, strata ...string) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, module{strata, m})
	}
	can := ptx.Capabilities()
	for _, of := range dtype.All() {
		for _, op := range kernel.Ops() {
			if can.Elementwise[op].Has(of) {
				types := []dtype.Type{of, of, of}[:op.Arity()]
				if op == kernel.Where {
					types[0] = dtype.Bool
				}
				m, err := ptx.Map(instruction(op, of, op.Result(of), types, 100))
				add(m, err, op.String(), "map of "+of.String())
			}
		}
		for _, row := range kernel.Reductions() {
			r := row.Reduction
			if can.Folds[r].Has(of) {
				m, err := ptx.Fold(foldShapes[4].stage(r, of, 0), 0, 3)
				add(m, err, r.String(), "fold of "+of.String())
			}
		}
		for _, to := range dtype.All() {
			if can.Casts.Has(of) && can.Casts.Has(to) {
				m, err := ptx.Map(instruction(kernel.Invalid, of, to, []dtype.Type{of}, 100))
				add(m, err, "to "+to.String(), "from "+of.String())
			}
		}
		if can.Products.Has(of) {
			m, err := ptx.Product(of, kernel.GemmType(of))
			add(m, err, "product of "+of.String())
		}
	}
	for _, kind := range []plan.LoadKind{plan.LoadIota, plan.LoadRandom} {
		domain := []int{3, 4, 5}
		one := dtype.ValueOf(1.)
		l := plan.Load{Kind: kind, Type: dtype.Float64, View: grid.Identity(domain), Shape: domain, Value: one, Delta: one, Seed: 1}
		m, err := ptx.Map(&plan.Program{Domain: domain, Loads: []plan.Load{l}, Out: []int{0}})
		add(m, err, string(kind))
	}
	m, err := ptx.Map(stencil())
	add(m, err, "windows")
	return all
}

// stencil is twice the sum of a window of 5×5 elements, and 2.
func stencil() *plan.Program {
	domain := []int{40, 50}
	p := &plan.Program{Domain: domain, Loads: []plan.Load{
		{Kind: plan.LoadBlocks, Type: dtype.Float64, View: grid.Identity(domain), Extent: []int{5, 5}},
		{Kind: plan.LoadConst, Type: dtype.Float64, Value: dtype.ValueOf(2.), View: grid.View{Shape: domain}},
	}}
	for i := range 25 {
		p.Loads = append(p.Loads, plan.Load{Kind: plan.LoadTap, Type: dtype.Float64, View: grid.Identity(domain), At: []int{i / 5, i % 5}})
	}
	sum := 1
	for i := range 25 {
		p.Code = append(p.Code, plan.Instr{Op: kernel.MulAdd, Type: dtype.Float64, To: dtype.Float64, Args: []int{1, 2 + i, sum}})
		sum = 26 + len(p.Code)
	}
	p.Out = []int{sum}
	return p
}

var entryNames = regexp.MustCompile(`\.entry (\w+)`)

func TestEveryKernelAssembles(t *testing.T) {
	ptxas := assembler(t)
	if ptxas == "" {
		return
	}
	folder := t.TempDir()
	for _, card := range []string{"sm_52", "sm_60", "sm_70", "sm_80", "sm_90"} {
		t.Run(card, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			for i, m := range testcases.Sample(t, modules(t), 1, func(m module) []string { return m.strata }) {
				body := strings.TrimRight(m.Text, "\x00")
				if i > 0 {
					_, body, _ = strings.Cut(body, ".address_size 64")
				}
				text.WriteString(entryNames.ReplaceAllString(body, fmt.Sprintf(".entry ${1}_%d", i)))
			}
			source := filepath.Join(folder, card+".ptx")
			testcases.WriteFile(t, source, []byte(text.String()), 0o600)
			if out, err := exec.Command(ptxas, "-v", "-arch="+card, "-o", filepath.Join(folder, card+".cubin"), source).CombinedOutput(); err != nil {
				t.Fatalf("%v: %.2000s", err, out)
			} else if spills := regexp.MustCompile(`[1-9]\d* bytes spill`).Find(out); spills != nil {
				t.Errorf("registers do not suffice: %s", spills)
			}
		})
	}
}
