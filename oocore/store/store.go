// Package store reads and writes stored arrays. Package oocore registers the formats: a program that imports store imports that too.
//
// A path's form names its format; where a file begins as one of another does, that is read. Arrays that are read are never trusted:
// lengths are checked against headers before any element is touched, and a file
// cut short under a mapping is an error and not a crash. Arrays that are
// written appear under their name only when they are whole.
//
// # Formats
//
// Elements are bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32,
// float64, complex64 and complex128, as far as a format has them; and float8_e4m3fn and
// float8_e5m2, which safetensors, Zarr v3 and raw files have.
//
//	Zarr v3      x.zarr, x.zarr/group/array, any folder with a zarr.json.
//	             Read and written: the regular grid; chunk keys default and v2; codecs
//	             bytes, transpose, gzip, zstd, blosc, crc32c and sharding_indexed,
//	             nested too. Missing chunks have the fill value; dimension names and
//	             attributes are part of copies. Read: rectilinear grids, without shards; of numcodecs
//	             zlib, lz4, bz2, lzma, shuffle, fletcher32, delta, fixedscaleoffset, quantize,
//	             bitround, packbits and astype.
//	Zarr v2      The same paths, with a .zarray. Read: C and F order, either separator,
//	             compressors and filters that are codecs above, .zattrs. New arrays are
//	             v3. Of structured types, and of v3's struct, x.zarr#field and x.zarr/group/array#field.inner are fields.
//	Zarr in zip  x.zarr.zip, x.zarr.zip/group/array: a store in one archive, as zarr-python's ZipStore.
//	             Read: stored and deflated members. Written: whole, an array or a collection, on this machine.
//	OME-Zarr     x.zarr#2: the third level of a group with multiscales, 0.1 to 0.5, with their axes
//	             as dimension names. Levels have paths of their own too: x.zarr/2.
//	             Written by Array.Pyramid.
//	npy          x.npy. Read: versions 1 to 3, C and Fortran order, any endianness, and
//	             x.npy#field of structured types, #field.inner of one in another. Written: C order and little-endian, or as ?order=F&dtype=>f4 says.
//	npz          x.npz#name, where #name may be left out if there is one array. Read:
//	             stored and deflated members, as streams; a sparse matrix of SciPy's save_npz is one array.
//	             Written: stored, added to what the file has.
//	safetensors  x.safetensors#name, likewise. Every dtype that NumPy has, and bfloat16.
//	             Written: added to what the file has.
//	GGUF         x.gguf#name, likewise. Read: versions 2 and 3, F32, F16, BF16, F64 and
//	             integers, and as float32 all types in blocks that ggml has decoders of: Q4_0 to Q8_0, Q2_K to Q6_K,
//	             IQ1_S to IQ4_XS, TQ1_0, TQ2_0, MXFP4 and NVFP4, decoded as they are read. Written: added to what the file has, in types of
//	             elements, Q4_0 to Q8_0, Q2_K to Q6_K and MXFP4.
//	PyTorch      x.pt#name, .pth, .ckpt, pytorch_model.bin. Read on a disk, without
//	             running what their pickles call; x.bin.index.json is a checkpoint.
//	HDF5         x.h5#group/name, .nc, .mat and .h5ad likewise, in chunks of any index; filters
//	             deflate, shuffle, fletcher32, scale-offset, LZF, LZ4, bitshuffle, bzip2, Blosc and Zstandard; virtual datasets.
//	             Dimension scales are dimension names. x.h5#table.field is a field of compounds, x.h5ad#X a sparse matrix
//	             (csr, csc) with all elements. Written: added to what the file has, in chunks with deflate and shuffle or
//	             Blosc, with dimension scales and attributes; x.nc is NetCDF-4.
//	NetCDF       x.nc#name: the classic format, CDF-1, CDF-2 and CDF-5, with the record dimension;
//	             NetCDF-4 is HDF5. The classic format is read only.
//	FITS         x.fits#1, x.fits#NAME, x.fits#NAME,VER: images, scaled numbers as they are stored, and in x.fits.fz#1 or any other file
//	             images that fpack or astropy have compressed, by RICE_1, GZIP_1, GZIP_2, PLIO_1 and NOCOMPRESS. Read only.
//	NIfTI        x.nii: likewise, with dimension names x, y, z, t; and pairs by either name, x.hdr or x.img, of NIfTI and Analyze 7.5.
//	TIFF         x.tif, x.tif#1 of several: TIFF and BigTIFF, strips and tiles, none, LZW, deflate,
//	             Zstandard, LZMA, PackBits, CCITT Group 3 and 4, JPEG of 8 bits and WebP without losses, predictors, planes,
//	             1 to 64 bits, indices of palettes. Pages of one layout are one array, with the axes of
//	             OME-XML and ImageJ as dimension names, else i, y, x and s for samples; x.tif#pages is all pages whatever their
//	             description says. Read only.
//	Kerchunk     refs.json#name, and refs.parq#name where package oocore/adapters/arrow is imported:
//	             references of versions 0 and 1 to parts of files of this machine, below its folder
//	             or by their whole path, and of object and web servers, with Zarr's metadata.
//	             Read only.
//	Icechunk     repo#name, and repo?branch=NAME#name, ?tag=NAME and ?snapshot=ID: repositories of versions 1 and 2, a folder whatever
//	             its name is, in an object store x.icechunk or with the question mark. Chunks in files of the repository, in
//	             manifests, and in files elsewhere as Kerchunk has them. Read only.
//	N5           x.n5/group/array: axes in C order, the reverse of N5's; blocks that are raw, or
//	             compressed by gzip, zstd or blosc. Read only.
//	Parquet      x.parquet#column, where package oocore/adapters/arrow is imported, as the command does: numbers, bools, dates, timestamps,
//	             and lists of one length of these; x.parquet#table is all columns as rows × columns. Missing floats are NaN. Written by that
//	             package, and by gonbext convert.
//	CSV          x.csv#column, x.csv#table and .tsv likewise, where package oocore/adapters/csv is imported; x.csv?header=none#0
//	             has no names.
//	raw          x.bin?shape=3075200x512&dtype=float32: bare elements. &offset=N reads those behind N
//	             bytes, whatever follows them; &stride=N those of records, N bytes apart.
//	packed       x.nii.gz, x.fits.gz#1, refs.json.zst, x.bin.zst?shape=…: a file of any format above but npz and Zarr, by gzip or Zstandard, on this machine. Read only, by
//	             one pass from front to back; to go back, from one of eight places a reader between blocks of deflate (32 KiB each), of
//	             Zstandard from the beginning. HDF5, NetCDF with records and gzip with several members take one pass more for the size.
//	S3           s3://bucket/x.zarr, .npy, .safetensors#name. Read by ranges. Written:
//	             Zarr, chunks as objects and metadata last.
//	Google       gs://bucket/x.zarr and so on: likewise.
//	HTTP         https://host/x.zarr and so on. Read by ranges.
//
// # What a version is
//
// What a file holds is known from its full place and version: size, modification
// time, the change time that no program can set, and inode; for Zarr those of all
// chunk files; an object's ETag. A file that changed within the last tick of its file
// system's clock is waited for, and pages that are still dirty in a mapping are
// cleaned first, so that a rewrite with the same size and time shows. Of inputs behind
// a web server only the metadata's version is known, since it lists nothing.
//
// # Unfinished outputs
//
// What is written lies in the staging folder .NAME.gonbext beside the output until the
// last chunk is synced; then it takes its name in one step. What was there before stays
// until then. Before that step the staging folder notes the version that is to take the
// name: a run that is killed just after it is found to be complete, unless the output has
// changed since. Of an output in an object store the unfinished run's notes lie in the
// user's cache folder: an object cannot be appended to. Those of a run on a cluster lie where its command was called, and
// .gonbext/NAME.json beside the output says where that is.
//
// # Several writers
//
// Two processes never write one array: the second gets an error with the number of the
// first. Two tasks never write one chunk or shard; uncompressed chunks of a new array
// are filled in place, each byte by one task.
//
// Two machines never mix chunks in an object store: a run owns its output by a small
// object, .gonbext-run.json, that it stores by conditional requests and renews; 90 s
// after it was last renewed another run may take the output over. On servers without
// conditional requests two runs that begin within a moment may both begin, and at least
// one fails before its metadata are in place. A run continues only where all that it has
// stored is still there, and deletes nothing but its own chunks and those of the array
// that it replaces.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage/door"
	"github.com/gonbext/gonbext/oocore/types"
)

