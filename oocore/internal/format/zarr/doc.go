// Package zarr reads and writes Zarr arrays: version 3, and version 2 for reading.
//
// An array is a folder, or a prefix of an object store, with metadata in JSON and
// one object for each chunk, or for each shard of many chunks. Its path is that of
// the folder, whose name ends in .zarr or holds zarr.json or .zarray; arrays in a
// group's folder follow after it: x.zarr/group/array. What a store says of itself
// is never trusted.
//
// A chunk or a shard that is not stored is legal and reads as the fill value, which may
// be meant, as zarr-python stores no chunk of fill values alone, or be the loss of an object:
// gonbext info and [storage.Listed] tell how many are stored.
package zarr
