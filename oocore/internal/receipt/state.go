package receipt

import (
	"context"
	"errors"

	"github.com/gonbext/gonbext/oocore/internal/resultcache"
	"github.com/gonbext/gonbext/oocore/internal/storage"
)

// The states of a stored array, as far as versions tell.
const (
	Verified = "verified" // as the run left it that has a receipt
	Changed  = "changed since"
	None     = "no receipt"
)

// State is that of a stored array. It reads no elements, and waits for no clock: it is for people to see.
func State(ctx context.Context, path string) (string, error) {
	place, err := storage.Absolute(path)
	if err != nil {
		return "", err
	}
	e, ok := resultcache.Lookup(place, "")
	if !ok || e.Title == "" {
		return None, nil
	}
	a, err := storage.Reopen(ctx, path)
	if err != nil {
		return "", err
	}
	now := storage.Version{File: a.Info().ID, Checksum: e.Version.Checksum}
	if listed, ok := a.(storage.Listed); ok {
		now.Objects, err = listed.Digest(ctx)
	}
	if err = errors.Join(err, a.Close()); err != nil {
		return "", err
	}
	if !now.Equal(e.Version) {
		return Changed, nil
	}
	return Verified, nil
}
