package corpus

import (
	"encoding/json"
	"maps"
	"os"
	command "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// An edit replaces the first old after a place of a file, or adds a file.
type edit struct{ file, after, old, new string }

// faults are of loops of every kind, each with a result that shows it. They are planted at once,
// and no result has two of them.
var faults = []struct {
	edit
	level, key string
}{
	{edit{"kernel/formulas.go", "func formulaTanReduced", "0.13333333333333)", "0.13333333333334)"}, "go", "tan(a)\tfloat64"},
	{edit{"kernel/integers.go", "", "return x ^ y })", "return x ^ y ^ 1 })"}, "go", "bitwise_xor(a, b)\tint32"},
	{edit{"kernel/cast.go", "func roundToOdd", "u | 1", "u"}, "go", "astype(a, \"float16\")\tfloat64"},
	{edit{"kernel/strided.go", "func copyTiles", "axis{w, line.dst, 1}", "axis{w - w/side, line.dst, 1}"}, "go", "transpose(z)\tfloat32"},
	{edit{"kernel/random.go", "func Philox", "0xBB67AE85", "0xBB67AE84"}, "go", "random(7, 20000)\t-"},
	{edit{"kernel/gemm_amd64.s", "TEXT ·gemm64AVX512", "VFMADD231PD  Z26, Z25, Z1\n", "VFMADD231PD  Z26, Z24, Z1\n"}, "avx512", "matmul(g, h)\tfloat64"},
	{edit{"kernel/gemm_blocked.go", "func goTile", "v * y[3]", "v * y[2]"}, "go", "matmul(g, h)\tfloat32"},
	{edit{"kernel/fold_amd64.s", "TEXT ·sum32AVX512", "VCVTPS2PD 224(AX), Z8", "VCVTPS2PD 192(AX), Z8"}, "avx512", "sum(r, 1)\tfloat32"},
	{edit{"kernel/vector_casts_amd64.s", "TEXT ·vecFloat32ToInt64AVX512", "VCVTTPS2QQ", "VCVTPS2QQ"}, "avx512", "astype(a, \"int64\")\tfloat32"},
	{edit{"exec/merge.go", "", "folder.Merge(m.states[i], states[i], n)", "mergeLate(folder, m.states[i], states[i], n, part, m.Parts)"}, "go", "std(r)\tfloat64"},
	{edit{"op/order/radix.go", "func insert", "b[j] = k", "b[j] = k ^ 1"}, "go", "sort(c, 3)\tfloat64"},
	{edit{"op/order/radix.go", "func move", "b[j] = k", "b[j] = k &^ 1"}, "go", "sort(ravel(x))\tfloat64"},
	{edit{"op/filter/weigh.go", "for ; at < len(dst); at++", "sum += ", "sum -= "}, "go", "convolve(s, full(0.1, 5, 5))\tfloat32"},
	{edit{"op/scan/loops.go", "func runSums", "acc += float64(v)\n\t\t\tdst", "acc = float64(float32(acc) + v)\n\t\t\tdst"}, "go", "cumsum(x, 1)\tfloat32"},
	{edit{"op/fft/passes.go", "func pass4", "y3[q] = (odd - turned) * w3", "y3[q] = (odd + turned) * w3"}, "go", "fft(x, 512, 1)\tfloat32"},
}

// late merges partial results in another order.
const late = `package exec

import (
	"bytes"
	"slices"

	"github.com/gonbext/gonbext/oocore/internal/kernel"
)

var late [][]byte

func mergeLate(f kernel.Folder, to, from []byte, n, part, parts int) {
	late = append(late, bytes.Clone(from))
	if part == parts-1 {
		for _, from := range slices.Backward(late) {
			f.Merge(to, from, n)
		}
		late = nil
	}
}
`

// harmless are a comment, another name of a variable, and a new operation.
var harmless = []edit{
	{"kernel/integers.go", "", "func integerLoops", "// A comment.\nfunc integerLoops"},
	{"kernel/cast.go", "func roundToOdd", "f := float32(x)", "g := float32(x); f := g"},
	{"op/elements/rows.go", "var Rows = []op.Row{", "\n", "\n\t{Name: \"planted\", Build: op.Build(Sinc)},\n"},
	{"exec/merge.go", "", "folder := range m.Folders {\n\t\tif part", "f := range m.Folders {\n\t\tfolder := f\n\t\tif part"},
}

// TestPlantedFaultsAreFound holds the corpus to finding a fault in any loop, and to staying the
// same where no bits change.
func TestPlantedFaultsAreFound(t *testing.T) {
	if runtime.GOARCH != "amd64" || !testcases.Full() {
		t.Skip("compiles twice for minutes: GONBEXT_TEST=full runs it, on amd64")
	}
	wanted, err := read()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("faults", func(t *testing.T) {
		edits := []edit{{file: "exec/late.go", new: late}}
		asked := map[string][]string{}
		for _, f := range faults {
			edits = append(edits, f.edit)
			e, _, _ := strings.Cut(f.key, "\t")
			asked[f.level] = append(asked[f.level], e)
		}
		problems := map[string]map[string]string{}
		binary := built(t, edits)
		for level, expressions := range asked {
			if found := results(t, binary, level, expressions); len(found) > 0 {
				problems[level] = compare(wanted, found)
			}
		}
		for _, f := range faults {
			if p := problems[f.level]; p != nil && p[f.key] != bits {
				t.Errorf("%s: that %q was %q in %s is not found: %q", f.key, f.new, f.old, f.file, p[f.key])
			}
		}
	})
	t.Run("harmless", func(t *testing.T) {
		asked := expressions(t)
		found := results(t, built(t, harmless), "go", testcases.Sample(t, asked, len(asked)/10, func(string) []string { return []string{""} }))
		if len(found) < 100 {
			t.Errorf("only %d results", len(found))
		}
		for key, problem := range compare(wanted, found) {
			t.Errorf("%s: %s", key, problem)
		}
	})
}

// built is a test binary of this package, compiled with edits.
func built(t *testing.T, edits []edit) string {
	t.Helper()
	folder, texts := t.TempDir(), map[string]string{}
	for _, e := range edits {
		path, err := filepath.Abs(filepath.Join("..", e.file))
		if err != nil {
			t.Fatal(err)
		}
		text, ok := texts[path]
		if b, err := os.ReadFile(path); err == nil && !ok {
			text = string(b)
		}
		at := max(strings.Index(text, e.after), 0)
		before, rest := text[:at], text[at:]
		if !strings.Contains(rest, e.old) || !strings.Contains(text, e.after) {
			t.Fatalf("%s has no %q after %q any more: edit another place", e.file, e.old, e.after)
		}
		texts[path] = before + strings.Replace(rest, e.old, e.new, 1)
	}
	replaced := map[string]string{}
	for i, path := range slices.Sorted(maps.Keys(texts)) {
		replaced[path] = filepath.Join(folder, string(rune('a'+i))+filepath.Ext(path))
		testcases.WriteFile(t, replaced[path], []byte(texts[path]), 0o600)
	}
	b, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	overlay, binary := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "corpus.test")
	testcases.WriteFile(t, overlay, b, 0o600)
	if out, err := command.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func results(t *testing.T, binary, level string, expressions []string) map[string]*digests {
	t.Helper()
	lines, err := inProcess(binary, level, expressions)
	if err != nil {
		t.Error(err)
	}
	found := map[string]*digests{}
	for _, l := range lines {
		found[l.key] = &digests{l.revisions, map[string]string{level: l.digest}}
	}
	return found
}
