package npz

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/grid"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// fileLayout lays out an archive. The other members are copied as they are at Commit; and what
// was written is read once more, for its checksum.
type fileLayout struct{ old []*entry }

func (l *fileLayout) Read(r io.ReaderAt, size int64) ([]string, error) {
	files, err := Directory(r, size)
	if err == nil {
		l.old, err = entries(files, size)
	}
	return arrayNames(files), err
}

func (l *fileLayout) Frame(members []storage.NewMember) (storage.Frame, error) {
	n, err := newArchive(l.old, members)
	if err != nil {
		return storage.Frame{}, err
	}
	f := storage.Frame{Size: n.end + n.directory, Fill: n.fill}
	for _, e := range n.kept() {
		f.Kept = append(f.Kept, storage.Kept{Name: fmt.Sprintf("member %.80q", e.Name), To: e.at + int64(len(e.local())), From: e.source, Bytes: int64(e.CompressedSize64)})
	}
	for _, a := range n.added {
		f.Offsets = append(f.Offsets, a.elements)
	}
	return f, nil
}

// newName is the name of the member that holds an array.
func newName(name string) (string, error) {
	name = strings.TrimSuffix(name, suffix) + suffix
	if err := checkName(name); err != nil {
		return "", fmt.Errorf("array %.80q: %w", name, err)
	}
	if len(name) > limit16 {
		return "", fmt.Errorf("the array's name has %d bytes, the format allows %d", len(name), limit16)
	}
	return name, nil
}

// entries are the members of the archive that is there.
func entries(files []*zip.File, size int64) (old []*entry, err error) {
	for _, m := range files {
		at, err := m.DataOffset()
		switch {
		case err != nil:
		case m.Flags&1 != 0:
			err = errors.New("it is encrypted")
		case int64(m.CompressedSize64) > size-at:
			err = errors.New("the file is cut short")
		}
		if err != nil {
			return nil, fmt.Errorf("member %.80q: %w", m.Name, err)
		}
		old = append(old, &entry{FileHeader: m.FileHeader, source: at})
	}
	return old, nil
}

// archive is one that is written: the old members, the new ones, the directory.
type archive struct {
	entries   []*entry // the last are the new ones
	added     []added
	end       int64 // of the members
	directory int64 // bytes
}

// added is a new member.
type added struct {
	*entry
	npy      []byte // its header
	elements int64  // where its elements lie
	bytes    int64  // of them
}

func newArchive(old []*entry, members []storage.NewMember) (*archive, error) {
	var n archive
	names := make(map[string]bool, len(members))
	list := make([]string, len(members))
	for i, m := range members {
		name, err := newName(m.Name)
		if err != nil {
			return nil, err
		}
		if names[name] {
			return nil, fmt.Errorf("array %.80q is there twice", m.Name)
		}
		list[i], names[name] = name, true
	}
	for _, e := range old {
		if !names[e.Name] {
			e.at = n.end
			n.entries = append(n.entries, e)
			n.end += int64(len(e.local())) + int64(e.CompressedSize64)
		}
	}
	for i, m := range members {
		if err := n.add(list[i], m.Meta); err != nil {
			return nil, err
		}
	}
	n.directory = int64(len(directory(n.entries, n.end)))
	return &n, nil
}

// add places a new member behind the others.
func (n *archive) add(name string, m store.Meta) error {
	bytes := uint64(grid.Size(m.Shape)) * uint64(m.DType.Size())
	e := added{bytes: int64(bytes), entry: &entry{FileHeader: zip.FileHeader{Name: name, ModifiedDate: firstDay, Flags: utf8Names}, at: n.end}}
	// Which form the local header has depends on the size, to which the npy header
	// adds less than 64 KiB.
	e.UncompressedSize64, e.CompressedSize64 = bytes, bytes
	for {
		from := e.at + int64(len(e.local()))
		var err error
		if e.npy, err = npy.Header(m.Shape, m.DType, from); err != nil {
			return err
		}
		e.elements = from + int64(len(e.npy))
		total := bytes + uint64(len(e.npy))
		done := e.UncompressedSize64 == total
		e.UncompressedSize64, e.CompressedSize64 = total, total
		if done {
			break
		}
	}
	n.entries, n.added = append(n.entries, e.entry), append(n.added, e)
	n.end = e.elements + e.bytes
	return nil
}

const (
	firstDay  = 1<<5 | 1 // the format's first: 1980-01-01, so that equal arrays make equal files
	utf8Names = 1 << 11
)

// kept are the members of the old archive that stay.
func (n *archive) kept() []*entry { return n.entries[:len(n.entries)-len(n.added)] }

// fill writes the headers of all members, and the directory.
func (n *archive) fill(ctx context.Context, w storage.File) error {
	for _, e := range n.kept() {
		if _, err := w.WriteAt(e.local(), e.at); err != nil {
			return err
		}
	}
	for _, e := range n.added {
		if _, err := w.WriteAt(e.npy, e.elements-int64(len(e.npy))); err != nil {
			return err
		}
		var err error
		if e.CRC32, err = checksum(ctx, e.npy, io.NewSectionReader(w, e.elements, e.bytes)); err != nil {
			return err
		}
		if _, err := w.WriteAt(e.local(), e.at); err != nil {
			return err
		}
	}
	_, err := w.WriteAt(directory(n.entries, n.end), n.end)
	return err
}

// checksum is that of some bytes and those of a file behind them.
func checksum(ctx context.Context, head []byte, rest io.Reader) (uint32, error) {
	sum := crc32.ChecksumIEEE(head)
	window := make([]byte, 1<<20)
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
