package codec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/storage/door"
)

// parseV2 reads the filters of Zarr v2 and its compressor, which is the last of them.
func parseV2(compressor, filters json.RawMessage, t dtype.Type) (all []filter, err error) {
	var codecs []json.RawMessage
	if len(filters) > 0 {
		if err := json.Unmarshal(filters, &codecs); err != nil {
			return nil, errors.New("filters: it is no list of codecs")
		}
	}
	if len(compressor) > 0 && string(compressor) != "null" {
		codecs = append(codecs, compressor)
	}
	for _, raw := range codecs {
		var id struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(raw, &id); err != nil {
			return nil, errors.New("compressor or filters: a codec is no object with an id")
		}
		f, err := parseNumcodec(id.ID, raw, t)
		if err != nil {
			return nil, fmt.Errorf("codec %q: %w", id.ID, err)
		}
		all = append(all, f)
	}
	return all, nil
}

// parseNumcodec reads one codec. Fields that only matter to writers are not looked at.
func parseNumcodec(id string, raw json.RawMessage, t dtype.Type) (filter, error) {
	if _, ok := door.Codecs["numcodecs."+id]; ok {
		var settings map[string]json.RawMessage
		if err := json.Unmarshal(raw, &settings); err != nil {
			return nil, err
		}
		delete(settings, "id")
		return newRegistered("numcodecs."+id, marshal(settings), t)
	}
	c := struct {
		Level       int    `json:"level"`
		Checksum    bool   `json:"checksum"`
		Cname       string `json:"cname"`
		Clevel      int    `json:"clevel"`
		Shuffle     int    `json:"shuffle"`
		Blocksize   int    `json:"blocksize"`
		Elementsize int    `json:"elementsize"`
		Location    string `json:"location"`
	}{Level: map[string]int{"gzip": 1, "zlib": 1}[id], Clevel: 5, Shuffle: 1}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	switch id {
	case "zstd":
		return newZstd(c.Level, c.Checksum)
	case "gzip", "zlib":
		return newDeflate(id, c.Level)
	case "blosc":
		mode := shuffleMode(c.Shuffle)
		if mode == -1 { // what suits the elements
			if mode = byteShuffle; t.Size() == 1 {
				mode = bitShuffle
			}
		}
		return newBlosc(cmp.Or(c.Cname, "lz4"), c.Clevel, mode, t.Size(), c.Blocksize)
	case "lz4":
		return &lz4{}, nil
	case "shuffle":
		return newShuffle(cmp.Or(c.Elementsize, 4))
	case "crc32c":
		if c.Location == "start" {
			return nil, errors.New("a checksum at the start is not supported")
		}
		return newCRC32C(), nil
	case "crc32", "adler32":
		return newZlibSum(id, c.Location)
	case "fletcher32":
		return newFletcher32(), nil
	case "bz2":
		return bzip{}, nil
	case "lzma":
		return parseLZMA(raw)
	case "packbits":
		return packBits{}, nil
	}
	if f, err := parseElementwise(id, raw, element{t: t}); f != nil || err != nil {
		return f, err
	}
	return nil, fmt.Errorf("it is not supported: supported are %s", numcodecNames())
}
