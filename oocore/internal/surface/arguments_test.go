package surface

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// settable are exported variables that are no errors, and why they are.
var settable = map[string]string{
	"gonbext.Last": "the kernel puts the assignment in front of a cell's last line, and compilers' messages would name a function",
}

// optionsBeforeArrays are functions whose options do not come last, and why.
var optionsBeforeArrays = map[string]string{
	"oocore.MapArrays": "deprecated",
}

// complaints are what is unclear in the exported functions and variables of a package.
func complaints(p *types.Package) (found []string) {
	check := func(name string, s *types.Signature) {
		last, leading := -1, 0 // that is a function; functions before all else
		for i := range s.Params().Len() {
			t := s.Params().At(i).Type()
			if _, is := t.Underlying().(*types.Signature); is && !strings.HasPrefix(types.TypeString(t, nil), "iter.") {
				if last == i-1 { // functions come together
					leading++
				}
				last = i
			}
			array := strings.Contains(types.TypeString(t, (*types.Package).Name), "*oocore.Array")
			if array && i > 0 && last != i && strings.HasSuffix(types.TypeString(s.Params().At(i-1).Type(), (*types.Package).Name), "Options") && optionsBeforeArrays[name] == "" {
				found = append(found, name+" takes options before arrays")
			}
		}
		if last >= leading && slices.Contains(compatible, strings.TrimPrefix(p.Path(), module)) {
			found = append(found, name+" takes a function after other arguments")
		}
	}
	for _, name := range p.Scope().Names() {
		if !token.IsExported(name) {
			continue
		}
		at := p.Name() + "." + name
		switch o := p.Scope().Lookup(name).(type) {
		case *types.Func:
			check(at, o.Signature())
		case *types.Var:
			if settable[at] == "" && !types.Implements(o.Type(), types.Universe.Lookup("error").Type().Underlying().(*types.Interface)) {
				found = append(found, at+" is a variable that any package can set")
			}
		case *types.TypeName:
			if i, ok := o.Type().Underlying().(*types.Interface); ok {
				for m := range i.Methods() {
					if m.Exported() {
						check(at+"."+m.Name(), m.Signature())
					}
				}
			}
			methods := types.NewMethodSet(types.NewPointer(o.Type()))
			for m := range methods.Methods() {
				if f := m.Obj().(*types.Func); f.Exported() {
					check(at+"."+f.Name(), f.Signature())
				}
			}
		}
	}
	return found
}

// A function comes first, then arrays, then options. And no package can set what another reads.
func TestArgumentsAreClear(t *testing.T) {
	paths := make([]string, len(public))
	for i, p := range public {
		paths[i] = module + p
	}
	for _, p := range load(t, paths) {
		for _, found := range complaints(p) {
			t.Error(found)
		}
	}
}

func TestComplaintsFindWhatIsUnclear(t *testing.T) {
	p := types.NewPackage(module+"oocore", "oocore")
	array := types.NewPointer(types.NewNamed(types.NewTypeName(token.NoPos, p, "Array", nil), types.NewStruct(nil, nil), nil))
	options := types.NewNamed(types.NewTypeName(token.NoPos, p, "MapOptions", nil), types.NewStruct(nil, nil), nil)
	function := types.NewSignatureType(nil, nil, nil, nil, nil, false)
	for name, params := range map[string][]types.Type{
		"Late": {array, function}, "Before": {function, options, array},
		"Fine": {function, array, options}, "None": {},
	} {
		var vars []*types.Var
		for _, t := range params {
			vars = append(vars, types.NewParam(token.NoPos, p, "", t))
		}
		p.Scope().Insert(types.NewFunc(token.NoPos, p, name, types.NewSignatureType(nil, nil, nil, types.NewTuple(vars...), nil, false)))
	}
	p.Scope().Insert(types.NewVar(token.NoPos, p, "Settable", types.Typ[types.Int]))
	p.Scope().Insert(types.NewVar(token.NoPos, p, "ErrNone", types.Universe.Lookup("error").Type()))
	if found := complaints(p); len(found) != 3 {
		t.Errorf("%q", found)
	}
}
