package cloud

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gonbext/gonbext/oocore/internal/blob"
	"github.com/gonbext/gonbext/oocore/testcases"
)

// moto is a second S3 server, which checks signatures, with boto3 beside it.
type moto struct {
	in  io.Writer
	out *bufio.Scanner
}

// startMoto starts the server, and sets what is needed to reach it.
func startMoto(t *testing.T) *moto {
	if !testcases.Full() {
		t.Skip("the tests against moto, a second S3 server, are left out: set GONBEXT_TEST=full, and GONBEXT_PYTHON to a Python that has moto[server]")
	}
	python := os.Getenv("GONBEXT_PYTHON")
	if python == "" {
		t.Fatal("GONBEXT_TEST=full needs GONBEXT_PYTHON, a Python that has moto[server]")
	}
	cmd := exec.Command(python, "testdata/s3server.py")
	cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL=", "AWS_EC2_METADATA_DISABLED=true")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var messages strings.Builder
	cmd.Stderr = &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("moto ended: %v\n%s", err, messages.String())
		}
	})
	m := &moto{in, bufio.NewScanner(out)}
	var server struct{ URL, ID, Secret string }
	m.answer(t, &server)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", server.ID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.Secret)
	return m
}

func (m *moto) answer(t *testing.T, v any) {
	t.Helper()
	if !m.out.Scan() {
		t.Fatal("moto does not answer")
	}
	if err := json.Unmarshal(m.out.Bytes(), v); err != nil {
		t.Fatalf("%v: %s", err, m.out.Bytes())
	}
}

// check has boto3 read an object.
func (m *moto) check(t *testing.T, key string, data []byte) {
	t.Helper()
	line, _ := json.Marshal(key)
	if _, err := m.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	var found struct {
		Hash string
		Size int
	}
	m.answer(t, &found)
	if found.Size != len(data) || found.Hash != hashHex(data) {
		t.Errorf("boto3 reads other bytes of %q: %d, there are %d", key, found.Size, len(data))
	}
}

func TestMoto(t *testing.T) {
	noLeaks(t)
	m := startMoto(t)
	b := at(t, "s3://data")
	checkBucket(t, b)
	t.Run("read by boto3", func(t *testing.T) {
		for key, n := range map[string]int{"empty": 0, "one": 1, "with space/and+more": 1000, "parts": 2*partBytes + 5} {
			data := noise(n)
			put(t, b, key, data)
			m.check(t, key, data)
			if _, err := blob.Put(context.Background(), b, key, data); err != nil {
				t.Fatal(err)
			}
			m.check(t, key, data)
		}
	})
	t.Run("conditions", func(t *testing.T) { checkConditions(t, b) })
	t.Run("rejected", func(t *testing.T) {
		_, err := at(t, "s3://no-such-bucket").Open(context.Background(), "x")
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "there is no such bucket") {
			t.Error(err)
		}
		t.Setenv("AWS_SECRET_ACCESS_KEY", testSecret)
		_, err = at(t, "s3://data").Open(context.Background(), "one")
		if err == nil || !strings.Contains(err.Error(), "the server does not accept the credentials (SignatureDoesNotMatch): renew those from AWS_ACCESS_KEY_ID") || strings.Contains(err.Error(), testSecret) {
			t.Error(err)
		}
	})
}

// checkConditions stores an object only where the one that its writer has seen is there.
func checkConditions(t *testing.T, b blob.Bucket) {
	ctx := t.Context()
	first, err := blob.PutIf(ctx, b, "owner", []byte("one"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blob.PutIf(ctx, b, "owner", []byte("two"), ""); err != blob.ErrReplaced {
		t.Errorf("where there is one already: %v", err)
	}
	if _, err := blob.PutIf(ctx, b, "owner", []byte("one"), ""); err != nil { // its own, whose answer got lost
		t.Errorf("where the same was stored: %v", err)
	}
	second, err := blob.PutIf(ctx, b, "owner", []byte("two"), first.Version)
	if err != nil || second.Version == first.Version {
		t.Errorf("%+v, %v", second, err)
	}
	if _, err := blob.PutIf(ctx, b, "owner", []byte("three"), first.Version); err != blob.ErrReplaced {
		t.Errorf("where another is there: %v", err)
	}
	if _, err := blob.PutIf(ctx, b, "no-owner", []byte("three"), first.Version); err != blob.ErrReplaced {
		t.Errorf("where there is none any more: %v", err)
	}
	p := make([]byte, 10)
	e, err := blob.Get(ctx, b, "owner", p)
	if err != nil || string(p[:e.Size]) != "two" || e.Version != second.Version || e.Age <= 0 || e.Age > time.Hour {
		t.Errorf("%+v, %q, %v", e, p[:e.Size], err)
	}
	for entry, err := range b.List(ctx, "owner") {
		if err != nil || strings.Trim(entry.Version, `"`) != strings.Trim(second.Version, `"`) || entry.Size != 3 {
			t.Errorf("listed as %+v, %v", entry, err)
		}
	}
}
