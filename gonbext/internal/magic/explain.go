package magic

import (
	"fmt"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	undefinedName   = regexp.MustCompile(`^undefined: (\w+)(?:\.(\w+))?$`)
	undefinedMember = regexp.MustCompile(`(?:undefined \(type \*?([\w.]+) has no field or method (\w+)|^unknown field (\w+) in struct literal of type ([\w.]+))`)
	failedGet       = regexp.MustCompile(`^go: (?:module )?(\S+?): `)
	unknownModule   = regexp.MustCompile(`(?:no required module provides package ([^\s;:]+)|imports (\S+) from implicitly required module)`)
)

// Explain says what to do about a fault that the compiler has found at a line and a column of a cell, and what the fault
// is where the compiler blames another name.
func (s *Session) Explain(code string, line, column int, fault string) (text, hint string) {
	if hint = s.explainPython(code, line, column, fault); hint != "" {
		return fault, hint
	}
	if m := unknownModule.FindStringSubmatch(fault); m != nil {
		return "no required module provides package " + m[1] + m[2], fmt.Sprintf("!*go get %s%s fetches it for this notebook, and %%autoget whatever cells import", m[1], m[2])
	}
	if m := failedGet.FindStringSubmatch(fault); m != nil {
		return fault, fmt.Sprintf("!*go get %s@VERSION asks for a version of it, and %%noautoget has cells built with the modules that are here", m[1])
	}
	if m := undefinedMember.FindStringSubmatch(fault); m != nil {
		return fault, suggested(s.membersOf(m[1]+m[4]), m[2]+m[3])
	}
	m := undefinedName.FindStringSubmatch(fault)
	if m == nil {
		return fault, ""
	}
	name, member := m[1], m[2]
	_, names := s.python(code, fault)
	// A package is imported by the names that a cell takes from it, so that one without such a name is not, and the
	// compiler knows not even the package: the fault is the name's then.
	if lines := strings.Split(code, "\n"); member == "" && line > 0 && line <= len(lines) {
		if of := regexp.MustCompile(`\b` + name + `\.(\w+)`).FindStringSubmatch(lines[line-1]); of != nil {
			member = of[1]
		}
	}
	if member != "" {
		all := s.membersOf(name)
		if slices.ContainsFunc(all, func(c callable) bool { return c.name == member }) {
			return fault, ""
		}
		if hint = suggested(all, member); len(all) > 0 {
			if hint == "" {
				hint = fmt.Sprintf("Package %s has no %s.", name, member)
			}
			return "undefined: " + name + "." + member, hint
		}
	}
	if best := alike(name, slices.DeleteFunc(names.all(), func(n string) bool { return n == name }), 1+len(name)/6); best != "" && len(name) > 2 {
		return fault, "Did you mean " + best + "?"
	}
	return fault, ""
}

// suggested is the nearest of some functions and other names, with what it does.
func suggested(all []callable, name string) string {
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	best, low := alike(name, names, 1+len(name)/4), strings.ToLower(name)
	if best == "" && len(low) > 3 { // one that says more, or less
		i := slices.IndexFunc(names, func(n string) bool {
			n = strings.ToLower(n)
			return strings.Contains(n, low) || 2*len(n) >= len(low) && strings.HasPrefix(low, n)
		})
		if i >= 0 {
			best = names[i]
		}
	}
	if best == "" {
		return ""
	}
	c := all[slices.Index(names, best)]
	return strings.TrimSpace(fmt.Sprintf("Did you mean %s%s? %s", c.name, c.signature, c.does()))
}

// membersOf is what stands behind a dot of a package, or of a value of a type, by its name in the cells.
func (s *Session) membersOf(name string) (all []callable) {
	if all = s.called(name); len(all) > 0 {
		return all
	}
	names := s.declared()
	for method := range names.names {
		if own, ok := strings.CutPrefix(method, name+"."); ok {
			all = append(all, callable{name: own})
		}
	}
	of, typ, _ := strings.Cut(name, ".")
	at := ""
	if m, _ := names.find(of); m.kind == token.IMPORT {
		at = m.path
	} else if i := slices.IndexFunc(standard, func(p string) bool { return path.Base(p) == of }); i >= 0 {
		at = standard[i]
	}
	if at == "" {
		return all
	}
	return s.called(strings.TrimSuffix(standardPrefix+at+":"+typ, ":"))
}