// Info describes a stored array.
type Info struct {
	Path   string // as it was given to Open
	Format string // npy, raw, zarr, …
	Shape  []int  // as stored, in C order: for a Fortran file the reverse of the array's
	DType  dtype.Type
	// Chunks are decoded as a whole, or piece by piece from their beginning; nil where
	// any region is as good as another.
	Chunks []int
	// Open says that chunks are stored as they are: a part of one is read without the rest.
	Open bool
	// Shards are whole numbers of chunks that are stored as one object; nil where each
	// chunk is its own.
	Shards []int
	// IndexBytes are those of the indexes of all shards, which are read besides chunks.
	IndexBytes int64
	// Fortran says that the array is the transpose of what is stored.
	Fortran bool
	Bytes   int64  // on disk; -1 where only a listing of all chunks would tell
	Codec   string // in the form of Meta.Codec; "" is none
	ID      FileVersion
	Work    Work // of reading
	Details Details
	// Keep is what the next Open finds by the path, for as long as an Info has it.
	Keep any `json:"-"`
}

// Details is what a format stores of an array in addition to its elements.
type Details struct {
	Fill string   `json:"fill_value,omitempty"` // of chunks that are not stored
	Dims []string `json:"dimension_names,omitempty"`
	// ChosenDims says that Dims are as the user wants them. Else a format may leave out
	// those that contradict the other arrays of the group.
	ChosenDims bool `json:"chosen_dims,omitempty"`
	// Marks says that Fill marks missing values, also where an element has it.
	Marks bool `json:"marks_missing,omitempty"`
	// Attributes are a JSON object. NaN and infinities, which JSON does not have, are texts whose letter N or I is
	// escaped, "\u004eaN", which tells them from other texts.
	Attributes json.RawMessage `json:"attributes,omitempty"`
	// Lines are labels of dimensions that follow from the header, by the dimensions' names.
	Lines map[string]Line `json:"-"`
	// AttributeTypes are the types of numbers in attributes, by the attributes' names, where the format says them: JSON does not.
	AttributeTypes map[string]dtype.Type `json:"attribute_types,omitempty"`
	// Unread are the names of attributes that JSON has no form for, such as compounds and references of HDF5.
	Unread []string `json:"unread_attributes,omitempty"`
	// Notes say what else of the array a copy does not have as it is here.
	Notes []string `json:"notes,omitempty"`
}

