package images_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/gonbext/gonbext/oocore"
	"github.com/gonbext/gonbext/oocore/adapters/images"
	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage"
	"github.com/gonbext/gonbext/oocore/store"
	"github.com/gonbext/gonbext/oocore/store/storetest"
	"github.com/gonbext/gonbext/oocore/testcases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t testing.TB, file string, m image.Image) string {
	t.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, m)
	if strings.HasSuffix(file, "jpg") {
		b.Reset()
		err = jpeg.Encode(&b, m, nil)
	}
	if err == nil {
		err = os.WriteFile(file, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// noise returns a picture of random samples.
func noise(m image.Image, pix []byte) image.Image {
	for i := range pix {
		pix[i] = byte(rand.Uint32())
	}
	return m
}

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for i := range 3 { // pictures of 2 × 2 pixels, grey
		m := &image.Gray{Pix: []byte{0, byte(10 * i), byte(20 * i), 255}, Stride: 2, Rect: image.Rect(0, 0, 2, 2)}
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%d.png", i)))
		if err != nil {
			panic(err)
		}
		if err := errors.Join(png.Encode(f, m), f.Close()); err != nil {
			panic(err)
		}
	}
	ctx := context.Background()
	frames := oocore.OpenStack(filepath.Join(dir, "*.png"), 0)
	fmt.Println(frames.Shape(), frames.DType())
	m, err := images.Image(ctx, frames.Mean(0).AsType(oocore.Uint8))
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Bounds(), m.(*image.Gray).Pix)
	// Output:
	// [3 2 2] uint8
	// (0,0)-(2,2) [0 10 20 255]
}

func TestReadInterchange(t *testing.T) {
	storetest.Foreign(t, "files that Pillow writes", "testdata/make.py", 180)
}

// testdata has JPEG files that Pillow wrote of one smooth picture, and what it reads of them. Where colours
// have half the resolution Pillow interpolates them.
func TestJPEGIsPillowsButForRounding(t *testing.T) {
	for name, most := range map[string]int{"grey": 2, "full": 3, "half": 25, "progressive": 25} {
		got, err := oocore.Collect[uint8](t.Context(), oocore.Open("testdata/"+name+".jpg"))
		if err != nil {
			t.Error(err)
			continue
		}
		file := oocore.Open("testdata/" + name + ".npy")
		want, err := oocore.Collect[uint8](t.Context(), file)
		if err != nil || !slices.Equal(file.Shape(), oocore.Open("testdata/"+name+".jpg").Shape()) {
			t.Errorf("%s: shape %v, want %v: %v", name, oocore.Open("testdata/"+name+".jpg").Shape(), file.Shape(), err)
			continue
		}
		sum := 0
		for i := range want {
			d := max(int(got[i])-int(want[i]), int(want[i])-int(got[i]))
			if sum += d; d > most {
				t.Errorf("%s: element %d is %d, Pillow's %d", name, i, got[i], want[i])
				break
			}
		}
		if mean := float64(sum) / float64(len(want)); mean > 2 {
			t.Errorf("%s: elements differ by %.2f on average", name, mean)
		}
	}
}

func TestRegionsOfPictures(t *testing.T) {
	dir := t.TempDir()
	grey := image.NewGray(image.Rect(0, 0, 9, 7))
	colours := image.NewNRGBA64(image.Rect(0, 0, 5, 6))
	for _, c := range []struct {
		m   image.Image
		pix []byte
	}{{grey, grey.Pix}, {colours, colours.Pix}} {
		noise(c.m, c.pix)
		a, err := store.Open(write(t, filepath.Join(dir, "x.png"), c.m))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		info := a.Info()
		data := bytes.Clone(c.pix)
		if info.DType == dtype.Uint16 { // big-endian in image
			for i, v := range dtype.Slice[uint16](data) {
				dtype.Slice[uint16](data)[i] = v<<8 | v>>8
			}
		}
		storetest.TestCoded(t, a, data, info.Work.Stream)
	}
}

