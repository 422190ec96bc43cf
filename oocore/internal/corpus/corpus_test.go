package corpus

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	command "os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gonbext/gonbext/oocore"
	_ "github.com/gonbext/gonbext/oocore/decomp" // for expressions
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/door"
	"github.com/gonbext/gonbext/oocore/internal/exec"
	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/graph"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/plan"
	"github.com/gonbext/gonbext/oocore/internal/plan/compile"
	"github.com/gonbext/gonbext/oocore/internal/plan/size"
	"github.com/gonbext/gonbext/oocore/internal/simd"
	stores "github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/testcases"
)

var update = flag.Bool("update", false, "write the digests anew, but for those of bits that changed without a revision")

const (
	digestsFile = "testdata/digests"
	// request is set for a process that computes the expressions of its standard input.
	request = "GONBEXT_CORPUS"
	// none is the type of an expression without arrays of the type in question.
	none = "-"
)

var types = dtype.All()

type array struct {
	shape []int
	dtype dtype.Type // zero: the type in question
	kind  rune       // of values
}

var arrays = map[string]array{
	"a": {[]int{33, 521}, 0, 'a'}, "b": {[]int{33, 521}, 0, 'a'}, "x": {[]int{33, 521}, 0, 'x'}, "y": {[]int{33, 521}, 0, 'x'},
	"p": {[]int{33, 521}, 0, 'p'}, "s": {[]int{37, 37}, 0, 'x'}, "v": {[]int{65}, 0, 'x'}, "c": {[]int{2, 3, 17, 19}, 0, 'x'},
	"t": {[]int{22, 20, 18}, 0, 'x'}, "g": {[]int{70, 700}, 0, 'x'}, "h": {[]int{700, 131}, 0, 'x'}, "r": {[]int{1100, 1031}, 0, 'x'},
	"z": {[]int{300, 257}, 0, 'x'}, "i": {[]int{33, 521}, dtype.Int64, 'i'}, "j": {[]int{33, 521}, dtype.Int64, 'i'}, "w": {[]int{65}, dtype.Int64, 'i'},
	"m": {[]int{33, 521}, dtype.Bool, 'i'},
}

// digests are those of one expression and type.
type digests struct {
	revisions string            // of what its plan uses; empty: the first
	of        map[string]string // by the level of instructions: of the bits, and of the plan
}

// levels are the instructions that kernels may use.
var levels = []string{"avx512", "avx2", "go"}

func TestMain(m *testing.M) {
	if os.Getenv(request) == "" {
		os.Exit(m.Run())
	}
	if err := compute(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestDigests computes all expressions where all tests run, else a sample, with each level of
// instructions that the machine has.
func TestDigests(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are of amd64")
	}
	wanted, err := read()
	if err != nil {
		t.Fatal(err)
	}
	asked := expressions(t)
	all := testcases.Full() || *update
	if !all {
		asked = testcases.Sample(t, asked, len(asked)/10, func(string) []string { return []string{""} })
	}
	found := map[string]*digests{}
	var lock sync.Mutex
	var processes sync.WaitGroup
	for _, level := range levels {
		processes.Go(func() {
			lines, err := inProcess(os.Args[0], level, asked)
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				t.Errorf("%s: %v", level, err)
			}
			for _, l := range lines {
				d := found[l.key]
				if d == nil {
					d = &digests{revisions: l.revisions, of: map[string]string{}}
					found[l.key] = d
				}
				d.of[level] = l.digest
			}
		})
	}
	processes.Wait()
	if t.Failed() {
		return
	}
	for key, problem := range compare(wanted, found) {
		t.Errorf("%s: %s", key, problem)
	}
	for key := range wanted {
		if found[key] == nil && all && !*update {
			t.Errorf("%s gives no result any more", key)
		}
	}
	if !*update {
		return
	}
	if err := write(found); err != nil {
		t.Fatal(err)
	}
}

// The differences between digests.
const (
	added    = "it is not in the corpus: go generate ./oocore/internal/corpus adds it"
	bits     = "its bits changed and no revision of what it uses did"
	revision = "a revision changed and its bits did not"
	both     = "its bits and revisions changed: go generate ./oocore/internal/corpus notes that"
	planned  = "its plan changed and its bits did not: results that were saved would be computed again. Where that has to be, go generate ./oocore/internal/corpus notes it"
)

// compare says what differs. Under -update that is bits without a revision alone, of which the
// digests that were wanted are left in place.
func compare(wanted, found map[string]*digests) map[string]string {
	problems := map[string]string{}
	for key, got := range found {
		want := wanted[key]
		if want == nil {
			if !*update {
				problems[key] = added
			}
			continue
		}
		bitsChanged, planChanged := false, false
		for level, d := range got.of {
			if want.of[level] == "" {
				continue
			}
			b, p, _ := strings.Cut(d, "/")
			wantBits, wantPlan, _ := strings.Cut(want.of[level], "/")
			bitsChanged, planChanged = bitsChanged || b != wantBits, planChanged || p != wantPlan
		}
		revised := got.revisions != want.revisions
		if !bitsChanged && !planChanged && !revised {
			for level, d := range want.of {
				if got.of[level] == "" { // this machine has not the instructions
					got.of[level] = d
				}
			}
		}
		switch {
		case bitsChanged && !revised:
			problems[key] = bits
			found[key] = want
		case *update:
		case revised && !bitsChanged:
			problems[key] = revision
		case revised:
			problems[key] = both
		case planChanged:
			problems[key] = planned
		}
	}
	return problems
}

