package cuda

import (
	"fmt"

	"github.com/gonbext/gonbext/cuda/internal/cublas"
	"github.com/gonbext/gonbext/cuda/internal/driver"
	"github.com/gonbext/gonbext/oocore/device"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/units"
)

// workspaceShare is the part of the free memory that the workspace of a BLAS may be.
const workspaceShare = 64

// openBLAS starts the first cuBLAS that works, if the machine has one. Without it the own
// kernels multiply: slower, and in plain arithmetic also where the card has units for 16-bit
// matrices.
func (g *GPU) openBLAS(version int, p driver.Properties, free int64) {
	for library, err := range cublas.Find(version) {
		if err == nil {
			g.blas, err = library.NewHandle(g.context, p.Major, free/workspaceShare)
		}
		if err == nil {
			break
		}
		if g.noBLAS == "" {
			g.noBLAS = err.Error()
		}
	}
	if g.blas == nil {
		g.spec.Rates.Float16 = 0
		return
	}
	if now, _, err := g.context.Memory(); err == nil {
		g.library = max(free-now, 0)
	}
	g.spec.Workspace = g.blas.Workspace()
	g.spec.Arithmetic += fmt.Sprintf(", %s on %s", g.blas.Name(), p.Name)
}

// multiplies reports whether the BLAS computes the products of a stage.
func (g *GPU) multiplies(s *device.Stage) bool {
	return g.blas != nil && g.blas.Multiplies(operand(s), s.Super.Type, max(s.Super.M, s.Super.N, s.Super.K))
}

// operand returns the type of the elements that a product reads.
func operand(s *device.Stage) dtype.Type { return s.Programs[0].Type(s.Programs[0].Out[0]) }

// products names what multiplies matrices.
func (g *GPU) products() string {
	switch {
	case g.blas != nil:
		return fmt.Sprintf("%s, which keeps %s of the memory (%s)", g.blas.Name(), units.Bytes(g.library), g.blas.Path)
	case g.noBLAS != "":
		return "gonbext's own kernels: " + g.noBLAS
	}
	return "gonbext's own kernels"
}
