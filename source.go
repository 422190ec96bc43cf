// Package source holds this module's own source, as the gonbext command was built
// from it. Cells of notebooks are compiled against it, so that they never take
// code from a folder that has changed, or that somebody else has made, since.
package source

import "embed"

// Files are go.mod, go.sum and the packages that cells can import.
//
//go:embed go.mod go.sum oocore cuda gonbext/*.go
var Files embed.FS
