package blob

import "strings"

// Shown returns a path for people. What an object store's address may hold of secrets
// is left out: a password before the server's name, and the part behind a
// question mark but for what describes an array, such as shape=10,20&dtype=int8.
func Shown(path string) string {
	s, ok := scheme(path)
	if !ok {
		return path
	}
	rest := path[len(s)+len("://"):]
	server, below, slash := strings.Cut(rest, "/")
	if slash {
		below = "/" + below
	}
	if i := strings.LastIndexByte(server, '@'); i >= 0 {
		server = server[i+1:]
	}
	if at := strings.IndexByte(server, '?'); at >= 0 {
		server, below = server[:at], server[at:]+below
	}
	if at := strings.IndexByte(below, '?'); at >= 0 && !describes(below[at+1:]) {
		below = below[:at] + "?…"
	}
	return s + "://" + server + below
}

// describes reports a query with nothing but what a raw array's path has.
func describes(query string) bool {
	for part := range strings.SplitSeq(query, "&") {
		switch name, _, _ := strings.Cut(part, "="); name {
		case "shape", "dtype", "offset", "order":
		default:
			return false
		}
	}
	return true
}