// line is what a process prints of a result.
type line struct{ key, revisions, digest string }

// inProcess computes expressions in a process of a test binary of this package. A machine with
// fewer instructions than the level's gives no lines.
func inProcess(binary, level string, expressions []string) (lines []line, err error) {
	cmd := command.Command(binary)
	cmd.Env = append(os.Environ(), request+"=1", "GONBEXT_CPU="+level, "GONBEXT_BLAS=none", "GONBEXT_RUNS="+os.DevNull+"/none")
	cmd.Stdin = strings.NewReader(strings.Join(expressions, "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(out))
	for d.More() {
		var fields [4]string
		if err := d.Decode(&fields); err != nil {
			return nil, err
		}
		if fields[1] == level {
			lines = append(lines, line{fields[0], fields[2], fields[3]})
		}
	}
	return lines, nil
}

var text = regexp.MustCompile(`"[^"]*"`)

// compute writes the digests of the expressions of standard input.
func compute(to *os.File) error {
	if simd.Err() != nil {
		return nil
	}
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stored := map[dtype.Type]*operands{}
	for _, d := range types {
		if stored[d], err = store(dir, d); err != nil {
			return err
		}
	}
	level := strings.TrimPrefix(kernel.Vectors(), "amd64 ")
	out := json.NewEncoder(to)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		e := lines.Text()
		names := regexp.MustCompile(`\b[a-z]\b`).FindAllString(text.ReplaceAllString(e, ""), -1)
		typed := slices.ContainsFunc(names, func(name string) bool { a, ok := arrays[name]; return ok && a.dtype == 0 })
		for _, d := range types {
			revisions, digest, err := evaluate(e, stored[d])
			key := e + "\t" + d.String()
			if !typed {
				key = e + "\t" + none
			}
			if err == nil {
				err = out.Encode([4]string{key, level, revisions, digest})
			} else if key == os.Getenv("GONBEXT_CORPUS_WHY") {
				fmt.Fprintln(os.Stderr, key, err)
			}
			if err != nil && errors.Is(err, os.ErrClosed) {
				return err
			}
			if !typed {
				break
			}
		}
	}
	return nil
}

// operands are the arrays of a type.
type operands struct {
	nodes map[string]*graph.Node
	names oocore.Names
}

// evaluate computes an expression. An error is that of a type that it does not take.
func evaluate(e string, in *operands) (revisions, digest string, err error) {
	ctx := context.Background()
	p, err := sized(ctx, e, in)
	if err != nil {
		return "", "", err
	}
	out := &p.Arrays[p.Output]
	b := make([]byte, out.Bytes())
	if _, err := exec.Run(ctx, p, exec.Env{Into: b}); err != nil {
		return "", "", err
	}
	clearNaN(out.DType, b)
	f := p.Plan.Fingerprint("", nil)
	_, revisions, _ = strings.Cut(f.Revisions, ", ")
	if n := plan.Revision(plan.TuckerRevision); n > 1 && strings.HasPrefix(e, "tucker(") {
		revisions = strings.TrimPrefix(revisions+fmt.Sprintf(", %s %d", plan.TuckerRevision, n), ", ")
	}
	blocks := f.Expression
	for i := range p.Arrays { // by which a checkpoint has temporary arrays
		blocks += fmt.Sprint(p.Arrays[i].Blocks)
	}
	return revisions, short(fmt.Append(b, out.DType, out.Shape), 5) + "/" + short([]byte(blocks), 3), nil
}

// sized returns the plan of an expression: of one that runs nothing while it is built, without
// reading the limits of the machine each time.
func sized(ctx context.Context, e string, in *operands) (*size.Plan, error) {
	n, err := expr.Parse(e, in.nodes, nil)
	if err != nil {
		p, err := oocore.EvalContext(ctx, e, in.names, oocore.Workers(1)).Plan("", oocore.Workers(1))
		if err != nil {
			return nil, err
		}
		return door.PlanOf(p), nil
	}
	p, err := compile.New(n, compile.Target{})
	if err != nil {
		return nil, err
	}
	return size.New(p, size.Options{Budget: 1 << 30, Workers: 1})
}

// clearNaN makes all NaN of an array one: their sign and payload are those of the processor.
func clearNaN(d dtype.Type, b []byte) {
	if d = partOf(d); d.Kind() != dtype.KindFloat {
		return
	}
	n, mantissa := d.Size(), uint64(1)<<exponent[d]-1
	infinity := uint64(1)<<(8*n-1) - 1 - mantissa
	var element [8]byte
	for at := 0; at < len(b); at += n {
		copy(element[:], b[at:at+n])
		if v := binary.LittleEndian.Uint64(element[:]); v&infinity == infinity && v&mantissa != 0 {
			binary.LittleEndian.PutUint64(element[:], infinity|mantissa)
			copy(b[at:at+n], element[:])
		}
	}
}

// partOf is the type of a complex number's parts, and else the type itself.
func partOf(d dtype.Type) dtype.Type {
	switch d {
	case dtype.Complex64:
		return dtype.Float32
	case dtype.Complex128:
		return dtype.Float64
	}
	return d
}

func short(b []byte, n int) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:n])
}

