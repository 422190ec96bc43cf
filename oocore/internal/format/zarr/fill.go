package zarr

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/gonbext/gonbext/oocore/dtype"
)

// parseFill is the element that a fill value in JSON stands for, little-endian.
func parseFill(raw json.RawMessage, t dtype.Type) ([]byte, error) {
	b := make([]byte, t.Size())
	raw = bytes.TrimSpace(raw)
	if t.Kind() != dtype.KindComplex {
		return b, parseReal(b, raw, t)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil || len(parts) != 2 {
		return nil, fmt.Errorf("%s is not a fill value of %s: a pair of real and imaginary part is meant", shorten(raw), t)
	}
	for i, part := range parts {
		if err := parseReal(b[i*t.Size()/2:(i+1)*t.Size()/2], part, t.Part()); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func parseReal(dst []byte, raw json.RawMessage, t dtype.Type) error {
	var v dtype.Value
	ok := false
	switch text := string(raw); t.Kind() {
	case dtype.KindBool:
		ok = text == "true" || text == "false"
		v = dtype.ValueOf(text == "true")
	case dtype.KindInt, dtype.KindUint:
		v, ok = parseInteger(text, t)
	case dtype.KindFloat:
		v, ok = parseFloat(text, t)
	}
	if !ok {
		return fmt.Errorf("%s is not a fill value of %s", shorten(raw), t)
	}
	v.Put(dst)
	return nil
}

func parseInteger(text string, t dtype.Type) (dtype.Value, bool) {
	bits := 8 * t.Size()
	if t.Kind() == dtype.KindUint {
		if u, err := strconv.ParseUint(text, 10, bits); err == nil {
			return dtype.Value{Type: t, Lo: u}, true
		}
	} else if i, err := strconv.ParseInt(text, 10, bits); err == nil {
		return dtype.FromInt(t, i), true
	}
	// Some writers have 0.0 for 0: what a float64 counts exactly is as good.
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 || !t.Fits(int64(f)) {
		return dtype.Value{}, false
	}
	return dtype.FromInt(t, int64(f)), true
}

func parseFloat(text string, t dtype.Type) (dtype.Value, bool) {
	switch text {
	case `"NaN"`, `"\u004eaN"`:
		return canonicalNaN(t), true
	case `"Infinity"`, `"\u0049nfinity"`:
		return dtype.FromFloat(t, math.Inf(1)), true
	case `"-Infinity"`, `"-\u0049nfinity"`:
		return dtype.FromFloat(t, math.Inf(-1)), true
	}
	if hex, ok := strings.CutPrefix(text, `"0x`); ok {
		bits, err := strconv.ParseUint(strings.TrimSuffix(hex, `"`), 16, 8*t.Size())
		return dtype.Value{Type: t, Lo: bits}, err == nil && strings.HasSuffix(hex, `"`)
	}
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') { // not what only Go takes for a number
		return dtype.Value{}, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return dtype.Value{}, false
	}
	v := dtype.FromFloat(t, f)
	return v, !math.IsInf(v.Float(), 0) // a finite number that the type does not reach
}

// canonicalNaN has the bits that Zarr's specification gives to "NaN": positive and
// quiet, with no payload.
func canonicalNaN(t dtype.Type) dtype.Value {
	switch t {
	case dtype.Float16:
		return dtype.Value{Type: t, Lo: 0x7e00}
	case dtype.BFloat16:
		return dtype.Value{Type: t, Lo: 0x7fc0}
	case dtype.Float32:
		return dtype.Value{Type: t, Lo: 0x7fc00000}
	case dtype.Float8E4M3FN, dtype.Float8E5M2:
		return dtype.FromFloat(t, math.NaN())
	}
	return dtype.Value{Type: t, Lo: 0x7ff8 << 48}
}

// encodeFill writes an element as Zarr v3's JSON has fill values.
func encodeFill(fill []byte, t dtype.Type) json.RawMessage {
	if t.Kind() == dtype.KindComplex {
		half, part := len(fill)/2, t.Part()
		return json.RawMessage("[" + string(encodeFill(fill[:half], part)) + ", " + string(encodeFill(fill[half:], part)) + "]")
	}
	var b [8]byte
	copy(b[:], fill)
	v := dtype.Value{Type: t, Lo: binary.LittleEndian.Uint64(b[:])}
	if t.Kind() != dtype.KindFloat {
		return json.RawMessage(v.String())
	}
	f := v.Float()
	switch {
	case math.IsInf(f, 1):
		return json.RawMessage(`"Infinity"`)
	case math.IsInf(f, -1):
		return json.RawMessage(`"-Infinity"`)
	case f != f && v == canonicalNaN(t):
		return json.RawMessage(`"NaN"`)
	case f != f:
		return json.RawMessage(fmt.Sprintf(`"0x%0*x"`, 2*t.Size(), v.Lo))
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return json.RawMessage(text)
}

// fillText is a fill value in the form of store.Details: JSON without quotes.
func fillText(fill []byte, t dtype.Type) string {
	return strings.ReplaceAll(string(encodeFill(fill, t)), `"`, "")
}

// parseFillText reads what fillText writes; "" is zero.
func parseFillText(text string, t dtype.Type) ([]byte, error) {
	if text == "" {
		return make([]byte, t.Size()), nil
	}
	if t.Kind() == dtype.KindComplex && !strings.HasPrefix(text, "[") {
		text = "[" + text + ", 0.0]"
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		re, im, two := strings.Cut(inner, ",")
		if !ok || !two {
			return nil, errors.New("a complex fill value is written [1.0, 0.0]")
		}
		return parseFill(json.RawMessage("["+quoteFill(re)+","+quoteFill(im)+"]"), t)
	}
	v, err := parseFill(json.RawMessage(quoteFill(text)), t)
	if err != nil {
		return nil, fmt.Errorf("%s cannot hold %s", t, shorten([]byte(text)))
	}
	return v, nil
}

// quoteFill puts quotes around the values that JSON has as strings.
func quoteFill(text string) string {
	text = strings.TrimSpace(text)
	if text == "NaN" || strings.HasSuffix(text, "Infinity") || strings.HasPrefix(text, "0x") {
		return `"` + text + `"`
	}
	return text
}

// shorten makes text from a file fit a line of a message.
func shorten(raw []byte) string {
	const most = 60
	text, more := raw, ""
	if len(raw) > most {
		text, more = raw[:most], "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, string(bytes.ToValidUTF8(text, nil))) + more
}