// Line is labels at equal distances, such as the pixels of a map: First, First + Step and so on.
type Line struct {
	First, Step float64
	Unit        string // "": unknown
}

// Work is the memory that reading or writing encoded chunks takes besides the
// caller's buffers, for one goroutine.
type Work struct {
	// Whole is the buffer with which a chunk is decoded, or encoded, in one go, and
	// kept for the next read of a part of it.
	Whole int64 `json:"whole"`
	// Stream is the least buffer: chunks are decoded or encoded piece by piece, from
	// front to back.
	Stream int64 `json:"stream"`
	// Heap is what codec libraries take of Go's heap, in either case.
	Heap int64 `json:"heap"`
	// StreamHeap is what Stream takes of it besides, to gather an object.
	StreamHeap int64 `json:"stream_heap,omitempty"`
	// Open is what an array takes of Go's heap while it is open, however many goroutines
	// read it.
	Open int64 `json:"open,omitempty"`
	// Encoded is the most that an encoded chunk has, where it is read or stored by one request:
	// where encoded chunks are read before there is memory to decode them, or written after. 0 elsewhere.
	Encoded int64 `json:"encoded,omitempty"`
}

// FileVersion tells one version of a file from another.
type FileVersion struct {
	Size       int64
	ModTime    time.Time
	ChangeTime time.Time // which no program can set; zero where the system has none
	Device     uint64
	Inode      uint64
	Version    string `json:",omitempty"` // of an object store
	// Settles is how long another change may still leave Version as it is; negative where
	// that is so for ever.
	Settles time.Duration `json:"-"`
}

// Equal reports the same version of the same file.
func (i FileVersion) Equal(j FileVersion) bool {
	return i.ChangeTime.Equal(j.ChangeTime) && i.Size == j.Size && i.ModTime.Equal(j.ModTime) && i.Device == j.Device && i.Inode == j.Inode && i.Version == j.Version
}

// Array is an open stored array. It is safe for concurrent use. It may have methods more, which whoever reads it looks for:
//
//	Session(work []byte) (Session, error)     it has to decode what it reads, in memory that the caller provides: a buffer of at least
//	                                          Info().Work.Whole or, with less, Stream bytes. One goroutine at a time uses a session
//	Reshape(shape []int) (Array, error)       its elements lie in C order in one run, and can be read in any other shape of the same size
//	WillRead(r types.Region)                  a hint that a region is read soon, which does not wait
//	Chunks(ctx context.Context, each func(index []int, bytes int64) error) error
//	Digest(ctx context.Context) (string, error)
//	                                          its chunks are stored by themselves. Chunks lists those that are stored, by their index in the grid
//	                                          of Info().Chunks, in no order; Digest identifies the version of every stored object
type Array interface {
	Info() Info
	// Read fills dst with the region's elements: dense, in C order, in this
	// machine's byte order, whatever they are in the file. len(dst) is the
	// region's size in bytes.
	Read(ctx context.Context, dst []byte, r types.Region) error
	Close() error
}