// What Go's heap is given while a picture is decoded is at most what the header told, and no
// less than a third of it.
func TestHeapOfDecodingIsAsTold(t *testing.T) {
	r := image.Rect(0, 0, 1500, 1100)
	grey, grey16, rgba, rgba64 := image.NewGray(r), image.NewGray16(r), image.NewNRGBA(r), image.NewNRGBA64(r)
	opaque := image.NewRGBA(r)
	for i := range opaque.Pix {
		opaque.Pix[i] = byte(i)
		if i%4 == 3 {
			opaque.Pix[i] = 255
		}
	}
	palette := image.NewPaletted(r, color.Palette{color.Black, color.White})
	dir := t.TempDir()
	files := []string{}
	for i, m := range []image.Image{noise(grey, grey.Pix), noise(grey16, grey16.Pix), noise(rgba, rgba.Pix), noise(rgba64, rgba64.Pix), opaque, palette} {
		files = append(files, write(t, filepath.Join(dir, fmt.Sprint(i, ".png")), m))
		if i == 0 || i == 4 {
			files = append(files, write(t, filepath.Join(dir, fmt.Sprint(i, ".jpg")), m))
		}
	}
	for _, file := range files {
		a, err := store.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		info := a.Info()
		s, err := a.(storage.Coded).Session(make([]byte, info.Work.Stream))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		region := storetest.All(info.Shape)
		region.Count[0] = 1
		dst := make([]byte, region.Size()*info.DType.Size())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = s.Read(t.Context(), dst, region)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > info.Work.Heap || took < info.Work.Heap/3 {
			t.Errorf("%s: decoding took %d bytes, the header told %d", filepath.Base(file), took, info.Work.Heap)
		}
	}
}

func TestBudgetHoldsDecodedPictures(t *testing.T) {
	t.Setenv("GONBEXT_RUNS", t.TempDir())
	dir := t.TempDir()
	m := image.NewGray(image.Rect(0, 0, 5000, 4000)) // 20 MB, in a file of 20 kB
	for i := range 3 {
		m.Pix[i] = 255
		write(t, filepath.Join(dir, fmt.Sprint(i, ".png")), m)
	}
	x := oocore.OpenStack(filepath.Join(dir, "*.png"), 0).AsType(oocore.Int64).Sum()
	_, err := oocore.Collect[int64](t.Context(), x, oocore.Memory("30MiB"))
	var small *oocore.MemoryError
	if !errors.As(err, &small) {
		t.Fatalf("within 30 MiB: %v", err)
	}
	sum, err := oocore.Collect[int64](t.Context(), x, oocore.Memory(fmt.Sprint(small.Need)))
	if err != nil || sum[0] != 6*255 {
		t.Errorf("within the %d bytes that are needed: %v, %v", small.Need, sum, err)
	}
}

func TestHeadersThatCannotBeAreRejected(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "x.png"), image.NewGray(image.Rect(0, 0, 4, 4)))
	text := testcases.ReadFile(t, file)
	binary.BigEndian.PutUint32(text[16:], 1<<20)
	binary.BigEndian.PutUint32(text[20:], 1<<20)
	binary.BigEndian.PutUint32(text[29:], crc32.ChecksumIEEE(text[12:29]))
	for name, c := range map[string]struct {
		text  []byte
		words string
	}{
		"huge.png":  {text, "the file is cut short: a picture of 1048576 × 1048576 pixels"},
		"short.png": {text[:20], "the file is cut short"},
		"other.png": {bytes.Repeat([]byte("x"), 100), "invalid"},
		"empty.jpg": {nil, "the file is cut short"},
	} {
		path := filepath.Join(dir, name)
		testcases.WriteFile(t, path, c.text, 0o600)
		if err := oocore.Open(path).Err(); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %q", name, err, c.words)
		}
	}
	if err := oocore.Open("testdata/cmyk.jpg").Err(); err == nil || !strings.Contains(err.Error(), "convert it to RGB") {
		t.Errorf("CMYK: %v", err)
	}
	if _, err := oocore.Zeros(oocore.Uint8, 4, 4).Save(t.Context(), filepath.Join(dir, "o.png")); err == nil || !strings.Contains(err.Error(), "read only") {
		t.Errorf("saving a picture: %v", err)
	}
}

func TestDamagedFilesAreErrors(t *testing.T) {
	colours := image.NewNRGBA(image.Rect(0, 0, 9, 7))
	storetest.Damaged(t, write(t, filepath.Join(t.TempDir(), "x.png"), noise(colours, colours.Pix)), testcases.Rand(t), 1500, "")
	storetest.Damaged(t, "testdata/progressive.jpg", testcases.Rand(t), 500, "")
}

