package npz

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/grid"
	"github.com/gonbext/gonbext/oocore/store"
)

func (format) Layout(path string, m store.Meta) (store.Layout, error) {
	return store.Layout{Open: true}, supported(m)
}

// supported rejects what the format does not have.
func supported(m store.Meta) error {
	switch {
	case m.Codec != "" && m.Codec != "none":
		return fmt.Errorf("members of npz files are written as they are: no codec %q", m.Codec)
	case m.Shards != nil:
		return errors.New("npz files have no shards")
	case m.DType == dtype.Invalid:
		return errors.New("no dtype is given")
	}
	if err := grid.Check(m.Shape, m.DType.Size()); err != nil {
		return err
	}
	_, err := store.NpyHeader(m.Shape, m.DType, 0)
	return err
}

// Create begins an array of a new archive, or one that is added to an archive,
// where it replaces what has its name. The other members are copied at Commit as
// they are, by windows; and what was written is read once more, for its checksum.
func (format) Create(path string, m store.Meta) (store.Writer, error) {
	file, name, _ := store.CutMember(path, extension)
	if err := local(file); err != nil {
		return nil, err
	}
	if err := supported(m); err != nil {
		return nil, err
	}
	if m.Region != nil {
		return nil, errors.New("regions of an npz member are not written: write the whole array")
	}
	old, id, err := readOld(file)
	if err != nil {
		return nil, err
	}
	if name, err = newName(name, old); err != nil {
		return nil, err
	}
	n, err := newArchive(old, name, m)
	if err != nil {
		return nil, err
	}
	return store.CreateExtent(path, file, m, store.Frame{Offset: n.elements, Size: n.end + n.directory, Old: id, Fill: n.fill})
}

// readOld reads the members of the archive that is to be written, if there is
// one.
func readOld(file string) ([]*entry, store.FileVersion, error) {
	f, id, err := store.OpenFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, store.FileVersion{}, nil
	}
	if err != nil {
		return nil, id, err
	}
	defer f.Close()
	files, err := readDirectory(f, id.Size)
	if err != nil {
		return nil, id, fmt.Errorf("the file is there and cannot be added to: %w", err)
	}
	var old []*entry
	for _, m := range files {
		at, err := m.DataOffset()
		switch {
		case err != nil:
		case m.Flags&1 != 0:
			err = errors.New("it is encrypted")
		case int64(m.CompressedSize64) > id.Size-at:
			err = errors.New("the file is cut short")
		}
		if err != nil {
			return nil, id, fmt.Errorf("the file is there and cannot be added to: member %.80q: %w", m.Name, err)
		}
		old = append(old, &entry{FileHeader: m.FileHeader, source: at})
	}
	return old, id, nil
}

// newName is the member's name: that of the only array there is where it is given
// none, and NumPy's for the first one in a new file.
func newName(name string, old []*entry) (string, error) {
	if name == "" {
		var names []string
		for _, e := range old {
			if name, ok := arrayName(e.Name); ok {
				names = append(names, name)
			}
		}
		switch len(names) {
		case 0:
			name = "arr_0"
		case 1:
			name = names[0]
		default:
			return "", fmt.Errorf("which array? the file has %s: add #NAME to the path", list(names))
		}
	}
	name = strings.TrimSuffix(name, suffix) + suffix
	if err := checkName(name); err != nil {
		return "", fmt.Errorf("array %.80q: %w", name, err)
	}
	if len(name) > limit16 {
		return "", fmt.Errorf("the array's name has %d bytes, the format allows %d", len(name), limit16)
	}
	return name, nil
}

// archive is one that is written: the old members, the new one, the directory.
type archive struct {
	entries   []*entry // the last is the new one
	npy       []byte   // the new member's header
	elements  int64    // where its elements lie
	end       int64    // of the members
	directory int64    // bytes
}

func newArchive(old []*entry, name string, m store.Meta) (*archive, error) {
	var n archive
	for _, e := range old {
		if e.Name != name {
			e.at = n.end
			n.entries = append(n.entries, e)
			n.end += int64(len(e.local())) + int64(e.CompressedSize64)
		}
	}
	e := &entry{FileHeader: zip.FileHeader{Name: name, ModifiedDate: firstDay, Flags: utf8Names}, at: n.end}
	// Which form the local header has depends on the size, to which the npy header
	// adds less than 64 KiB.
	bytes := uint64(grid.Size(m.Shape)) * uint64(m.DType.Size())
	e.UncompressedSize64, e.CompressedSize64 = bytes, bytes
	for {
		from := e.at + int64(len(e.local()))
		npy, err := store.NpyHeader(m.Shape, m.DType, from)
		if err != nil {
			return nil, err
		}
		n.npy, n.elements = npy, from+int64(len(npy))
		total := bytes + uint64(len(npy))
		done := e.UncompressedSize64 == total
		e.UncompressedSize64, e.CompressedSize64 = total, total
		if done {
			break
		}
	}
	n.entries = append(n.entries, e)
	n.end = n.elements + int64(bytes)
	n.directory = int64(len(directory(n.entries, n.end)))
	return &n, nil
}

const (
	firstDay  = 1<<5 | 1 // the format's first: 1980-01-01, so that equal arrays make equal files
	utf8Names = 1 << 11
)

// fill writes all but the new member's elements.
func (n *archive) fill(ctx context.Context, w store.File, old io.ReaderAt) error {
	last := len(n.entries) - 1
	for _, e := range n.entries[:last] {
		head := e.local()
		if _, err := w.WriteAt(head, e.at); err != nil {
			return err
		}
		if err := store.CopyRange(ctx, w, e.at+int64(len(head)), old, e.source, int64(e.CompressedSize64)); err != nil {
			return fmt.Errorf("member %.80q: %w", e.Name, err)
		}
	}
	e := n.entries[last]
	if _, err := w.WriteAt(n.npy, n.elements-int64(len(n.npy))); err != nil {
		return err
	}
	var err error
	if e.CRC32, err = checksum(ctx, n.npy, io.NewSectionReader(w, n.elements, n.end-n.elements)); err != nil {
		return err
	}
	if _, err := w.WriteAt(e.local(), e.at); err != nil {
		return err
	}
	_, err = w.WriteAt(directory(n.entries, n.end), n.end)
	return err
}

// checksum is that of some bytes and those of a file behind them.
func checksum(ctx context.Context, head []byte, rest io.Reader) (uint32, error) {
	sum := crc32.ChecksumIEEE(head)
	window := make([]byte, pieceBytes)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := io.ReadFull(rest, window)
		sum = crc32.Update(sum, crc32.IEEETable, window[:n])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