// Session reads from an array that has to decode.
type Session interface {
	// Read is as Array's. It returns how many bytes came from the store. A region that
	// continues where the one before ended in a chunk does not decode it again.
	Read(ctx context.Context, dst []byte, r types.Region) (stored int64, err error)
	Close() error
}

// Writer fills a new array. Writes of boxes that do not overlap may run at
// once, but where Layout says that units have one owner. One that encodes has a method Session(work []byte) (WriteSession, error),
// with a buffer of at least Layout.Work.Whole or, with less, Stream bytes; one goroutine at a time uses a session. One that
// can resume has Resumed() bool, which reports whether it resumes what an earlier one left.
type Writer interface {
	// Write stores a box's elements: dense, in C order.
	Write(ctx context.Context, src []byte, b types.Box) error
	// Sync makes durable what was written before the call: for chunks, those that
	// are whole.
	Sync(ctx context.Context) error
	// Commit makes the array durable and puts it under its name, replacing what
	// was there. It is called once, after the last Write.
	Commit(ctx context.Context) error
	// Suspend ends the writing and keeps what is durable, for a Create with
	// Meta.Resume. It does nothing after Commit.
	Suspend() error
	// Abort leaves what was under the name as it was, and nothing besides it. It
	// does nothing after Commit.
	Abort() error
}

// WriteSession writes to an array that is encoded.
type WriteSession interface {
	// Write stores a box's elements. Boxes come unit by unit of the Layout, in it chunk
	// by chunk in C order, and in a chunk as runs of whole rows in C order; the box of
	// a chunk at the array's edge ends there. It returns how many bytes went to the
	// store. The unit is whole when the last of its boxes was written. What goes to an
	// object store may still be on its way then: ctx ends it until Sync or Close.
	Write(ctx context.Context, src []byte, b types.Box) (stored int64, err error)
	// Close gives up a unit that is not whole.
	Close() error
}

// Layout is how a new array will lie, which planning needs before it exists.
type Layout struct {
	// Unit is what one task owns and writes alone: a shard, or a chunk. It is nil where
	// boxes of any form may be written at once.
	Unit []int `json:"unit,omitempty"`
	// Chunk is the part of a unit that is encoded by itself; Unit, or nil, where it has
	// no parts.
	Chunk []int `json:"chunk,omitempty"`
	// Open says that units lie open: boxes of any form can be written at once, by
	// Writer.Write, with the parts in several units. They need no session.
	Open bool `json:"open,omitempty"`
	Work Work `json:"work"`
	// Codec is the codec in its full form, with the defaults filled in.
	Codec string `json:"codec,omitempty"`
}

// Chunks returns those of Info of an array with this layout.
func (l *Layout) Chunks() []int {
	if l == nil {
		return nil
	}
	if l.Chunk != nil {
		return l.Chunk
	}
	return l.Unit
}

// Sessions reports that units are written through sessions.
func (l *Layout) Sessions() bool { return l != nil && l.Unit != nil && !l.Open }

// Meta is what a new array is to be.
type Meta struct {
	Shape  []int
	DType  dtype.Type
	Chunks []int  // nil lets the format choose
	Shards []int  // nil stores each chunk by itself
	Codec  string // such as "none", "zstd:3", "blosc:lz4:5:shuffle"; "" lets the format choose
	// Details are kept where the format can.
	Details Details
	// StagingDir holds what is unfinished; where it is nil Create makes one for the writer. A Format
	// is always given one.
	StagingDir StagingDir
	// Resume resumes what an earlier writer of the same StagingDir, path and Meta
	// made durable.
	Resume bool
	// Region, where it is set, writes only this box of a stored array:
	// boxes of Write are in the whole array's indices, and other chunks stay untouched.
	Region *types.Box
	// Grow says that Region is appended to a stored array, whose shape is Shape afterwards. Only
	// Zarr arrays grow.
	Grow bool
}

// StagingDir is a hidden folder beside an output, where a writer keeps what is unfinished. It is this user's, and nobody else can write
// to it; a lock, which ends with the process, keeps all others out.
type StagingDir interface {
	// Join returns the path of what has a name in the folder.
	Join(name string) string
	// Attached reports whether another process holds the folder, and this one writes some of the chunks: then it removes nothing, and Commit
	// is an error.
	Attached() bool
	// Fence is called before what lies at a path, in the folder or in the place of a region, is published. Where a process that was
	// given up may still write to it, a copy takes its place.
	Fence(ctx context.Context, path string) error
}

