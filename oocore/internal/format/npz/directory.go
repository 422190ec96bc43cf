package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/format/npy"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
)

// member is an array of an archive.
type member struct {
	*zip.File
	at     int64 // of its first byte in the archive
	packed int64 // bytes there
	size   int64 // bytes of the npy file
}

// suffix ends a member's name, after the array's.
const suffix = ".npy"

// Directory reads and checks what a zip archive of the given size says of its
// members.
func Directory(r io.ReaderAt, size int64) ([]*zip.File, error) {
	m := meter.Meter{What: "its directory"}
	defer m.Done()
	if err := countEntries(r, size, m.Take); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(r, size)
	if errors.Is(err, zip.ErrFormat) {
		return nil, errors.New("the directory of the zip archive is missing or broken: it is cut short, or another file")
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are checked below
		return nil, err
	}
	seen := make(map[string]struct{}, len(z.File))
	packed := uint64(0)
	for _, f := range z.File {
		if err := checkName(f.Name); err != nil {
			return nil, fmt.Errorf("member %.80q: %w", f.Name, err)
		}
		if _, twice := seen[f.Name]; twice {
			return nil, fmt.Errorf("member %.80q is there twice", f.Name)
		}
		seen[f.Name] = struct{}{}
		if f.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("member %.80q is a symbolic link", f.Name)
		}
		packed += f.CompressedSize64
		if f.CompressedSize64 > uint64(size) || packed > uint64(size) {
			return nil, fmt.Errorf("member %.80q claims %d bytes: the file of %d has no room for it", f.Name, f.CompressedSize64, size)
		}
	}
	return z.File, nil
}

// entryBytes is what an entry of the directory takes in memory, and the least that it takes in the file.
const entryBytes, leastEntry = 420, 46

// countEntries counts the memory that a directory takes, by the record at the end of the archive that has its
// number of entries and its bytes.
func countEntries(r io.ReaderAt, size int64, take func(bytes int64) error) error {
	const tail, record, record64 = 22 + math.MaxUint16, 22, 56
	end := make([]byte, min(size, tail))
	if n, err := r.ReadAt(end, size-int64(len(end))); n < len(end) {
		return err
	}
	at := bytes.LastIndex(end[:max(len(end)-record+4, 0)], []byte("PK\x05\x06"))
	if at < 0 || at+record > len(end) {
		return nil // which the library says
	}
	n, packed := int64(binary.LittleEndian.Uint16(end[at+10:])), int64(binary.LittleEndian.Uint32(end[at+12:]))
	if n == limit16 || packed == limit32 {
		if wide := bytes.LastIndex(end[:at], []byte("PK\x06\x06")); wide >= 0 && wide+record64 <= len(end) {
			n, packed = int64(binary.LittleEndian.Uint64(end[wide+32:])), int64(binary.LittleEndian.Uint64(end[wide+40:]))
		}
	}
	packed = min(max(packed, 0), size)
	return take(min(max(n, 0), packed/leastEntry)*entryBytes + packed)
}

// checkName rejects names that would lead somewhere else, were they unpacked.
func checkName(name string) error {
	slashed := strings.TrimSuffix(strings.ReplaceAll(name, `\`, "/"), "/")
	if !fs.ValidPath(slashed) || len(slashed) > 1 && slashed[1] == ':' {
		return errors.New("the name leads out of the archive, or is none")
	}
	return nil
}

// find is the array of a name in an archive, or the only one.
func find(r io.ReaderAt, size int64, name string) (*member, error) {
	files, err := Directory(r, size)
	if err != nil {
		return nil, err
	}
	f, err := pick(files, name)
	if err != nil {
		return nil, err
	}
	m, err := check(f, size)
	if err != nil {
		return nil, fmt.Errorf("member %.80q: %w", f.Name, err)
	}
	return m, nil
}

func pick(files []*zip.File, name string) (*zip.File, error) {
	names := arrayNames(files)
	if name == "" {
		if len(names) != 1 {
			return nil, fmt.Errorf("the file has %s: add #NAME to the path", storage.QuoteNames(kind, names))
		}
		name = names[0]
	}
	for _, f := range files {
		if array, ok := arrayName(f.Name); ok && (array == name || f.Name == name) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("no array %.80q: the file has %s", name, storage.QuoteNames(kind, names))
}

// arrayName is the array's name, of a member that is one.
func arrayName(member string) (string, bool) { return strings.CutSuffix(member, suffix) }

// arrayNames are the names of the members that are arrays.
func arrayNames(files []*zip.File) (names []string) {
	for _, f := range files {
		if name, ok := arrayName(f.Name); ok {
			names = append(names, name)
		}
	}
	return names
}

// deflateMost is the largest number of bytes that one deflated byte can stand for:
// 258, by two bits.
const deflateMost = 1032

// check rejects a member that cannot be read.
func check(f *zip.File, size int64) (*member, error) {
	if f.Flags&1 != 0 {
		return nil, errors.New("it is encrypted")
	}
	if f.UncompressedSize64 > math.MaxInt64 {
		return nil, fmt.Errorf("it claims %d bytes", f.UncompressedSize64)
	}
	m := &member{File: f, packed: int64(f.CompressedSize64), size: int64(f.UncompressedSize64)}
	switch f.Method {
	case zip.Store:
		if m.packed != m.size {
			return nil, fmt.Errorf("it is stored as it is, and claims %d bytes for %d", m.packed, m.size)
		}
	case zip.Deflate:
		if m.size/deflateMost > m.packed {
			return nil, fmt.Errorf("it claims %d bytes, more than its %d deflated ones can hold", m.size, m.packed)
		}
	default:
		return nil, fmt.Errorf("it is compressed by %s: stored and deflated members can be read", method(f.Method))
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("its header in the file cannot be read: %w", err)
	}
	if m.at = at; m.packed > size-at {
		return nil, fmt.Errorf("the file is cut short: it needs %d bytes from offset %d on, there are %d", m.packed, at, max(size-at, 0))
	}
	return m, nil
}

// Stored returns where the bytes of a member lie that is stored as it is.
func Stored(f *zip.File, size int64) (at, bytes int64, err error) {
	m, err := check(f, size)
	if err != nil {
		return 0, 0, err
	}
	if m.Method != zip.Store {
		return 0, 0, errors.New("it is compressed, where it is read as it is: unpack the archive, and pack it without compression (zip -0)")
	}
	return m.at, m.packed, nil
}

// method names a way to compress that zip archives know.
func method(n uint16) string {
	for known, name := range map[uint16]string{9: "deflate64", 12: "bzip2", 14: "LZMA", 93: "zstd", 95: "xz", 99: "AES encryption"} {
		if n == known {
			return name
		}
	}
	return fmt.Sprintf("method %d", n)
}

// extent reads the member's npy header. at is where the elements' file begins.
func (m *member) extent(r io.ReaderAt, at int64) (store.Extent, error) {
	e, err := npy.ReadHeader(r, m.size)
	if err == nil && e.Offset+e.Bytes() != m.size {
		err = fmt.Errorf("%d bytes follow the elements", m.size-e.Offset-e.Bytes())
	}
	if err != nil {
		return store.Extent{}, fmt.Errorf("member %.80q: %w", m.Name, err)
	}
	e.Offset += at
	return e, nil
}
