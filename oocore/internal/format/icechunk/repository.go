package icechunk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/meter"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// place is a path taken apart: a repository, what is read of it, and the name of an array or a group.
type place struct {
	root       string
	kind, name string // of the reference; the branch main where the path has none
	node       string // without slashes at its ends
	path       string // up to the name
	field      string // of records
}

var kinds = []string{"branch", "tag", "snapshot"}

// cut takes a path apart. named says that its form alone is that of a repository.
func cut(path string) (p place, named bool) {
	p.path, p.node, _ = strings.Cut(path, "#")
	p.node = strings.Trim(p.node, "/")
	p.root, p.kind, p.name = p.path, "branch", "main"
	if i := strings.LastIndexByte(p.path, '?'); i >= 0 {
		if kind, name, ok := strings.Cut(p.path[i+1:], "="); ok && slices.Contains(kinds, kind) {
			p.root, p.kind, p.name, named = p.path[:i], kind, name, true
		}
	}
	if trimmed := strings.TrimRight(p.root, "/"); trimmed != "" {
		p.root = trimmed
	}
	return p, named || strings.HasSuffix(p.root, suffix)
}

// file is the path of a file of the repository.
func (p place) file(key string) string { return p.root + "/" + key }

// resolve returns the name of the snapshot that a path means.
func (p place) resolve(ctx context.Context) (string, error) {
	if p.kind == "snapshot" {
		id := strings.ToUpper(p.name)
		if b, err := crockford.DecodeString(id); err != nil || len(b) != len(objectID{}) {
			return "", fmt.Errorf("%.80q is no snapshot: it has 20 digits and letters, as in ?snapshot=1CECHNKREP0F1RSTCMT0", p.name)
		}
		return id, nil
	}
	m := meter.Meter{What: "the list of its branches"}
	defer m.Done()
	room := &meter.Room{Take: m.Take}
	repo, _, err := read(ctx, p.file("repo"), repoFile, room)
	if errors.Is(err, fs.ErrNotExist) {
		return p.resolveV1(ctx)
	}
	if err = cmp.Or(err, room.Err); err != nil {
		return "", fmt.Errorf("repo: %w", err)
	}
	if status := repo.table(5); status.uint(0, 1) == 2 {
		return "", fmt.Errorf("the repository is offline: %.200q", status.bytes(2))
	}
	field := 2
	if p.kind == "tag" {
		field = 1
	}
	at, names := -1, []string{}
	for _, ref := range repo.tables(field) {
		name := string(ref.bytes(0))
		if names = append(names, name); name == p.name {
			at = int(ref.uint(1, 4))
		}
	}
	id := ""
	for i, snapshot := range repo.tables(4) {
		if i == at {
			id = snapshot.id(0).String()
		}
	}
	switch {
	case repo.err != nil:
		return "", fmt.Errorf("repo: %w", repo.err)
	case at >= 0 && id == "":
		return "", fmt.Errorf("repo: %w", errDamaged)
	case at < 0:
		return "", p.missing(names)
	}
	return id, nil
}

// missing says that there is no such branch or tag.
func (p place) missing(names []string) error {
	return fmt.Errorf("no %s %.80q: the repository has %s", p.kind, p.name, storage.QuoteNames(p.kind, names))
}

// resolveV1 reads the file of a branch or tag, as version 1 has them.
func (p place) resolveV1(ctx context.Context) (string, error) {
	if strings.Contains(p.name, "/") {
		return "", p.missing(nil)
	}
	b, err := blob.At(p.root)
	if err != nil {
		return "", err
	}
	key := "refs/" + p.kind + "." + p.name + "/ref.json"
	text := make([]byte, 4096)
	e, err := blob.Get(ctx, b, key, text)
	if p.kind == "tag" && err == nil { // which leaves its file when it is deleted
		if _, gone := blob.Get(ctx, b, key+".deleted", nil); gone == nil || gone == blob.ErrLarge {
			err = fs.ErrNotExist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		var names []string
		for e, err := range b.List(ctx, "refs/") {
			if err != nil {
				break // as on a web server
			}
			if name, ok := strings.CutPrefix(path.Dir(e.Key), "refs/"+p.kind+"."); ok && path.Base(e.Key) == "ref.json" {
				names = append(names, name)
			}
		}
		if slices.Sort(names); names == nil && p.kind == "branch" {
			return "", fmt.Errorf("there is no Icechunk repository: neither the file repo nor %s: %w", key, fs.ErrNotExist)
		}
		return "", p.missing(names)
	}
	var ref struct {
		Snapshot string `json:"snapshot"`
	}
	if err == nil {
		err = json.Unmarshal(text[:e.Size], &ref)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, storage.Plain(err))
	}
	if b, err := crockford.DecodeString(ref.Snapshot); err != nil || len(b) != len(objectID{}) {
		return "", fmt.Errorf("%s: %.80q is no snapshot", key, ref.Snapshot)
	}
	return ref.Snapshot, nil
}

