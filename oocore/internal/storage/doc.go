// Package storage is what the formats of package store are made of: paths, staging folders, elements in one run of a file or an object,
// collections, and versions.
package storage
