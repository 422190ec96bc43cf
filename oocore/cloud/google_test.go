package cloud_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
)

// A bucket of Google's is written and read by requests that its server takes: signed by the HMAC key for the region auto, no deletion of
// several objects, and no condition but of reading.
func TestGoogle(t *testing.T) {
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(backend).Server()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		switch {
		case !strings.Contains(auth, "Credential=GOOGID/") || !strings.Contains(auth, "/auto/s3/aws4_request"), strings.Contains(auth, "accept-encoding"):
			t.Errorf("%s %s is signed %s", r.Method, r.URL, auth)
		case r.Method == http.MethodPost && r.URL.Query().Has("delete"), r.Method != http.MethodGet && r.Header.Get("If-Match")+r.Header.Get("If-None-Match") != "":
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		fake.ServeHTTP(w, r)
	}))
	defer s.Close()
	for k, v := range map[string]string{"CPL_GS_ENDPOINT": s.URL, "GS_ACCESS_KEY_ID": "GOOGID", "GS_SECRET_ACCESS_KEY": "very-secret-key", "XDG_CACHE_HOME": t.TempDir()} {
		t.Setenv(k, v)
	}
	storetest.TestArray(t, []dtype.Type{dtype.Float32, dtype.Int16}, func(t testing.TB, m store.Meta, data []byte) store.Array {
		for range 2 { // the second replaces the first, whose chunks are deleted
			storetest.Save(t, "gs://data/x.zarr", m, data)
		}
		return storetest.Open(t, "gs://data/x.zarr")
	})
	t.Setenv("GS_SECRET_ACCESS_KEY", "")
	_, err := blob.At("gs://data")
	if err == nil || !strings.Contains(err.Error(), "gs://data: only one of GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY is set") {
		t.Error(err)
	}
	t.Setenv("GS_ACCESS_KEY_ID", "")
	if _, err = blob.At("gs://data"); err == nil || !strings.Contains(err.Error(), "gcloud storage hmac create") {
		t.Error(err)
	}
}
