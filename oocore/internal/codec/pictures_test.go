package codec

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/ccitt"

	"github.com/gonbext/gonbext/oocore/testcases"
)

// greyJPEG encodes a picture of noise over a slope, which is 50 × 37.
func greyJPEG(t *testing.T, random *rand.Rand) []byte {
	p := image.NewGray(image.Rect(0, 0, 50, 37))
	for y := range 37 {
		for x := range 50 {
			p.SetGray(x, y, color.Gray{Y: byte(3*x + y + random.IntN(60))})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, p, &jpeg.Options{Quality: 80}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestJPEGIsWhatGoDecodesButForRounding(t *testing.T) {
	data := greyJPEG(t, testcases.Rand(t))
	want, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 50*37)
	if n, err := jpegPicture("", 50, 1, false).(*reading).undo(got, data); err != nil || n != len(got) {
		t.Fatal(n, err)
	}
	for i, v := range got {
		if d := int(v) - int(want.(*image.Gray).GrayAt(i%50, i/50).Y); d < -1 || d > 1 {
			t.Fatalf("element %d is off by %d", i, d)
		}
	}
}

// TestCodingsOfPicturesRejectDamage cuts and changes streams: what is cut is an error, and nothing panics.
func TestCodingsOfPicturesRejectDamage(t *testing.T) {
	random := testcases.Rand(t)
	data := greyJPEG(t, random)
	out := make([]byte, 50*37)
	f := jpegPicture("", 50, 1, false).(*reading)
	for n := range len(data) - 3 { // the end of the picture may be missing
		if _, err := f.undo(out, data[:n]); err == nil {
			t.Fatalf("%d bytes of %d are a picture", n, len(data))
		}
	}
	all := []filter{f, jpegPicture(string(data[:200]), 50, 3, true), webpPicture(50, 3), packedRows(50, 12, 2), packedRuns(), fax(ccitt.Group4, 50), fax(ccitt.Group3, 50), &lzmaFilter{form: 0}, &lzmaFilter{form: 1}, &lzmaFilter{form: 3}, packBits{}}
	for range 3000 {
		damaged := bytes.Clone(data)
		for range 1 + random.IntN(4) {
			damaged[random.IntN(len(damaged))] = byte(random.Uint32())
		}
		if random.IntN(2) == 0 {
			for i := range damaged[:40] {
				damaged[i] = byte(random.Uint32())
			}
			copy(damaged, [][]byte{[]byte(xzMagic), []byte("RIFF\x00\x01\x00\x00WEBPVP8L"), {0x5d}}[random.IntN(3)])
		}
		for _, f := range all {
			d, err := f.decoder(int64(len(out)), make([]byte, f.decodeMemory(int64(len(out))).arena))
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := d.decode(out, bytes.Clone(damaged)); n > len(out) {
				t.Fatalf("%s decodes to %d bytes of %d", f.text(), n, len(out))
			}
		}
	}
}