// store puts the arrays of a type into files.
func store(dir string, d dtype.Type) (*operands, error) {
	in := &operands{map[string]*graph.Node{}, oocore.Names{}}
	for name, a := range arrays {
		of := a.dtype
		if of == 0 {
			of = d
		}
		path := filepath.Join(dir, fmt.Sprintf("%s-%s.bin", name, d))
		if err := os.WriteFile(path, values(of, a.kind, grid.Size(a.shape), uint64(name[0])), 0o600); err != nil {
			return nil, err
		}
		path += fmt.Sprintf("?shape=%s&dtype=%s", grid.Format(a.shape), of)
		if name == "z" {
			chunked := filepath.Join(dir, d.String()+".zarr")
			if _, err := oocore.Open(path).Save(context.Background(), chunked, oocore.Chunks(64, 50), oocore.Codec("none")); err != nil {
				return nil, err
			}
			path = chunked
		}
		file, err := stores.Open(path)
		if err != nil {
			return nil, err
		}
		n, err := graph.Open(graph.Site{}, file.Info(), name)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		in.names[name], in.nodes[name] = oocore.Open(path), n
	}
	return in, nil
}

// values are n elements of a type.
func values(d dtype.Type, kind rune, n int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	part := partOf(d)
	var b []byte
	var element [8]byte
	for k := range n * d.Size() / part.Size() {
		binary.LittleEndian.PutUint64(element[:], value(part, kind, k, random))
		b = append(b, element[:part.Size()]...)
	}
	return b
}

// value returns the bits of an element that is not complex.
func value(d dtype.Type, kind rune, k int, random *rand.Rand) uint64 {
	u := random.Uint64()
	switch {
	case d == dtype.Bool:
		return u >> 63
	case d.Kind() < dtype.KindFloat && kind == 'a' && k%2 == 0:
		return u
	case d.Kind() == dtype.KindInt && kind == 'a':
		return u%17 - 8
	case d.Kind() < dtype.KindFloat && kind == 'p':
		return u%5 + 1
	case d.Kind() < dtype.KindFloat:
		return u % 13
	}
	x := 0.25 + 1.75*random.Float64()
	if kind == 'x' && u>>63 == 1 {
		x = -x
	}
	if kind == 'a' && k%4 != 0 {
		if k%4 == 1 {
			return u >> (u % 7 * 2) &^ (1 << exponent[d]) // of any magnitude, and no NaN
		}
		x *= 8 * float64(k%4)
	} else if kind == 'a' {
		x = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 0.5}[u>>61]
	}
	single := uint64(math.Float32bits(float32(x)))
	switch d {
	case dtype.Float64:
		return math.Float64bits(x)
	case dtype.Float32:
		return single
	case dtype.BFloat16:
		return single >> 16
	}
	sign := single >> 16 & 0x8000
	switch { // float16
	case x == 0:
		return sign
	case math.IsInf(x, 0):
		return sign | 0x7c00
	case math.IsNaN(x):
		return 0x7e00
	default:
		return sign | (single>>13&0x3ffff - 112<<10)
	}
}

// exponent is the lowest bit of each type's exponent.
var exponent = map[dtype.Type]int{dtype.Float16: 10, dtype.BFloat16: 7, dtype.Float32: 23, dtype.Float64: 52}

func read() (map[string]*digests, error) {
	b, err := os.ReadFile(digestsFile)
	if errors.Is(err, os.ErrNotExist) && *update {
		return nil, nil
	}
	all := map[string]*digests{}
	for l := range strings.Lines(string(b)) {
		fields := strings.Split(strings.TrimSuffix(l, "\n"), "\t")
		if len(fields) != 4 {
			return nil, fmt.Errorf("%s: %q has %d fields, not 4", digestsFile, l, len(fields))
		}
		d := &digests{fields[2], map[string]string{}}
		of := strings.Fields(fields[3])
		for i, level := range levels {
			d.of[level] = of[min(i, len(of)-1)]
		}
		all[fields[0]+"\t"+fields[1]] = d
	}
	return all, err
}

// write writes all digests, by level where they differ.
func write(all map[string]*digests) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(all)) {
		d := all[key]
		var of []string
		for _, level := range levels {
			if d.of[level] == "" {
				return fmt.Errorf("%s has no result of %s: take a machine that has all of them", key, level)
			}
			of = append(of, d.of[level])
		}
		if of[0] == of[1] && of[1] == of[2] {
			of = of[:1]
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\n", key, d.revisions, strings.Join(of, " "))
	}
	return os.WriteFile(digestsFile, []byte(b.String()), 0o644)
}
