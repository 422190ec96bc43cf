// Package door is what package store has of storage and codec, which import it.
package door

var (
	// Formats are each a store.Format, in the order in which they are asked, First before the others and Last after them.
	First, Formats, Last []any
	// Codecs are each a store.Codec, by their names.
	Codecs = map[string]any{}
	// Storage has the functions of package store.
	Storage any
)
