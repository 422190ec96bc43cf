package zarr

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/flock"
)

// Consolidated metadata are a copy, in a group's zarr.json, of the metadata of all
// nodes below the group. Readers such as xarray take them for the truth: a stale
// entry makes them decode new chunks by old metadata, and a missing one hides the
// array. So a save removes the entry of its array from every group above it, then
// replaces the array, and then adds the new entry. Where an array grows the old entry is not
// stale in this sense: it shows the array as it was until the new one replaces it. A run that is killed in between
// leaves an array that is hidden from such readers until it is saved again, and
// never wrong numbers. Entries of other arrays are not touched: runs that save
// arrays of one group at the same time change their own entries only.

const consolidatedField = "consolidated_metadata"

// emptyGroup is the entry of a group that has only just been made, in the form in
// which zarr-python writes it.
const emptyGroup = `{"attributes": {}, "zarr_format": 3, "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}, "node_type": "group"}`

// consolidatedGroup is a group above an array that is saved.
type consolidatedGroup struct {
	bucket  blob.Bucket
	name    string  // of the array in the group
	made    string  // of the outermost node that comes with the array
	removed members // the entries that were there
}

// consolidatedGroups are the groups above one array.
type consolidatedGroups []*consolidatedGroup

// change replaces the entries of each group by those that a function makes of them, which reports whether they differ. Where
// others cannot be kept out the consolidated metadata are dropped. An error says why it matters.
func (l consolidatedGroups) change(ctx context.Context, why string, change func(g *consolidatedGroup, all members) (members, bool)) error {
	for _, g := range l {
		err := g.edit(ctx, func(text []byte, alone bool) ([]byte, error) {
			return editConsolidated(text, func(all members) (members, bool) {
				if !alone {
					return nil, true
				}
				return change(g, all)
			})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", why, err)
		}
	}
	return nil
}

// remove removes the array's entries, unless they are what the new ones would be.
func (l consolidatedGroups) remove(ctx context.Context, array []byte) error {
	return l.change(ctx, "the consolidated metadata above it", func(g *consolidatedGroup, all members) (members, bool) {
		g.removed = nil
		if g.made == g.name && sameArray(all.get(g.name), array) {
			return all, false
		}
		kept := all.without(g.made, &g.removed)
		return kept, len(g.removed) > 0
	})
}

// add adds the entries of the array, and of the groups that come with it.
func (l consolidatedGroups) add(ctx context.Context, array []byte) error {
	array = bareNumbers(array)
	return l.change(ctx, "the array is in its place, but not in the consolidated metadata above it", func(g *consolidatedGroup, all members) (members, bool) {
		if sameArray(all.get(g.name), array) {
			return all, false
		}
		return all.with(g.name, array), true
	})
}

// restore puts back what remove has removed, where the array was not replaced after
// all. It is done as far as possible: the error that led to it is the one that tells.
func (l consolidatedGroups) restore(ctx context.Context) {
	for _, g := range l {
		if len(g.removed) == 0 {
			continue
		}
		_ = g.edit(ctx, func(text []byte, _ bool) ([]byte, error) {
			return editConsolidated(text, func(all members) (members, bool) {
				for _, m := range g.removed {
					all = all.set(m.name, m.value)
				}
				return all, true
			})
		})
	}
}

// editConsolidated changes the entries of a group's consolidated metadata. It returns
// nil where there are none, or nothing changes. Where change returns nil the consolidated metadata are dropped.
func editConsolidated(text []byte, change func(members) (members, bool)) ([]byte, error) {
	group, err := parseMembers(bareNumbers(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v3File, err)
	}
	whole := group.get(consolidatedField)
	if whole == nil || string(whole) == "null" {
		return nil, nil
	}
	inline, err := parseMembers(whole)
	var all members
	if err == nil {
		all, err = parseMembers(inline.get("metadata"))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", v3File, consolidatedField, err)
	}
	all, changed := change(all)
	switch {
	case !changed:
		return nil, nil
	case all == nil:
		group = group.drop(consolidatedField)
	default:
		group = group.set(consolidatedField, inline.set("metadata", all.encode()).encode())
	}
	return group.text()
}

// text is the object as a file has it, with what JSON does not have out of its quotes.
func (l members) text() ([]byte, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, l.encode(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return withBareNumbers(out.Bytes()), nil
}

// sameArray reports that an entry is the metadata of an array as they are written here.
func sameArray(entry json.RawMessage, array []byte) bool {
	if entry == nil {
		return false
	}
	m, err := parseV3(entry)
	if err != nil {
		return false
	}
	o, err := parseV3(array)
	return err == nil && bytes.Equal(m.encodeV3(), o.encodeV3())
}

// members are those of a JSON object, in the order of the file, which readers show.
type members []member

type member struct {
	name  string
	value json.RawMessage
}

func parseMembers(text []byte) (members, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	open, err := d.Token()
	if err != nil || open != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	all := members{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("not valid JSON: %w", err)
		}
		m := member{name: name.(string)} // the decoder takes nothing else for a name
		if err := d.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("not valid JSON: %w", err)
		}
		all = append(all, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	return all, nil
}

func (l members) encode() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(m.name)
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (l members) index(name string) int {
	return slices.IndexFunc(l, func(m member) bool { return m.name == name })
}

// get is a member's value, nil where there is none.
func (l members) get(name string) json.RawMessage {
	if i := l.index(name); i >= 0 {
		return l[i].value
	}
	return nil
}

func (l members) set(name string, value json.RawMessage) members {
	if i := l.index(name); i >= 0 {
		l = slices.Clone(l)
		l[i].value = value
		return l
	}
	return append(l[:len(l):len(l)], member{name, value})
}

func (l members) drop(name string) members {
	return slices.DeleteFunc(slices.Clone(l), func(m member) bool { return m.name == name })
}

// without is the list without a node and all that lies below it, which it appends to
// removed.
func (l members) without(node string, removed *members) members {
	return slices.DeleteFunc(slices.Clone(l), func(m member) bool {
		below := m.name == node || strings.HasPrefix(m.name, node+"/")
		if below {
			*removed = append(*removed, m)
		}
		return below
	})
}

// with is the list with an array, and with the groups above it where they are missing.
func (l members) with(name string, array []byte) members {
	for i, c := range name {
		if c == '/' && l.get(name[:i]) == nil {
			l = l.set(name[:i], json.RawMessage(emptyGroup))
		}
	}
	return l.set(name, array)
}

// localGroups are the groups above an array in a folder of this machine: those of its
// store, and above that as far as there are groups. made is the folder that comes into
// being with the array.
func localGroups(array, root, made string) (l consolidatedGroups) {
	for _, path := range []*string{&array, &root, &made} {
		if abs, err := filepath.Abs(*path); err == nil {
			*path = abs
		}
	}
	for at := array; ; {
		above := filepath.Dir(at)
		if above == at {
			return l
		}
		at = above
		if len(at) >= len(made) { // which has only the new array
			continue
		}
		text, err := os.ReadFile(filepath.Join(at, v3File))
		if len(at) < len(root) && (err != nil || !isGroup(text)) {
			return l
		}
		if err != nil {
			continue
		}
		l = append(l, &consolidatedGroup{bucket: blob.Dir(at), name: below(at, array), made: below(at, made)})
	}
}

// below is the name of a node in a group's folder.
func below(group, node string) string {
	name, err := filepath.Rel(group, node)
	if err != nil {
		return node
	}
	return filepath.ToSlash(name)
}

func isGroup(text []byte) bool {
	o, err := parseObject(text)
	return err == nil && string(o["node_type"]) == `"group"`
}

// edit replaces a group's metadata by what change makes of them; nil changes nothing. No other writer's change comes
// in between: in a folder of this machine the folder is locked, in an object store they are replaced only where they are
// those that were read, and change is called again where they are not. alone is false where a file system cannot keep others out.
func (g *consolidatedGroup) edit(ctx context.Context, change func(text []byte, alone bool) ([]byte, error)) error {
	alone := true
	if g.bucket.Can().Files {
		held, err := os.Open(g.bucket.String())
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer held.Close()
		alone = flock.Wait(held) == nil
	}
	const tries = 30 // each is lost to a writer that won
	for range tries {
		text, e, err := readUpTo(ctx, g.bucket, v3File, math.MaxInt64)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", g.bucket, err)
		}
		changed, err := change(text, alone)
		if err != nil || changed == nil {
			return err
		}
		if _, err = blob.PutIf(ctx, g.bucket, v3File, changed, e.Version); !errors.Is(err, blob.ErrReplaced) {
			return err
		}
		select {
		case <-time.After(rand.N(100 * time.Millisecond)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s of the group is changed by others all the time: %w", path.Join(g.bucket.String(), v3File), blob.ErrReplaced)
}
