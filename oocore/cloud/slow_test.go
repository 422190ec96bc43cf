package cloud

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// slowS3 is an S3 server that keeps objects in memory and answers each request later
// by delay. It checks no signatures and hashes nothing, knows one bucket and no
// multipart uploads, and takes the memory of replaced objects for later ones.
type slowS3 struct {
	delay time.Duration

	mu      sync.Mutex
	objects map[string]stored
	spare   [][]byte
	serial  int
	use     Usage
	under   int // requests under way
}

type stored struct {
	data   []byte
	serial int
}

func (s stored) etag() string { return fmt.Sprintf("%q", fmt.Sprint(s.serial)) }

// Usage is what a slow server did since it was asked last.
type Usage struct {
	Seconds  float64        // of a processor
	Requests map[string]int // by method
	Most     int            // at once
}

func (s *slowS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" { // not S3's
		s.report(w)
		return
	}
	s.begin(r)
	defer s.end()
	time.Sleep(s.delay)
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch query := r.URL.Query(); {
	case query.Has("list-type"):
		s.list(w, query.Get("prefix"), query.Get("continuation-token"))
	case query.Has("delete"):
		s.deleteAll(w, r.Body)
	case r.Method == http.MethodPut:
		s.put(w, key, r)
	case r.Method == http.MethodDelete:
		s.delete(key)
		w.WriteHeader(http.StatusNoContent)
	default:
		s.get(w, key, r.Header.Get("Range"))
	}
}

func (s *slowS3) begin(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use.Requests[r.Method]++
	s.under++
	s.use.Most = max(s.use.Most, s.under)
}

func (s *slowS3) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under--
}

func (s *slowS3) report(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := processorTime()
	s.use.Seconds = now.Seconds() - s.use.Seconds
	json.NewEncoder(w).Encode(s.use)
	s.use = Usage{Seconds: now.Seconds(), Requests: map[string]int{}}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// room is memory for n bytes, of an object that is gone where there is one.
func (s *slowS3) room(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, b := range s.spare {
		if cap(b) >= n {
			s.spare = slices.Delete(s.spare, i, i+1)
			return b[:n]
		}
	}
	return make([]byte, n, n+n/8)
}

func (s *slowS3) put(w http.ResponseWriter, key string, r *http.Request) {
	data := s.room(int(r.ContentLength))
	if _, err := io.ReadFull(r.Body, data); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.delete(key)
	s.mu.Lock()
	s.serial++
	o := stored{data, s.serial}
	s.objects[key] = o
	s.mu.Unlock()
	w.Header().Set("ETag", o.etag())
}

func (s *slowS3) delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.objects[key]; ok { // no request of a benchmark reads what it deletes
		s.spare = append(s.spare, o.data)
		delete(s.objects, key)
	}
}

func (s *slowS3) deleteAll(w io.Writer, body io.Reader) {
	var order struct{ Object []struct{ Key string } }
	if err := xml.NewDecoder(body).Decode(&order); err != nil {
		panic(err)
	}
	for _, o := range order.Object {
		s.delete(o.Key)
	}
	io.WriteString(w, "<DeleteResult></DeleteResult>")
}

func (s *slowS3) get(w http.ResponseWriter, key, span string) {
	s.mu.Lock()
	o, ok := s.objects[key]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
		return
	}
	w.Header().Set("ETag", o.etag())
	data, first, last := o.data, 0, 0
	if n, _ := fmt.Sscanf(span, "bytes=%d-%d", &first, &last); n == 2 {
		data = data[first:min(last+1, len(data))]
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, first+len(data)-1, len(o.data)))
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	w.Header().Set("Content-Type", "binary/octet-stream")
	if span != "" {
		w.WriteHeader(http.StatusPartialContent)
	}
	w.Write(data)
}

// list answers in pages of 1000, as S3 does.
func (s *slowS3) list(w io.Writer, prefix, after string) {
	type object struct {
		Key  string
		Size int
		ETag string
	}
	var result struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []object
		IsTruncated           bool
		NextContinuationToken string
	}
	s.mu.Lock()
	for key, o := range s.objects {
		if strings.HasPrefix(key, prefix) && key > after {
			result.Contents = append(result.Contents, object{key, len(o.data), o.etag()})
		}
	}
	s.mu.Unlock()
	slices.SortFunc(result.Contents, func(a, b object) int { return strings.Compare(a.Key, b.Key) })
	if len(result.Contents) > 1000 {
		result.Contents = result.Contents[:1000]
		result.IsTruncated, result.NextContinuationToken = true, result.Contents[999].Key
	}
	xml.NewEncoder(w).Encode(result)
}

// slowVariable makes the test binary a slow server.
const slowVariable = "GONBEXT_SLOW_S3"

// serveSlow is the process of a slow server, until its input ends.
func serveSlow(delay string) error {
	d, err := time.ParseDuration(delay)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &slowS3{delay: d, objects: map[string]stored{}, use: Usage{Requests: map[string]int{}}}
	go http.Serve(l, s)
	fmt.Printf("http://%s\n", l.Addr())
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// StartSlow runs a slow server in a process of its own, and sets what is needed to
// reach it. It returns what asks for its Usage.
func StartSlow(b *testing.B, delay time.Duration) func() Usage {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), slowVariable+"="+delay.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	url = strings.TrimSpace(url)
	b.Setenv("AWS_ENDPOINT_URL", url)
	b.Setenv("AWS_ACCESS_KEY_ID", "id")
	b.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return func() (use Usage) {
		b.Helper()
		resp, err := http.Get(url + "/")
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&use); err != nil {
			b.Fatal(err)
		}
		return use
	}
}
