package disk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

const (
	// Page is where direct writes begin and end, in the file.
	Page = 4096
	// LargeFile is the size from which on a file bypasses the page cache or is
	// dropped from it; a smaller one stays there for the next reader.
	LargeFile = 16 << 20
	// DirectRun is the shortest run that is written directly. Direct writes of 64 KiB reach
	// 0.5 GB/s against 1.7 through the cache, of 1 MiB 2.0 against 2.5.
	DirectRun = 1 << 20
	// ShortRun is the length below which runs share so many pages with those of the next box
	// that writing each page back at once, and reading it again, is slower than leaving it to
	// the kernel: 10,000² float32 in boxes of 512 × 2500 reach 0.08 GB/s so and 0.4 left alone;
	// from 32 KiB on they are equal. Longer runs cost what their bytes do.
	ShortRun = 32 << 10
)

// File is a file that is written fast. Writes that do not overlap may run at
// once.
type File struct {
	Handle
	large  bool
	direct direct
	behind writeBehind
}

// Create makes a file at its full size, whose room is taken from the disk. There
// must be none of the name.
func Create(name string, size int64) (*File, error) {
	f, err := create(current, name)
	if err != nil {
		return nil, err
	}
	if err := f.Resize(size); err != nil {
		f.Close()
		_ = Remove(name) // the first error is the one that tells
		return nil, err
	}
	return f, nil
}

// Resize makes a file longer or shorter, with nobody writing to it. Its room is taken from the disk.
func (f *File) Resize(size int64) error {
	f.large = size >= LargeFile
	return errors.Join(reserve(f.Handle, size), f.Truncate(size))
}

// CreatePart makes a file of an unknown size, which is one of many that belong
// together: long writes bypass the page cache whatever its size.
func CreatePart(name string) (*File, error) { return CreatePartIn(current, name) }

// CreatePartIn is CreatePart in another file system.
func CreatePartIn(fs FS, name string) (*File, error) {
	f, err := create(fs, name)
	if err != nil {
		return nil, err
	}
	f.large = true
	return f, nil
}

func create(fs FS, name string) (*File, error) {
	h, err := fs.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	return &File{Handle: h}, nil
}

// Reopen opens a file to continue writing.
func Reopen(name string) (*File, error) {
	h, err := OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	st, err := h.Stat()
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return &File{Handle: h, large: st.Size() >= LargeFile}, nil
}

// Write stores p at a place. It returns how many bytes went into the page cache.
func (f *File) Write(p []byte, at int64) (cached int, err error) {
	if f.large {
		if cached, done, err := f.writeDirect(p, at); done {
			return cached, err
		}
	}
	_, err = f.WriteAt(p, at)
	return len(p), err
}

// callBytes bounds one system call, so that what is cancelled ends soon.
const callBytes = 8 << 20

// WriteAll stores p at a place, and sends it on its way to the disk.
func (f *File) WriteAll(ctx context.Context, p []byte, at int64) error {
	for len(p) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(p), callBytes-int(at%Page))
		cached, err := f.Write(p[:n], at)
		if err == nil {
			err = f.WritebackRange(at, at+int64(n), cached)
		}
		if err != nil {
			return err
		}
		p, at = p[n:], at+int64(n)
	}
	return nil
}

// ReadAll fills p from a place. That the file is too short is io.ErrUnexpectedEOF.
func ReadAll(ctx context.Context, f io.ReaderAt, p []byte, at int64) error {
	for len(p) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.ReadAt(p[:min(len(p), callBytes)], at)
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		p, at = p[n:], at+int64(n)
	}
	return nil
}

// CopyFile makes a durable copy of a file, of whose name there must be none: by the file system itself where that can.
func CopyFile(from, to string) (err error) {
	in, _, err := Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out.OS(), in.OS()); err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// Close closes the file, and makes nothing durable.
func (f *File) Close() error { return errors.Join(f.direct.close(), f.Handle.Close()) }

// direct is the same file without the page cache, opened when it is first used.
type direct struct {
	once sync.Once
	directState
}

// OpenFiles returns how many files one writer keeps open at the most: those that it wants,
// or its share of what the process may have open.
func OpenFiles(wanted int) int {
	const share = 8 // of readers, of the direct writes of the same files, of the program
	return max(min(wanted, descriptors()/share), 4)
}

// cachedFiles is how many files of a folder Cached looks at.
const cachedFiles = 32

// Cached estimates which part of a file, or of the files in a folder, is in the page
// cache, between 0 and 1, from samples; ok is false where the system does not tell.
func Cached(name string) (part float64, ok bool) {
	var seen, present int64
	files := 0
	var look func(path string, mode fs.FileMode)
	look = func(path string, mode fs.FileMode) {
		switch {
		case mode.IsRegular():
			files++
			n, in := cached(path)
			seen, present = seen+n, present+in
		case mode.IsDir():
			d, err := os.Open(path)
			if err != nil {
				return
			}
			_ = list(d, func(e fs.DirEntry) bool { // and not WalkDir, which reads all of a folder and sorts it
				look(filepath.Join(path, e.Name()), e.Type())
				return files < cachedFiles
			})
		}
	}
	if st, err := os.Lstat(name); err == nil {
		look(name, st.Mode())
	}
	if seen == 0 {
		return 0, false
	}
	return float64(present) / float64(seen), true
}
