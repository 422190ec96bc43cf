package zarr

import (
	"strings"
	"testing"

	"github.com/gonbext/gonbext/oocore/dtype"
)

const (
	v2OfTimes = `{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":"<M8[ms]","compressor":null,"fill_value":"NaT","order":"C","filters":null}`
	v3OfTimes = `{"zarr_format":3,"node_type":"array","shape":[4],"data_type":{"name":"numpy.datetime64","configuration":{"unit":"ms","scale_factor":1}},
"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":{"name":"default"},"fill_value":-9223372036854775808,
"codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"attributes":{"units":"furlongs","long_name":"when"}}`
)

func TestTimesAreIntegersWithUnits(t *testing.T) {
	v2, err := parseV2([]byte(v2OfTimes), []byte(`{"long_name":"when"}`))
	if err != nil {
		t.Fatal(err)
	}
	v3, err := parseV3([]byte(v3OfTimes))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*meta{v2, v3} {
		if fill := dtype.Slice[int64](m.fill)[0]; m.dtype != dtype.Int64 || fill != -1<<63 {
			t.Errorf("version %d: %s with the fill value %d", m.version, m.dtype, fill)
		}
		for _, want := range []string{`"units":"milliseconds since 1970-01-01"`, `"calendar":"proleptic_gregorian"`, `"long_name":"when"`} {
			if !strings.Contains(string(m.attributes), want) {
				t.Errorf("version %d has the attributes %s, without %s", m.version, m.attributes, want)
			}
		}
	}
	durations, err := parseV2([]byte(strings.Replace(v2OfTimes, "<M8[ms]", ">m8[D]", 1)), nil)
	if err != nil || string(durations.attributes) != `{"units":"days"}` {
		t.Errorf("durations have the attributes %s, %v", durations.attributes, err)
	}
	for with, reason := range map[string]string{`"unit":"ms","scale_factor":10`: "steps of 10", `"unit":"generic"`: `"generic"`, `"scale_factor":1`: "unit is missing"} {
		text := strings.Replace(v3OfTimes, `"unit":"ms","scale_factor":1`, with, 1)
		if _, err := parseV3([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v", with, err)
		}
	}
}
