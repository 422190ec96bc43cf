package dtype_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// What plans, records and headers hold of types are names, so that the numbers of the constants are free to change.
// The texts are those that the types had when their numbers were 1 to 17.
func TestStoredTypesAreNamesWhateverTheirNumbers(t *testing.T) {
	const names = `["bool","int8","int16","int32","int64","uint8","uint16","uint32","uint64","float16","bfloat16","float32","float64","complex64","complex128","float8_e4m3fn","float8_e5m2"]`
	var stored []dtype.Type
	if err := json.Unmarshal([]byte(names), &stored); err != nil || len(stored) != len(dtype.Stored()) {
		t.Fatal(stored, err)
	}
	for i, x := range stored {
		if x != dtype.Stored()[i] || x < 1<<30 || !x.Known() {
			t.Errorf("%v is %d", x, x)
		}
	}
	if text, err := json.Marshal(stored); err != nil || string(text) != names {
		t.Errorf("%s, %v", text, err)
	}
	for text, want := range map[string]dtype.Value{
		`{"type":"float32","Lo":1069547520}`:                    dtype.ValueOf(float32(1.5)),
		`{"type":"int16","Lo":65533}`:                           dtype.ValueOf(int16(-3)),
		`{"type":"complex128","Lo":4607182418800017408,"Hi":1}`: {Type: dtype.Complex128, Lo: 4607182418800017408, Hi: 1},
	} {
		var got dtype.Value
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if again, err := json.Marshal(want); err != nil || string(again) != text {
			t.Errorf("%s, want %s, %v", again, text, err)
		}
	}
	if text, err := json.Marshal(map[dtype.Type]int{dtype.BFloat16: 2}); err != nil || string(text) != `{"bfloat16":2}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestSmallNumbersAreNoTypes(t *testing.T) {
	for n := range dtype.Type(4096) {
		if n.Known() || n.Size() != 0 || n.Kind() != dtype.KindInvalid || n != 0 && !strings.HasPrefix(n.String(), "Type(") {
			t.Fatalf("%d is %v", n, n)
		}
	}
}