// Every picture has the samples that color.NRGBA64Model gives of its own At.
func TestFromHasSamplesOfAt(t *testing.T) {
	r := image.Rect(2, 3, 9, 8)
	gray, gray16, nrgba, rgba := image.NewGray(r), image.NewGray16(r), image.NewNRGBA(r), image.NewRGBA(r)
	nrgba64, rgba64, alpha, cmyk := image.NewNRGBA64(r), image.NewRGBA64(r), image.NewAlpha(r), image.NewCMYK(r)
	ycbcr := image.NewYCbCr(r, image.YCbCrSubsampleRatio420)
	for i := range ycbcr.Cb {
		ycbcr.Cb[i], ycbcr.Cr[i] = byte(40*i), byte(70*i)
	}
	palette := image.NewPaletted(r, color.Palette{color.White, color.NRGBA{1, 2, 3, 4}, color.Black})
	palette.SetColorIndex(4, 4, 1)
	opaque := image.NewPaletted(r, color.Palette{color.White, color.NRGBA{1, 2, 3, 255}})
	opaque.SetColorIndex(4, 4, 1)
	for i := 0; i < len(rgba.Pix); i += 4 { // premultiplied
		copy(rgba.Pix[i:], []byte{byte(i) / 4, byte(i) / 5, byte(i) / 6, max(byte(i)/2, byte(i)/4)})
	}
	for i := 0; i < len(rgba64.Pix); i += 8 {
		copy(rgba64.Pix[i:], []byte{1, byte(i), 2, byte(i), 3, byte(i), 200, byte(i)})
	}
	for _, m := range []image.Image{noise(gray, gray.Pix), noise(gray16, gray16.Pix), noise(nrgba, nrgba.Pix), rgba, noise(nrgba64, nrgba64.Pix), rgba64,
		noise(alpha, alpha.Pix), noise(cmyk, cmyk.Pix), noise(ycbcr, ycbcr.Y), palette, opaque, nrgba.SubImage(image.Rect(4, 4, 7, 8))} {
		a := images.From(m)
		shape := a.Shape()
		got, err := oocore.Collect[uint16](t.Context(), a.AsType(oocore.Uint16))
		if err != nil {
			t.Fatal(err)
		}
		var want []uint16
		b := m.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				var c [4]uint16
				if a.DType() == oocore.Uint8 {
					n := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
					c = [4]uint16{uint16(n.R), uint16(n.G), uint16(n.B), uint16(n.A)}
				} else {
					n := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
					c = [4]uint16{n.R, n.G, n.B, n.A}
				}
				n := 1
				if len(shape) == 3 {
					n = shape[2]
				}
				want = append(want, c[:n]...)
			}
		}
		if !slices.Equal(got, want) || shape[0] != b.Dy() || shape[1] != b.Dx() {
			t.Errorf("%T: %v of shape %v, want %v", m, got, shape, want)
		}
	}
	for words, m := range map[string]image.Image{"is nil": nil, "63 bits": image.NewUniform(color.White)} {
		if err := images.From(m).Err(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

// What Image makes of an array has the array's samples, also as a PNG file that is opened again.
func TestImageOfShapesAndTypes(t *testing.T) {
	for _, channels := range []int{0, 1, 2, 3, 4} {
		shape := []int{5, 7, channels}
		if channels == 0 {
			shape = shape[:2]
		}
		for _, x := range []*oocore.Array{
			oocore.Random(oocore.Float64, 1, shape...).Mul(255).AsType(oocore.Uint8),
			oocore.Random(oocore.Float64, 2, shape...).Mul(65535).AsType(oocore.Uint16),
		} {
			m, err := images.Image(t.Context(), x)
			if err != nil {
				t.Errorf("%v: %v", shape, err)
				continue
			}
			file := oocore.Open(write(t, filepath.Join(t.TempDir(), "x.png"), m))
			want := x
			switch channels {
			case 1:
				want = x.Reshape(5, 7)
			case 2: // a PNG file of four channels
				grey := x.Slice(":, :, :1")
				want = oocore.Concatenate(2, grey, grey, x)
			}
			equal, err := oocore.Item[bool](t.Context(), file.Equal(want).All())
			if err != nil || !equal || file.DType() != x.DType() {
				t.Errorf("%v of %v: %v, %v", x.DType(), shape, equal, err)
			}
		}
	}
	for words, a := range map[string]*oocore.Array{
		"uint8 or uint16":         oocore.Zeros(oocore.Float32, 4, 4),
		"H × W or":                oocore.Zeros(oocore.Uint8, 4),
		"1 to 4 channels":         oocore.Zeros(oocore.Uint8, 4, 4, 5),
		"the image.Image is nil":  images.From(nil),
		"no such file or directo": oocore.Open("missing.png"),
	} {
		if _, err := images.Image(t.Context(), a); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "images_test.go") {
			t.Errorf("%v, want %q", err, words)
		}
	}
}