// snapshot is what a repository holds at one time.
type snapshot struct {
	id    string
	nodes []node // by path
}

// node is an array or a group.
type node struct {
	path      string // without the slash that it begins with
	id        [8]byte
	text      []byte // its zarr.json
	array     bool
	manifests []manifestRef
}

// manifestRef is a file that has the chunks of an array from one index on up to another, of each axis.
type manifestRef struct {
	id       objectID
	from, to []int
}

var snapshots storage.Headers[*snapshot]

// open reads the snapshot that a path means.
func (p place) open(ctx context.Context) (*snapshot, error) {
	id, err := p.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return cached(ctx, &snapshots, p, id, "", func(take func(int64) error) (*snapshot, error) {
		room := &meter.Room{Take: take}
		root, size, err := read(ctx, p.file("snapshots/"+id), snapshotFile, room)
		if err != nil {
			return nil, err
		}
		if room.Err != nil {
			room.For(int64(size)) // an upper bound
			return nil, room.Err
		}
		s, err := parseSnapshot(root, id, room)
		return s, cmp.Or(err, room.Err)
	})
}

// cached reads what a snapshot says, which never changes, unless it is held already.
func cached[T any](ctx context.Context, held *storage.Headers[T], p place, id, name string, parse func(take func(int64) error) (T, error)) (v T, err error) {
	file := p.file("snapshots/" + id)
	o, version, err := storage.OpenObject(ctx, file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return v, fmt.Errorf("the repository has no snapshot %s (any more): it may have expired", id)
		}
		return v, storage.Plain(err)
	}
	if v, err = held.Read(file+"#"+name, storage.HeadOf(ctx, o, version.Size), parse); err != nil {
		err = fmt.Errorf("snapshot %s: %w", id, err)
	}
	return v, errors.Join(err, o.Close())
}

const nodeBytes = 160

func parseSnapshot(root table, id string, room *meter.Room) (*snapshot, error) {
	s := &snapshot{id: id}
	if got := root.id(0).String(); got != id && root.err == nil {
		return nil, fmt.Errorf("it says that it is snapshot %s", got)
	}
	for _, t := range root.tables(2) {
		n := node{path: strings.TrimPrefix(string(t.bytes(1)), "/"), text: t.bytes(2), array: t.uint(3, 1) == 1}
		if copy(n.id[:], t.fixed(0, len(n.id))) == 0 {
			t.err = errDamaged
		}
		if n.path != "" && !fs.ValidPath(n.path) {
			return nil, fmt.Errorf("%.80q is no path of an array or a group", n.path)
		}
		held := int64(nodeBytes + len(n.path))
		if n.array {
			for _, m := range t.table(4).tables(2) {
				ref := manifestRef{id: m.id(0)}
				pos, dims := m.vector(1, 8)
				for ; dims > 0; dims-- {
					ref.from, ref.to = append(ref.from, int(t.number(pos, 4))), append(ref.to, int(t.number(pos+4, 4)))
					pos += 8
				}
				n.manifests = append(n.manifests, ref)
				held += int64(2*64 + 2*16*len(ref.from))
			}
		}
		if room.For(held) {
			s.nodes = append(s.nodes, n)
		}
	}
	if root.err != nil {
		return nil, root.err
	}
	slices.SortFunc(s.nodes, func(a, b node) int { return strings.Compare(a.path, b.path) })
	for i := 1; i < len(s.nodes); i++ {
		if s.nodes[i].path == s.nodes[i-1].path {
			return nil, fmt.Errorf("%.80q is there twice", s.nodes[i].path)
		}
	}
	return s, nil
}

// find returns the node of a path, or nil.
func (s *snapshot) find(name string) *node {
	at, ok := slices.BinarySearchFunc(s.nodes, name, func(n node, name string) int { return cmp.Compare(n.path, name) })
	if !ok {
		return nil
	}
	return &s.nodes[at]
}

// arrays are the names of the arrays in a group, or of the array itself.
func (s *snapshot) arrays(group string) (names []string) {
	for i := range s.nodes {
		if n := &s.nodes[i]; n.array && (group == "" || n.path == group || strings.HasPrefix(n.path, group+"/")) {
			names = append(names, n.path)
		}
	}
	return names
}

// isRepository reports a folder of this machine that holds a repository, of version 2 or 1.
func isRepository(folder string) bool {
	if !blob.PlaceOf(folder).Files {
		return false
	}
	if _, err := os.Stat(filepath.Join(folder, "snapshots")); err != nil { // which both versions have
		return false
	}
	f, err := os.Open(filepath.Join(folder, "repo"))
	if err != nil {
		_, err = os.Stat(filepath.Join(folder, "refs/branch.main/ref.json"))
		return err == nil
	}
	defer f.Close()
	b := make([]byte, len(magic))
	_, err = io.ReadFull(f, b)
	return err == nil && string(b) == magic
}
