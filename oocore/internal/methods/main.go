// Command methods writes the methods and functions of Go that follow from the rows of
// operations, with their comments.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/expr"
	"github.com/gonbext/gonbext/oocore/internal/kernel"
	"github.com/gonbext/gonbext/oocore/internal/op"
)

func main() {
	files, err := all()
	for folder, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, file), text, 0o644))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// all are the files of all rows, that of package oocore with the list of its operations.
func all() (map[string][]byte, error) {
	files, err := methods(expr.Functions())
	if err == nil {
		files[""] = bytes.Replace(files[""], []byte("package oocore"), []byte(sections(expr.Families)+"package oocore"), 1)
	}
	return files, err
}

const (
	file  = "methods_gen.go"
	width = 96 // of a comment's lines
)

// types are those of Go's parameters for each kind of argument.
var types = map[op.Kind][]string{
	op.Array: {"*Array", "any"}, op.Arrays: {"...*Array", "...any", "[]*Array"}, op.Integer: {"int"}, op.Integers: {"...int", "[]int", "int"}, op.Number: {"float64"},
	op.Numbers: {"[]float64", "...float64"}, op.Seed: {"uint64"}, op.Text: {"string"}, op.Flag: {"bool"}, op.Type: {"DType"}, op.Scalar: {"any"}, op.Any: {"int", "string"},
}

// byHand are the functions of rows that are written by hand, by the reason.
var byHand = map[string][]string{
	"it returns as many errors as it was asked for results": {"Array.Split", "Indices", "Meshgrid"},
	"it returns a struct": {"decomp.CP", "decomp.HOSVD", "decomp.Tucker", "linalg.Lstsq", "Array.GroupBy", "Array.Quantize", "Quantized.Dequantize"},
	"it takes numbers where expressions take arrays or text": {"filter.LFilter", "filter.SOSFilt", "filter.SOSFiltFilt"},
	"it takes a type that expressions do not name":           {"Array.MatMul", "Ones", "Random", "RandomIntegers", "RandomNormal", "Zeros"},
	"it is several rows": {"Array.Histogram", "Array.Histogram2D", "Array.HistogramBinEdges", "Array.HistogramDD", "Array.MedianWith", "Array.Quantile", "Array.Percentile", "Array.Quantiles", "Array.Reduce", "Array.UniqueAll", "Array.UniqueCounts", "TriangleIndices"},
	"its numbers are pairs, one for rows and one for columns": {"nn.AvgPool2D", "nn.Conv2D", "nn.MaxPool2D"},
	"it plans no more than its pass":                          {"Array.Bincount"},
	"it reads labels":                                         {"Array.Coord", "Array.IdxMax", "Array.IdxMin", "Array.Reindex", "Array.Resample", "Array.Sel", "Array.Shift", "Array.SortBy", "Array.WithCoord", "Near"},
	"its row reads its arguments itself":                      {"Array.Pad", "RavelMultiIndex"},
	"it takes lists and structs where expressions do not":     {"Array.Delete", "Array.Insert", "Array.Piecewise", "Array.Tensordot", "Blocks", "Select", "linalg.Cond", "linalg.Norm"},
}

