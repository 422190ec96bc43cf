package cloud

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// slowS3 is an S3 server that keeps objects in memory, answers each request later by
// delay and sends and receives at the rates of a link that all connections share. It
// checks no signatures and hashes nothing, knows one bucket, and takes the memory of
// replaced objects for later ones.
type slowS3 struct {
	delay    time.Duration
	down, up link

	mu      sync.Mutex
	objects map[string]stored
	uploads map[string]map[int]stored // parts by their numbers
	spare   [][]byte
	serial  int
	use     Usage
	under   int // requests under way
}

// stored is an object, in the pieces that it came in.
type stored struct {
	pieces [][]byte
	serial int
}

func (s stored) etag() string { return fmt.Sprintf("%q", fmt.Sprint(s.serial)) }

func (s stored) size() (n int) {
	for _, p := range s.pieces {
		n += len(p)
	}
	return n
}

// link is one direction of a network.
type link struct {
	rate float64 // bytes a second; 0 is without a limit
	mu   sync.Mutex
	free time.Time // when it has moved what it was given so far
}

const (
	linkPiece = 256 << 10
	linkAhead = 4 * time.Millisecond // that bytes may come too soon: sleeps are not exact
)

// move waits until n more bytes are through.
func (l *link) move(n int) {
	if l.rate == 0 {
		return
	}
	l.mu.Lock()
	if now := time.Now(); l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(float64(n) / l.rate * 1e9))
	wait := time.Until(l.free)
	l.mu.Unlock()
	if wait > linkAhead {
		time.Sleep(wait)
	}
}

// Usage is what a slow server did since it was asked last.
type Usage struct {
	Seconds  float64        // of a processor
	Requests map[string]int // by method
	Most     int            // at once
}

func (s *slowS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" { // not S3's
		if r.Method == http.MethodDelete {
			s.forget(r.URL.Query().Get("prefix"))
		} else {
			s.report(w)
		}
		return
	}
	s.begin(r)
	defer s.end()
	time.Sleep(s.delay)
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch query := r.URL.Query(); {
	case query.Has("list-type"):
		s.list(w, query.Get("prefix"), query.Get("delimiter"), max(query.Get("continuation-token"), query.Get("start-after")))
	case query.Has("delete"):
		s.deleteAll(w, r.Body)
	case query.Has("uploads"):
		s.begun(w)
	case r.Method == http.MethodPost:
		s.complete(w, key, query.Get("uploadId"))
	case query.Has("partNumber"):
		s.part(w, query.Get("uploadId"), query.Get("partNumber"), r)
	case r.Method == http.MethodPut:
		s.put(w, key, r)
	case query.Has("uploadId"):
		w.WriteHeader(http.StatusNoContent) // the parts stay
	case r.Method == http.MethodDelete:
		s.delete(key)
		w.WriteHeader(http.StatusNoContent)
	case key == "": // the bucket
	default:
		s.get(w, key, r.Method == http.MethodHead, r.Header.Get("Range"))
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

// receive keeps a body; the object is one piece.
func (s *slowS3) receive(w http.ResponseWriter, r *http.Request) (o stored, ok bool) {
	data := s.room(int(r.ContentLength))
	for at := 0; at < len(data); at += linkPiece {
		piece := data[at:min(at+linkPiece, len(data))]
		if _, err := io.ReadFull(r.Body, piece); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return stored{}, false
		}
		s.up.move(len(piece))
	}
	s.mu.Lock()
	s.serial++
	o = stored{[][]byte{data}, s.serial}
	s.mu.Unlock()
	w.Header().Set("ETag", o.etag())
	return o, true
}

func (s *slowS3) put(w http.ResponseWriter, key string, r *http.Request) {
	if o, ok := s.receive(w, r); ok {
		s.delete(key)
		s.mu.Lock()
		s.objects[key] = o
		s.mu.Unlock()
	}
}

func (s *slowS3) begun(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	s.uploads[fmt.Sprint(s.serial)] = map[int]stored{}
	fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%d</UploadId></InitiateMultipartUploadResult>", s.serial)
}

func (s *slowS3) part(w http.ResponseWriter, id, number string, r *http.Request) {
	n, err := strconv.Atoi(number)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if o, ok := s.receive(w, r); ok {
		s.mu.Lock()
		s.uploads[id][n] = o
		s.mu.Unlock()
	}
}

