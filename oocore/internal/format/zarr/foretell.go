package zarr

import (
	"encoding/json"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/internal/requests"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/record"
	"github.com/gonbext/gonbext/oocore/store"
)

// Foretell says what a remoteTarget asks for where nothing lies under the array's name: it looks at what is there, stores its owner's
// object and looks again, and so before the metadata take their place. Then the version of all is read, and the owner's object deleted.
func (format) Foretell(path string, m store.Meta) (t record.Traffic, unsure string, err error) {
	made, err := newMeta(m)
	if err != nil {
		return t, "", err
	}
	me := newOwner()
	text := made.encodeV3()
	me.Array = bareNumbers(text)
	owner, err := json.Marshal(me)
	if err != nil {
		return t, "", err
	}
	if _, inner := split(path); inner != "" {
		unsure = "groups above an array are looked at, made and changed in addition"
	}
	objects := made.objects().Len()
	t.Place = blob.PlaceOf(path).Server()
	t.Requests = map[string]int64{
		requests.RangedGet: 3 + 1 + 2 + 1, // of metadata that are not there; the owner's object, before and after; the metadata
		requests.List:      2 + storage.Pages(objects) + storage.Pages(objects+2),
		requests.Put:       2,
		requests.Delete:    1,
	}
	t.Read = 2*int64(len(owner)) + int64(len(text))
	t.Written = int64(len(owner)) + int64(len(text))
	return t, unsure, nil
}