// methods are the files of the operations whose rows have a signature, by the folder of oocore
// that each lies in.
func methods(all []*op.Operation) (map[string][]byte, error) {
	texts := map[string]string{}
	known := map[string]bool{"": true}
	for _, names := range byHand {
		for _, name := range names {
			known[name] = true
		}
	}
	for _, o := range all {
		if strings.Contains(strings.TrimPrefix(o.Go, "("), "(") {
			known[o.GoName()] = true
		}
	}
	for _, o := range all {
		if !known[o.GoName()] {
			return nil, fmt.Errorf("row %s: %s has no signature, and byHand does not say why", o.Name, o.Go)
		}
		if o.Alias != "" {
			continue
		}
		for i, f := range append([]op.Func{{Go: o.Go, Doc: o.Doc}}, o.More...) {
			if !strings.Contains(strings.TrimPrefix(f.Go, "("), "(") {
				continue
			}
			folder, signature, is := strings.Cut(f.Go, ".")
			if !is || strings.ContainsAny(folder, "( ") {
				folder, signature = "", f.Go
			}
			text, err := method(o, signature, f.Doc, folder == "")
			if err != nil {
				return nil, fmt.Errorf("row %s: %w", o.Name, err)
			}
			doc := f.Doc
			if costs := o.Costs(); i == 0 && costs != "" {
				doc += "\n\n" + costs
			}
			if folder != "" {
				text = strings.ReplaceAll(text, "*Array", "*oocore.Array")
			}
			texts[folder] += "\n" + comment(doc) + text
		}
	}
	files := map[string][]byte{}
	for folder, text := range texts {
		head, err := header(folder, text)
		if err != nil {
			return nil, err
		}
		if files[folder], err = format.Source([]byte(head + text)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// sections list the methods and functions of package oocore by families, for its documentation.
func sections(families []expr.Family) string {
	var b strings.Builder
	b.WriteString("// # Operations by kind\n")
	for _, f := range families {
		var names []string
		for _, r := range f.Rows {
			for _, g := range append([]op.Func{{Go: r.Go}}, r.More...) {
				name := g.Name()
				if in, _, is := strings.Cut(name, "."); name != "" && (!is || in == "Array") {
					names = append(names, name)
				}
			}
		}
		slices.Sort(names)
		if names = slices.Compact(names); names != nil {
			b.WriteString("//\n" + comment(f.Title+": ["+strings.Join(names, "], [")+"]."))
		}
	}
	return b.String()
}

// called of the packages other than oocore begins a call.
const called = `
func called(op string) door.Call[oocore.Array, *oocore.Array] { return door.Called[oocore.Array](op) }
`

// packages are those that files name, by the names that they have there: "shapes", as a parameter of some
// methods is named shape.
var packages = map[string]string{
	"context": "context", "oocore": module, "types": module + "/types", "graph": module + "/internal/graph", "kernel": module + "/internal/kernel",
	"door": module + "/internal/door", "op": module + "/internal/op", "shapes": module + "/internal/op/shape",
}

const module = "github.com/gonbext/gonbext/oocore"

// header begins a package's file of a text, with its imports.
func header(folder, text string) (string, error) {
	if folder != "" {
		text += called
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0)
	if err != nil {
		return "", err
	}
	imports := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if of, is := n.(*ast.SelectorExpr); is {
			if id, is := of.X.(*ast.Ident); is && slices.Contains(file.Unresolved, id) {
				imports[cmp.Or(packages[id.Name], module+"/internal/op/"+id.Name)] = id.Name
			}
		}
		return true
	})
	var b strings.Builder
	fmt.Fprintf(&b, "// Code generated by internal/methods from the rows of operations. DO NOT EDIT.\n\npackage %s\n\nimport (\n", cmp.Or(folder, "oocore"))
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		name := imports[path]
		if path == name || strings.HasSuffix(path, "/"+name) {
			name = ""
		}
		fmt.Fprintf(&b, "\t%s %q\n", name, path)
	}
	b.WriteString(")\n")
	if folder != "" {
		b.WriteString(called)
	}
	return b.String(), nil
}

// method is a function of Go of an operation: a call of the row's builder with a struct of its arguments.
func method(o *op.Operation, signature, doc string, root bool) (string, error) {
	signature, given, explicit := strings.Cut(signature, " = ")
	parsed, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc "+signature, 0)
	if err != nil {
		return "", fmt.Errorf("%s is no signature: %w", signature, err)
	}
	f := parsed.Decls[0].(*ast.FuncDecl)
	if !strings.HasPrefix(doc, f.Name.Name+" ") {
		return "", fmt.Errorf("its Doc does not begin with %s", f.Name.Name)
	}
	result := ""
	layer := false
	if f.Type.Results == nil {
		result = " *Array"
	} else {
		layer = written(f.Type.Results.List[0].Type) == "Layer"
	}
	path, name, preset := o.Function()
	if !token.IsExported(name) {
		return "", fmt.Errorf("its builder, %s, is not exported, and so no function of Go calls it", name)
	}
	values, err := arguments(o, f, layer, given, explicit)
	if err != nil {
		return "", err
	}
	build, args := qualified(path, name), literal(preset, values)
	begin := fmt.Sprintf("in := called(%q)", o.Name)
	if o.Moves {
		begin = fmt.Sprintf("in := moving(%q)", o.Name)
	}
	form := map[int]string{1: "Result", 2: "Pair", 3: "Triple", -1: "List"}[o.Results()]
	call := fmt.Sprintf("return in.%s(%s(in.Site, %s))", form, build, args)
	fields := f.Type.Params.List
	switch {
	case layer:
		begin, call = fmt.Sprintf("return Layer{%q, func(x *Array) *Array {", o.Name), begin+"\n"+call+"\n}}"
	case root && len(fields) > 0 && written(fields[len(fields)-1].Type) == "...Option":
		run, which := fmt.Sprintf("n, err := %s(in.Site, args)\nreturn []*graph.Node{n}, err", build), "[0]"
		if o.Results() < 0 {
			run, which = fmt.Sprintf("return %s(in.Site, args)", build), ""
		}
		call = fmt.Sprintf("args := %s\nreturn results(ctx, &in, opts, func(run op.Run) ([]*graph.Node, error) {\nargs.Run = run\n%s\n})%s", args, run, which)
	}
	return fmt.Sprintf("func %s%s {\n%s\n%s\n}\n", signature, result, begin, call), nil
}

// qualified is a name of a package.
func qualified(path, name string) string {
	for short, of := range packages {
		if of == path {
			return short + "." + name
		}
	}
	return path[strings.LastIndex(path, "/")+1:] + "." + name
}

