// Command asm writes the vector loops of package kernel: assembly, its Go
// declarations, and the tables that Lookup and Cast read; and for package ptx the
// formulas for GPUs. Its output depends on nothing but its source. Run it by go generate
// in those packages.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	writes := map[string]func(dir string) error{"cpu": generate, "ptx": generatePTX}
	if len(os.Args) != 3 || writes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: asm cpu|ptx DIRECTORY")
		os.Exit(2)
	}
	if err := writes[os.Args[1]](os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "asm:", err)
		os.Exit(1)
	}
}

func generate(dir string) error {
	t := &tables{}
	all, err := formulas()
	if err != nil {
		return err
	}
	for name, source := range map[string]func() ([]byte, error){
		"ops.go":      opsSource,
		"formulas.go": func() ([]byte, error) { return plainSource(all) },
	} {
		b, err := source()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		name  string
		loops func() []loop
	}{
		{"formulas", func() []loop { return formulaLoops(all) }},
		{"integers", integerLoops},
		{"compares", compareLoops},
		{"casts", castLoops},
		{"float8", float8Loops},
	} {
		loops := f.loops()
		t.add(loops)
		err := write(dir, "vector_"+f.name, func(m *machine) {
			for _, l := range loops {
				if l.supports(m.wide) {
					m.emit(l)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for name, emit := range map[string]func(*machine){"random": (*machine).emitRandom, "q8": (*machine).emitQ8} {
		if err := write(dir, "vector_"+name, emit); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "vector_tables_amd64.go"), t.source(), 0o644)
}

// generatePTX writes the formulas for GPUs.
func generatePTX(dir string) error {
	all, err := formulas()
	if err != nil {
		return err
	}
	source, err := ptxSource(all)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "formulas.go"), source, 0o644)
}

// write emits one file, for both levels.
func write(dir, name string, emit func(*machine)) error {
	c := build.NewContext()
	c.ConstraintExpr("amd64")
	constants := map[string]constant{}
	for _, wide := range []bool{true, false} {
		emit(&machine{Context: c, wide: wide, constants: constants})
	}
	f, err := c.Result()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := pass.Compile.Execute(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	cfg := printer.Config{Name: "internal/asm", Pkg: "kernel"}
	for suffix, p := range map[string]printer.Printer{"_amd64.s": printer.NewGoAsm(cfg), "_amd64.go": printer.NewStubs(cfg)} {
		b, err := p.Print(f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+suffix), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
