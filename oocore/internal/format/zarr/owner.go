package zarr

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

// Two machines may write one array of an object store, which has no locks. The run that
// writes owns the array by a small object beside its chunks. It stores that where there
// is none, or in place of the version that it has read, by conditional requests, and
// stores it anew while it runs. Whoever else wants to write is rejected, until the owner
// has not done so for a while: then its run has ended, and can be taken over. A run that
// was taken over, or whose machine slept for so long, finds that out before it writes
// another chunk.
//
// A server that knows no conditional requests stores the object in any case, and two
// runs that begin within a moment of each other may both continue. Each finds the other's
// object after it has stored its own, when it renews that, or at the latest before its metadata
// take their place, when it looks once more and compares what is stored with what it has stored:
// one of them fails, and no array has chunks of both.

// ownerKey is the object's key in the array.
const ownerKey = ".gonbext-run.json"

// How long an owner that does not renew its object keeps it, and how often it does.
var (
	ownerExpires = 90 * time.Second
	ownerRenews  = 20 * time.Second
)

// owner is what the object says.
type owner struct {
	Run  string `json:"run"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Array is the metadata of the array that it makes: what it may have left.
	Array json.RawMessage `json:"array,omitempty"`
	// Left is the metadata of arrays that were replaced, and whose chunks could not be deleted.
	Left []json.RawMessage `json:"left,omitempty"`
	// Ended says that nobody owns the array any more: the object is there for what is left.
	Ended bool `json:"ended,omitempty"`
}

// errTaken is returned where another run has taken an array over.
var errTaken = errors.New("another run has taken the writing of this array over: save again when that has ended")

// ownership is that of one array, while a run has it.
type ownership struct {
	bucket blob.Bucket
	me     owner

	mu      sync.Mutex
	version string    // of the object
	renewed time.Time // by the wall clock, which continues while a machine sleeps
	lost    error
	stop    context.CancelFunc // ends renewing
	stopped chan struct{}
}

// newOwner is one for this process.
func newOwner() owner {
	host, _ := os.Hostname()
	return owner{Run: rand.Text(), Host: host, PID: os.Getpid()}
}

// readOwner is the present owner of an array; nil where it has none.
func readOwner(ctx context.Context, b blob.Bucket) (*owner, blob.Entry, error) {
	text, e, err := ReadMetadata(ctx, b, ownerKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, e, nil
	}
	if err != nil {
		return nil, e, err
	}
	var o owner
	if err := json.Unmarshal(text, &o); err != nil || o.Run == "" {
		return nil, e, fmt.Errorf("%s does not say which run writes the array: delete it, where none does", ownerKey)
	}
	return &o, e, nil
}

// resumeOwner takes an array again for a run that had it before; nil where another has had
// it since, or it is of another store.
func resumeOwner(ctx context.Context, b blob.Bucket, run string) (*ownership, error) {
	o := &ownership{bucket: b, me: newOwner()}
	o.me.Run = run
	if err := o.renew(ctx); errors.Is(err, errTaken) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return o, nil
}

// busy says who writes.
func (o *owner) busy(age time.Duration) error {
	seen := "now"
	if age > 0 {
		seen = fmt.Sprintf("%v ago", age)
	}
	return fmt.Errorf("it is being written by process %d on %s, which was last seen %s: wait for it, or end it; %v after it was ended it can be written again",
		o.PID, o.Host, seen, ownerExpires)
}

// put stores the object in place of the version that is known.
func (o *ownership) put(ctx context.Context) error {
	text, err := json.Marshal(o.me)
	if err != nil {
		return err
	}
	began := time.Now().Round(0)
	e, err := blob.PutIf(ctx, o.bucket, ownerKey, text, o.version)
	if err != nil {
		return err
	}
	o.version, o.renewed = e.Version, began
	return nil
}

// renew stores the object anew, unless it is another's by now.
func (o *ownership) renew(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.renewLocked(ctx)
}

func (o *ownership) renewLocked(ctx context.Context) error {
	if o.lost != nil {
		return o.lost
	}
	began, read := time.Now().Round(0), ""
	for range 10 {
		now, e, err := readOwner(ctx, o.bucket)
		if err != nil {
			return err
		}
		if now == nil || now.Run != o.me.Run {
			break
		}
		if o.me.Array == nil {
			o.me.Array = now.Array
		}
		o.version = e.Version
		if read != "" && read != e.Version { // another process of the same run has renewed it meanwhile
			o.renewed = began
			return nil
		}
		read = e.Version
		if err = o.put(ctx); !errors.Is(err, blob.ErrReplaced) {
			return err
		}
	}
	o.lost = errTaken
	return o.lost
}

// verify makes sure, by one request where it was renewed not long ago, that the array is this run's.
func (o *ownership) verify(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != nil {
		return o.lost
	}
	now, _, err := readOwner(ctx, o.bucket)
	if err != nil {
		return err
	}
	if now == nil || now.Run != o.me.Run {
		o.lost = errTaken
		return o.lost
	}
	return o.heldLocked(ctx)
}

// keep renews the object from time to time.
func (o *ownership) keep() {
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	o.stop, o.stopped = cancel, stopped
	go func() {
		defer close(stopped)
		for {
			select {
			case <-time.After(ownerRenews):
				_ = o.renew(ctx) // held says where that has not worked for too long
			case <-ctx.Done():
				return
			}
		}
	}()
}

// held makes sure that the array is still this run's.
func (o *ownership) held(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.heldLocked(ctx)
}

func (o *ownership) heldLocked(ctx context.Context) error {
	if o.lost != nil {
		return o.lost
	}
	if since := time.Now().Round(0).Sub(o.renewed); since >= 0 && since < ownerExpires/2 {
		return nil
	}
	return o.renewLocked(ctx)
}

// replaced are the arrays whose chunks are to be deleted: one with this metadata, "" for none, and those before it.
func (o *ownership) replaced(old string) (all []*meta) {
	for _, text := range append(slices.Clone(o.me.Left), json.RawMessage(old)) {
		if m, err := parseV3(text); err == nil {
			all = append(all, m)
		}
	}
	return all
}

// leave stores that the run has ended, and that chunks of an array with this metadata, "" for none, are left.
func (o *ownership) leave(ctx context.Context, old string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lost != nil {
		return o.lost
	}
	if o.me.Array, o.me.Ended = nil, true; old != "" {
		o.me.Left = append(o.me.Left, json.RawMessage(old))
	}
	return o.put(ctx)
}

// end stops renewing. Without release the object stays, for the run to resume.
func (o *ownership) end(ctx context.Context, release bool) error {
	if o == nil {
		return nil
	}
	if o.stop != nil {
		o.stop()
		<-o.stopped
		o.stop = nil
	}
	if !release || o.lost != nil {
		return nil
	}
	return o.bucket.Delete(ctx, ownerKey)
}