// literal is a struct whose fields have values, or what they are preset to.
func literal(preset reflect.Value, values map[string]string) string {
	var fields []string
	t := preset.Type()
	for i := range t.NumField() {
		f, value := t.Field(i), ""
		switch {
		case f.Anonymous:
			value = strings.TrimSuffix(literal(preset.Field(i), values), "{}")
			if !strings.HasSuffix(value, "}") {
				continue
			}
		case values[f.Name] != "":
			value = values[f.Name]
		case !preset.Field(i).IsZero():
			value = constant(preset.Field(i).Interface())
		default:
			continue
		}
		fields = append(fields, f.Name+": "+value)
	}
	return qualified(t.PkgPath(), t.Name()) + "{" + strings.Join(fields, ", ") + "}"
}

// constant is a value as Go writes it.
func constant(value any) string {
	switch v := value.(type) {
	case kernel.Op:
		return "kernel." + v.Row().Const
	case kernel.Reduction:
		name := map[kernel.Reduction]string{kernel.ArgMin: "ArgMin", kernel.ArgMax: "ArgMax", kernel.CountNonzero: "CountNonzero"}[v]
		return "kernel." + cmp.Or(name, strings.ToUpper(v.String()[:1])+v.String()[1:])
	}
	return fmt.Sprintf("%#v", value)
}

// arguments are the values of the builder's fields: those that are given, in the order of the fields, or
// a function's parameters by name or else in order. The first of a layer is x.
func arguments(o *op.Operation, f *ast.FuncDecl, layer bool, given string, explicit bool) (map[string]string, error) {
	params := slices.DeleteFunc(slices.Clone(o.Params), func(p op.Param) bool { return p.Kind == op.Part })
	values := map[string]string{}
	if layer {
		values[params[0].Field] = "in.Node(x)"
		params = params[1:]
	}
	args, of := make([]string, len(params)), map[string]string{}
	var fields []*ast.Field
	if f.Recv != nil {
		fields = f.Recv.List
	}
	for _, field := range append(fields, f.Type.Params.List...) {
		t := written(field.Type)
		if t == "context.Context" || t == "...Option" {
			continue
		}
		for _, name := range field.Names {
			of[name.Name] = t
			if explicit {
				continue
			}
			i := slices.IndexFunc(params, func(p op.Param) bool { return p.Name == name.Name })
			switch {
			case f.Recv != nil && field == f.Recv.List[0]:
				i = slices.IndexFunc(params, func(p op.Param) bool { return p.Kind == op.Array })
			case i < 0 || args[i] != "":
				i = slices.Index(args, "")
			}
			if i < 0 || args[i] != "" {
				return nil, fmt.Errorf("%s has no argument for %s", o.Usage, name)
			}
			if !slices.Contains(types[params[i].Kind], t) {
				return nil, fmt.Errorf("%s is %s, and the builder's field for %s takes another", name, t, params[i].Name)
			}
			args[i] = name.Name
		}
	}
	if explicit {
		list, err := parser.ParseExpr("f(" + given + ")")
		if err != nil {
			return nil, fmt.Errorf("%s are no arguments: %w", given, err)
		}
		for i, arg := range list.(*ast.CallExpr).Args {
			if i == len(args) {
				return nil, fmt.Errorf("%s has no argument for %s", o.Usage, written(arg))
			}
			args[i] = written(arg)
		}
	}
	for i, p := range params {
		if value := valueOf(p, args[i], of[args[i]]); value != "" {
			values[p.Field] = value
		}
	}
	return values, nil
}

// valueOf is what a field has of an argument of Go of a type, which is "" where it is no parameter; "" is the zero
// value.
func valueOf(p op.Param, arg, t string) string {
	switch {
	case arg == "" && p.Default == nil:
		return ""
	case arg == "":
		return fmt.Sprintf("%#v", p.Default)
	case p.Kind == op.Array && p.Optional && p.Default == nil:
		return "in.Optional(" + arg + ")"
	case p.Kind == op.Array:
		return "in.Node(" + arg + ")"
	case p.Kind == op.Arrays:
		return "door.Nodes(&in, " + arg + ")"
	case p.Kind == op.Integers && t == "int":
		return "[]int{" + arg + "}"
	case p.Kind == op.Any && t == "int":
		return "op.Int(" + arg + ")"
	case p.Kind == op.Any:
		return "op.String(" + arg + ")"
	}
	return arg
}

// written is a type as it is written.
func written(t ast.Expr) string {
	var b bytes.Buffer
	if err := format.Node(&b, token.NewFileSet(), t); err != nil {
		return err.Error()
	}
	return b.String()
}

// comment is a text as a comment, its paragraphs wrapped; indented lines stay as they are.
func comment(doc string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(doc, "\n\n") {
		if i > 0 {
			b.WriteString("//\n")
		}
		if strings.HasPrefix(paragraph, "\t") || strings.HasPrefix(paragraph, "  - ") {
			for line := range strings.SplitSeq(paragraph, "\n") {
				b.WriteString("// " + line + "\n")
			}
			continue
		}
		line := "//"
		for word := range strings.FieldsSeq(paragraph) {
			if len(line)+len(word) >= width {
				b.WriteString(line + "\n")
				line = "//"
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
