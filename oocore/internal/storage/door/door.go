// Package door is what package store has of storage, which imports it.
package door

var (
	// Formats are each a store.Format, in the order in which they are asked, First before the others and Last after them.
	First, Formats, Last []any
	// Storage has the functions of package store.
	Storage any
)