// complete joins all parts, whichever the request lists.
func (s *slowS3) complete(w io.Writer, key, id string) {
	s.delete(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	o := stored{serial: s.serial}
	for _, n := range slices.Sorted(maps.Keys(s.uploads[id])) {
		o.pieces = append(o.pieces, s.uploads[id][n].pieces...)
	}
	delete(s.uploads, id)
	s.objects[key] = o
	fmt.Fprintf(w, "<CompleteMultipartUploadResult><Key>%s</Key><ETag>%s</ETag></CompleteMultipartUploadResult>", key, o.etag())
}

func (s *slowS3) delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.objects[key]; ok { // no request of a benchmark reads what it deletes
		s.spare = append(s.spare, o.pieces...)
		delete(s.objects, key)
	}
}

// forget deletes what is below a prefix.
func (s *slowS3) forget(prefix string) {
	s.mu.Lock()
	keys := slices.Collect(maps.Keys(s.objects))
	s.mu.Unlock()
	for _, key := range keys {
		if strings.HasPrefix(key, prefix) {
			s.delete(key)
		}
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

func (s *slowS3) get(w http.ResponseWriter, key string, head bool, span string) {
	s.mu.Lock()
	o, ok := s.objects[key]
	s.mu.Unlock()
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
		return
	}
	first, last, status := 0, o.size()-1, http.StatusOK
	if from, to, ok := strings.Cut(strings.TrimPrefix(span, "bytes="), "-"); ok {
		if n, err := strconv.Atoi(to); err == nil {
			last = min(last, n)
		}
		if n, err := strconv.Atoi(from); err == nil {
			first = n
		} else { // so many at the end
			first, last = max(o.size()-last, 0), o.size()-1
		}
		if first > last {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, o.size()))
		status = http.StatusPartialContent
	}
	w.Header().Set("ETag", o.etag())
	w.Header().Set("Last-Modified", started.Format(http.TimeFormat))
	w.Header().Set("Content-Length", fmt.Sprint(last-first+1))
	w.Header().Set("Content-Type", "binary/octet-stream")
	w.WriteHeader(status)
	if head {
		return
	}
	at := 0 // of the piece in the object
	for _, p := range o.pieces {
		for rest := p[min(max(first-at, 0), len(p)):max(min(last+1-at, len(p)), 0)]; len(rest) > 0; {
			piece := rest[:min(linkPiece, len(rest))]
			s.down.move(len(piece))
			if _, err := w.Write(piece); err != nil {
				return
			}
			rest = rest[len(piece):]
		}
		at += len(p)
	}
}

// started is when all objects changed last, to those who ask.
var started = time.Now().UTC()

// list answers in pages of 1000, as S3 does.
func (s *slowS3) list(w io.Writer, prefix, delimiter, after string) {
	type object struct {
		Key          string
		LastModified string
		Size         int
		ETag         string
	}
	type folder struct{ Prefix string }
	var result struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []object
		CommonPrefixes        []folder
		IsTruncated           bool
		NextContinuationToken string
	}
	s.mu.Lock()
	folders := map[string]bool{}
	for key, o := range s.objects {
		if !strings.HasPrefix(key, prefix) || key <= after {
			continue
		}
		if below, _, deeper := strings.Cut(key[len(prefix):], delimiter); delimiter != "" && deeper {
			folders[prefix+below+delimiter] = true
			continue
		}
		result.Contents = append(result.Contents, object{key, started.Format("2006-01-02T15:04:05.000Z"), o.size(), o.etag()})
	}
	s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		result.CommonPrefixes = append(result.CommonPrefixes, folder{name})
	}
	slices.SortFunc(result.Contents, func(a, b object) int { return strings.Compare(a.Key, b.Key) })
	if len(result.Contents) > 1000 {
		result.Contents = result.Contents[:1000]
		result.IsTruncated, result.NextContinuationToken = true, result.Contents[999].Key
	}
	xml.NewEncoder(w).Encode(result)
}

// slowVariable makes the test binary a slow server. It is the delay of a request and,
// after a comma, the bytes a second that the link moves in each direction.
const slowVariable = "GONBEXT_SLOW_S3"

// serveSlow is the process of a slow server, until its input ends.
func serveSlow(network string) error {
	delay, rate, limited := strings.Cut(network, ",")
	d, err := time.ParseDuration(delay)
	if err != nil {
		return err
	}
	s := &slowS3{delay: d, objects: map[string]stored{}, uploads: map[string]map[int]stored{}, use: Usage{Requests: map[string]int{}}}
	if limited {
		if s.down.rate, err = strconv.ParseFloat(rate, 64); err != nil {
			return err
		}
		s.up.rate = s.down.rate
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(l, s)
	fmt.Printf("http://%s\n", l.Addr())
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// Handler is such a server without delay, in this process: it gives objects of parts the tags that it lists.
func Handler() http.Handler {
	return &slowS3{objects: map[string]stored{}, uploads: map[string]map[int]stored{}, use: Usage{Requests: map[string]int{}}}
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