// Extent is where an array's elements lie in a file, in one run, and what they
// are.
type Extent struct {
	Offset int64 // of the first element
	Shape  []int // the array's, also where Fortran is set
	DType  dtype.Type
	Big    bool // big-endian
	// FlipSign says that the highest bit of each integer is stored inverted, as FITS stores uint16
	// as int16 less 32768.
	FlipSign bool
	Fortran  bool
	Details  Details
	// Header identifies the version of a header in a file of its own, which is part of the array's.
	Header string
}

// Bytes returns the size of the elements.
func (e Extent) Bytes() int64 { return int64(grid.Size(e.Shape)) * int64(e.DType.Size()) }

// Errors of reading, under an fs.PathError that names the file. Every use of what was closed, committed or aborted is fs.ErrClosed.
var (
	// ErrCutShort is returned where a file has lost bytes since it was opened.
	ErrCutShort = errors.New("the file was cut short while it was read")
	// ErrChanged is returned where a file was written to since it was opened.
	ErrChanged = errors.New("the file was changed while it was read")
)

// LockedError is returned where another process writes the same output.
type LockedError struct {
	Path string
	PID  int // 0 where it could not be read
	// Host and File are set where the file system has no locks: the process may have
	// ended, and only its user can know.
	Host, File string
}

// Error says who writes the array, and what to do.
func (e *LockedError) Error() string {
	switch {
	case e.File != "":
		return fmt.Sprintf("%s is being written by process %d of %s: wait for it, or, where it has ended, remove %s", e.Path, e.PID, e.Host, e.File)
	case e.PID == 0:
		return e.Path + " is being written by another process: wait for it, or end it"
	case e.PID == os.Getpid():
		return e.Path + " is being written by this process already: wait for it"
	}
	return fmt.Sprintf("%s is being written by process %d: wait for it, or end it", e.Path, e.PID)
}

// Codec encodes the chunks of Zarr arrays, bytes to bytes, as compressors and checksums do. It is immutable and safe for concurrent use.
// What it takes of memory it declares, so that a budget holds. Chunks are encoded and decoded as a whole.
type Codec interface {
	// Name returns the codec's name in the metadata of Zarr v3. What numcodecs has is numcodecs.NAME, and NAME in Zarr v2.
	Name() string
	// Configure returns the codec with a configuration of metadata, a JSON object or nil, for elements of a type. A setting that it does not
	// know is an error.
	Configure(configuration json.RawMessage, t dtype.Type) (Codec, error)
	// Configuration returns what Configure takes, in full; nil where there is nothing to set.
	Configuration() json.RawMessage
	// Bound returns the most bytes that n bytes become.
	Bound(n int64) int64
	// Work returns what encoding and decoding up to n bytes, decoded, take besides src and dst: Whole of scratch, and Heap of Go's heap.
	Work(n int64) (encode, decode Work)
	// Encode returns the beginning of dst, which has Bound(len(src)) bytes or more.
	Encode(dst, src, scratch []byte) ([]byte, error)
	// Decode fills dst from its beginning, and returns how much. src is not to be trusted: more than dst has room for is an error.
	Decode(dst, src, scratch []byte) (int, error)
}

// builtin are the names of codecs that every program has; those of numcodecs have its prefix too.
var builtin = []string{"none", "bytes", "transpose", "sharding_indexed", "zstd", "gzip", "blosc", "crc32c", "zlib", "lz4", "shuffle", "fletcher32",
	"bz2", "lzma", "packbits", "delta", "fixedscaleoffset", "quantize", "bitround", "astype"}

// RegisterCodec makes a codec known, before any array is opened: packages call it as they are loaded. New arrays have it by oocore.Codec(NAME), or
// NAME:CONFIGURATION. The error is of a name that is none, or that another codec has.
func RegisterCodec(c Codec) error {
	if c == nil {
		return errors.New("there is no codec")
	}
	name := c.Name()
	switch {
	case name == "" || strings.ContainsAny(name, "+{}\"") || strings.TrimSpace(name) != name:
		return fmt.Errorf("%q is no name of a codec", name)
	case slices.Contains(builtin, strings.TrimPrefix(name, "numcodecs.")) || door.Codecs[name] != nil:
		return fmt.Errorf("another codec has the name %q", name)
	}
	door.Codecs[name] = c
	return nil
}
