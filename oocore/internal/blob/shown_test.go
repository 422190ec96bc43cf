package blob_test

import (
	"testing"

	"github.com/gonbext/gonbext/oocore/internal/blob"
)

func TestShown(t *testing.T) {
	for path, want := range map[string]string{
		"x.npy":                                 "x.npy",
		"a@b?c=d.npy":                           "a@b?c=d.npy",
		"s3://bucket/a/x.npy":                   "s3://bucket/a/x.npy",
		"s3://bucket/x.bin?shape=2&dtype=int8":  "s3://bucket/x.bin?shape=2&dtype=int8",
		"https://u:p@host:80/x.npy":             "https://host:80/x.npy",
		"https://u:p@x@host":                    "https://host",
		"https://host/x@1.npy":                  "https://host/x@1.npy",
		"https://host/x.npy?X-Amz-Signature=ab": "https://host/x.npy?…",
		"https://host?sig=a/b":                  "https://host?…",
		"https://host/x?shape=1&sig=a":          "https://host/x?…",
		"s3://":                                 "s3://",
	} {
		if got := blob.Shown(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}
