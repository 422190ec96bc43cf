package pytorch

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gonbext/gonbext/oocore/dtype"
	"github.com/gonbext/gonbext/oocore/internal/grid"
)

// Values of a pickle, besides nil, bool, int64 and string.
type (
	tuple []any
	list  struct{ items []any }
	dict  struct{ keys, values []any }
	// global is a name that is known: a function, a class or a type of elements.
	global string
	// opaque is what no tensor is in, of which nothing is known.
	opaque struct{}
	mark   struct{}
)

// storageRef is a run of elements that tensors lie in.
type storageRef struct {
	key   string
	class string // torch's, such as FloatStorage
	n     int64  // elements, or bytes of an UntypedStorage
	from  int64  // of the first element, in that of the key
}

// tensor is one as the pickle has it.
type tensor struct {
	storage *storageRef
	dtype   dtype.Type
	offset  int64 // of the first element
	shape   []int
	strides []int64
	why     string // it cannot be read; empty where it can
}

// classes are the types of storages that have one, and bytes those of their elements, also of types that no array has.
var classes = map[string]struct {
	dtype dtype.Type
	bytes int64
}{
	"DoubleStorage": {dtype.Float64, 8}, "FloatStorage": {dtype.Float32, 4}, "HalfStorage": {dtype.Float16, 2}, "BFloat16Storage": {dtype.BFloat16, 2},
	"LongStorage": {dtype.Int64, 8}, "IntStorage": {dtype.Int32, 4}, "ShortStorage": {dtype.Int16, 2}, "CharStorage": {dtype.Int8, 1},
	"ByteStorage": {dtype.Uint8, 1}, "BoolStorage": {dtype.Bool, 1}, "ComplexFloatStorage": {dtype.Complex64, 8}, "ComplexDoubleStorage": {dtype.Complex128, 16},
	"QInt8Storage": {0, 1}, "QUInt8Storage": {0, 1}, "QInt32Storage": {0, 4}, "QUInt4x2Storage": {0, 1}, "QUInt2x4Storage": {0, 1},
	"UntypedStorage": {0, 1},
}

// newer are the types of elements whose storages have no class.
var newer = map[string]dtype.Type{
	"uint16": dtype.Uint16, "uint32": dtype.Uint32, "uint64": dtype.Uint64, "float8_e4m3fn": dtype.Float8E4M3FN, "float8_e5m2": dtype.Float8E5M2,
}

// unread are the functions that make tensors of other kinds, with what they are and what to do.
var unread = map[string]string{
	"_rebuild_sparse_tensor": "sparse: save its to_dense()", "_rebuild_sparse_csr_tensor": "sparse: save its to_dense()",
	"_rebuild_qtensor": "quantized: save its dequantize()", "_rebuild_nested_tensor": "nested: save its to_padded_tensor(0)",
	"_rebuild_meta_tensor_no_storage": "a meta tensor, which has no elements", "_rebuild_wrapper_subclass": "a wrapper, of which only its class knows the elements",
}

// inert are names of values beside tensors, which are left out.
var inert = []string{
	"torch.Size", "torch.device", "torch.serialization._get_layout", "_codecs.encode", "numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar", "numpy.dtype",
	"torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer", "torch._C._nn.Parameter",
	"builtins.complex", "builtins.set", "builtins.bytearray", "builtins.int", "builtins.list", "builtins.dict", "builtins.float", "builtins.str",
	"torch.per_tensor_affine", "torch.per_channel_affine", "torch.per_channel_affine_float_qparams",
}

// containers are dictionaries.
var containers = []string{"collections.OrderedDict", "collections.defaultdict", "collections.Counter"}

const utils = "torch._utils."

// elementTypes are the names of torch.dtype that may stand in a pickle: those that arrays have and those that tensors are rejected by.
var elementTypes = strings.Fields("float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128 complex32 uint16 uint32 uint64 " +
	"float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 qint8 quint8 qint32 quint4x2 quint2x4 bits8 bits16 bits1x8 bits2x4 bits4x2 int4 uint4")

// named returns a name that the pickle asks for, or an error where no tensor needs it.
func named(module, name string) (global, error) {
	if module == "__builtin__" {
		module = "builtins"
	}
	full := module + "." + name
	class, isStorage := strings.CutSuffix(name, "Storage")
	known := slices.Contains(inert, full) || slices.Contains(containers, full) ||
		module == "torch" && slices.Contains(elementTypes, name) ||
		isStorage && slices.Contains([]string{"torch", "torch.cuda", "torch.storage"}, module) && class != "" && classes[name].bytes > 0 ||
		full == "torch._tensor._rebuild_from_type_v2"
	if called, ok := strings.CutPrefix(full, utils); ok {
		known = known || unread[called] != "" || slices.Contains([]string{"_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter", "_rebuild_parameter_with_state"}, called)
	}
	switch {
	case known:
		return global(full), nil
	case strings.HasPrefix(module, "__torch__"):
		return "", errors.New("it is a TorchScript program: save its tensors in Python, torch.save(torch.jit.load(NAME).state_dict(), NEW)")
	}
	return "", fmt.Errorf("its pickle calls %.80s, which no tensor needs: a file that does this may be an attack, or a whole model or state of training; nothing of it was run. "+
		"Where you trust it, save its tensors alone in Python: torch.save(model.state_dict(), NAME)", full)
}

// machine reads a pickle as the tensors in it, and runs nothing of it (Python's Lib/pickletools.py says what its operations are).
type machine struct {
	r        *bufio.Reader
	at       int64 // bytes read
	stack    []any
	memo     map[uint32]any
	storages map[string]*storageRef
	take     func(bytes int64) error
	held     int64 // by about what was made
	charged  int64 // of which take was told
}

func (m *machine) hold(bytes int) error {
	if m.held += int64(bytes); m.held > m.charged {
		step := m.held - m.charged
		m.charged = m.held
		return m.take(step)
	}
	return nil
}

var errEnds = errors.New("its pickle is cut short or broken")

func (m *machine) byte() (byte, error) {
	b, err := m.r.ReadByte()
	m.at++
	return b, err
}

// number reads an integer of so many bytes.
func (m *machine) number(bytes int) (uint64, error) {
	var b [8]byte
	n, err := io.ReadFull(m.r, b[:bytes])
	m.at += int64(n)
	return binary.LittleEndian.Uint64(b[:]), err
}

// text reads a text of a length that stands before it in so many bytes. A long one is nothing that tensors need.
func (m *machine) text(bytes int) (any, error) {
	n, err := m.number(bytes)
	if err != nil {
		return nil, err
	}
	if n > 1<<16 {
		if n > math.MaxInt64 {
			return nil, errEnds
		}
		skipped, err := io.CopyN(io.Discard, m.r, int64(n))
		m.at += skipped
		return opaque{}, err
	}
	if err := m.hold(int(n) + 16); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	read, err := io.ReadFull(m.r, b)
	m.at += int64(read)
	return string(b), err
}

func (m *machine) line() (string, error) {
	b, err := m.r.ReadSlice('\n')
	m.at += int64(len(b))
	if err != nil {
		return "", err
	}
	return string(b[:len(b)-1]), nil
}

func (m *machine) push(v any) error {
	m.stack = append(m.stack, v)
	return m.hold(16)
}

// pop takes the last values from the stack.
func (m *machine) pop(n int) ([]any, error) {
	if len(m.stack) < n {
		return nil, errEnds
	}
	values := slices.Clone(m.stack[len(m.stack)-n:])
	m.stack = m.stack[:len(m.stack)-n]
	return values, nil
}

// marked takes the values above the last mark, and the mark.
func (m *machine) marked() ([]any, error) {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, is := m.stack[i].(mark); is {
			values := slices.Clone(m.stack[i+1:])
			m.stack = m.stack[:i]
			return values, nil
		}
	}
	return nil, errEnds
}

// run reads one pickle, and returns its value.
func (m *machine) run() (any, error) {
	m.stack, m.memo = nil, map[uint32]any{}
	for {
		op, err := m.byte()
		if err == nil && op == '.' {
			v, err := m.pop(1)
			if err != nil {
				return nil, err
			}
			return v[0], nil
		}
		if err == nil {
			err = m.step(op)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF || err == bufio.ErrBufferFull {
			err = errEnds
		}
		if err != nil {
			return nil, err
		}
	}
}

// step runs an operation.
func (m *machine) step(op byte) error {
	switch op {
	case 0x80, 0x95: // PROTO, FRAME
		_, err := m.number(map[byte]int{0x80: 1, 0x95: 8}[op])
		return err
	case '(':
		return m.push(mark{})
	case 'N':
		return m.push(nil)
	case 0x88, 0x89: // NEWTRUE, NEWFALSE
		return m.push(op == 0x88)
	case ')':
		return m.push(tuple{})
	case ']', 0x8f: // EMPTY_LIST, EMPTY_SET
		return cmp.Or(m.hold(64), m.push(&list{}))
	case '}':
		return cmp.Or(m.hold(96), m.push(&dict{}))
	case 'K', 'M', 'J': // BININT1, BININT2, BININT
		n, err := m.number(map[byte]int{'K': 1, 'M': 2, 'J': 4}[op])
		if err != nil {
			return err
		}
		if op == 'J' {
			return m.push(int64(int32(n)))
		}
		return m.push(int64(n))
	case 0x8a, 0x8b: // LONG1, LONG4
		size, err := m.number(map[byte]int{0x8a: 1, 0x8b: 4}[op])
		if err != nil {
			return err
		}
		if size > 8 {
			n, err := io.CopyN(io.Discard, m.r, int64(size))
			m.at += n
			return cmp.Or(err, m.push(opaque{}))
		}
		n, err := m.number(int(size))
		if shift := 64 - 8*size; size > 0 && shift > 0 {
			return cmp.Or(err, m.push(int64(n)<<shift>>shift))
		}
		return cmp.Or(err, m.push(int64(n)))
	case 'G': // BINFLOAT
		_, err := m.number(8)
		return cmp.Or(err, m.push(opaque{}))
	case 'X', 0x8c, 0x8d, 'U', 'T': // BINUNICODE, SHORT_, BINUNICODE8, SHORT_BINSTRING, BINSTRING
		s, err := m.text(map[byte]int{'X': 4, 0x8c: 1, 0x8d: 8, 'U': 1, 'T': 4}[op])
		return cmp.Or(err, m.push(s))
	case 'B', 'C', 0x8e, 0x96: // BINBYTES, SHORT_, BINBYTES8, BYTEARRAY8
		_, err := m.text(map[byte]int{'B': 4, 'C': 1, 0x8e: 8, 0x96: 8}[op])
		return cmp.Or(err, m.push(opaque{}))
	case 't', 'l', 'd', 0x91: // TUPLE, LIST, DICT, FROZENSET
		v, err := m.marked()
		if err != nil {
			return err
		}
		return m.build(op, v)
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3
		v, err := m.pop(int(op-0x85) + 1)
		if err != nil {
			return err
		}
		return m.build('t', v)
	case 'a', 's', 'e', 'u', 0x90: // APPEND, SETITEM, APPENDS, SETITEMS, ADDITEMS
		return m.add(op)
	case '0', '1', '2': // POP, POP_MARK, DUP
		if op == '1' {
			_, err := m.marked()
			return err
		}
		v, err := m.pop(1)
		if op == '2' && err == nil {
			return cmp.Or(m.push(v[0]), m.push(v[0]))
		}
		return err
	case 'q', 'r', 0x94, 'h', 'j': // BINPUT, LONG_BINPUT, MEMOIZE, BINGET, LONG_BINGET
		n, err := m.number(map[byte]int{'q': 1, 'r': 4, 'h': 1, 'j': 4}[op])
		if err != nil {
			return err
		}
		if op == 'h' || op == 'j' {
			v, ok := m.memo[uint32(n)]
			if !ok {
				return errEnds
			}
			return m.push(v)
		}
		if op == 0x94 {
			n = uint64(len(m.memo))
		}
		if len(m.stack) == 0 {
			return errEnds
		}
		m.memo[uint32(n)] = m.stack[len(m.stack)-1]
		return m.hold(56)
	case 'c', 0x93: // GLOBAL, STACK_GLOBAL
		var module, name string
		var err error
		if op == 'c' {
			if module, err = m.line(); err == nil {
				name, err = m.line()
			}
		} else {
			var v []any
			if v, err = m.pop(2); err == nil {
				var is [2]bool
				module, is[0] = v[0].(string)
				name, is[1] = v[1].(string)
				if !is[0] || !is[1] {
					err = errEnds
				}
			}
		}
		if err != nil {
			return err
		}
		g, err := named(module, name)
		return cmp.Or(err, m.push(g))
	case 'R', 0x81, 'b': // REDUCE, NEWOBJ, BUILD
		v, err := m.pop(2)
		if err != nil {
			return err
		}
		if op == 'b' { // attributes of what is known are of no account
			return m.push(v[0])
		}
		f, ok := v[0].(global)
		args, is := v[1].(tuple)
		if !ok || !is {
			return errEnds
		}
		made, err := m.call(f, args, 0)
		return cmp.Or(err, m.push(made))
	case 'Q': // BINPERSID
		v, err := m.pop(1)
		if err != nil {
			return err
		}
		s, err := m.persistent(v[0])
		return cmp.Or(err, m.push(s))
	}
	return fmt.Errorf("its pickle has operation 0x%02x, which torch.save does not write: %w", op, errEnds)
}

// build makes a value of others.
func (m *machine) build(op byte, v []any) error {
	if err := m.hold(64 + 16*len(v)); err != nil {
		return err
	}
	switch op {
	case 't':
		return m.push(tuple(v))
	case 'd':
		d := &dict{}
		if err := d.set(v); err != nil {
			return err
		}
		return m.push(d)
	}
	return m.push(&list{v})
}

func (d *dict) set(pairs []any) error {
	if len(pairs)%2 != 0 {
		return errEnds
	}
	for i := 0; i < len(pairs); i += 2 {
		d.keys, d.values = append(d.keys, pairs[i]), append(d.values, pairs[i+1])
	}
	return nil
}

// add puts values into the list or dictionary below them.
func (m *machine) add(op byte) (err error) {
	var v []any
	switch op {
	case 'a':
		v, err = m.pop(1)
	case 's':
		v, err = m.pop(2)
	default:
		v, err = m.marked()
	}
	if err != nil || len(m.stack) == 0 {
		return cmp.Or(err, errEnds)
	}
	if err := m.hold(16 * len(v)); err != nil {
		return err
	}
	switch of := m.stack[len(m.stack)-1].(type) {
	case *list:
		of.items = append(of.items, v...)
	case *dict:
		if op == 'a' || op == 'e' {
			return errEnds
		}
		return of.set(v)
	case opaque:
	default:
		return errEnds
	}
	return nil
}

// call returns what a function that is known would return.
func (m *machine) call(f global, args tuple, depth int) (any, error) {
	if slices.Contains(containers, string(f)) {
		d := &dict{}
		for _, arg := range args { // pairs, or another dictionary; defaultdict has a function before them
			switch of := arg.(type) {
			case *dict:
				d = of
			case *list:
				for _, pair := range of.items {
					v, ok := pair.(tuple)
					if l, is := pair.(*list); is {
						v, ok = l.items, true
					}
					if !ok || len(v) != 2 {
						return nil, errEnds
					}
					d.keys, d.values = append(d.keys, v[0]), append(d.values, v[1])
				}
			}
		}
		return d, m.hold(96 + 32*len(d.keys))
	}
	name, is := strings.CutPrefix(string(f), utils)
	switch {
	case f == "torch._tensor._rebuild_from_type_v2" && len(args) >= 3 && depth == 0:
		of, ok := args[0].(global)
		in, too := args[2].(tuple)
		if !ok || !too {
			return nil, errEnds
		}
		return m.call(of, in, depth+1)
	case !is:
		return opaque{}, nil
	case unread[name] != "":
		return &tensor{why: "it is " + unread[name]}, m.hold(200)
	case strings.HasPrefix(name, "_rebuild_parameter"):
		if len(args) == 0 {
			return nil, errEnds
		}
		return args[0], nil
	}
	t, err := rebuild(name, args)
	if err != nil {
		return nil, err
	}
	return t, m.hold(200 + 16*len(t.shape))
}

// rebuild is torch's _rebuild_tensor and its versions.
func rebuild(name string, args tuple) (t *tensor, err error) {
	if len(args) < 4 {
		return nil, errEnds
	}
	s, ok := args[0].(*storageRef)
	offset, is := args[1].(int64)
	shape, err := ints(args[2])
	strides, failed := ints(args[3])
	if !ok || !is || err != nil || failed != nil || len(shape) != len(strides) {
		return nil, errEnds
	}
	t = &tensor{storage: s, dtype: classes[s.class].dtype, offset: offset, strides: strides, shape: make([]int, len(shape))}
	for i, n := range shape {
		t.shape[i] = int(n)
	}
	more := 6
	if name == "_rebuild_tensor_v3" {
		more = 7
		if len(args) < more {
			return nil, errEnds
		}
		of, _ := args[6].(global)
		short := strings.TrimPrefix(string(of), "torch.")
		if t.dtype, ok = newer[short]; !ok {
			if t.dtype, err = dtype.Parse(short); err != nil || s.class != "UntypedStorage" {
				t.dtype, t.why, err = 0, fmt.Sprintf("dtype %s cannot be read: save the tensor as float16, bfloat16 or float32", of), nil
			}
		}
	} else if t.dtype == 0 {
		t.why = fmt.Sprintf("a storage of torch.%s cannot be read: save the tensor as float16, bfloat16 or float32", s.class)
	}
	if len(args) > more && t.why == "" {
		if bits, ok := args[more].(*dict); ok && len(bits.keys) > 0 {
			t.why = "it is to be conjugated or negated: save its resolve_conj().resolve_neg()"
		}
	}
	return t, nil
}

// ints are the numbers of a shape or of strides.
func ints(v any) (all []int64, err error) {
	items, ok := v.(tuple)
	if l, is := v.(*list); is {
		items, ok = l.items, true
	}
	if !ok || len(items) > grid.MaxDims {
		return nil, errEnds
	}
	for _, of := range items {
		n, ok := of.(int64)
		if !ok || n < 0 {
			return nil, errEnds
		}
		all = append(all, n)
	}
	return all, nil
}

// persistent returns the storage of an id: ("storage", class, key, place, elements), of the old format with
// None or (key, offset, elements) of a part of it.
func (m *machine) persistent(id any) (*storageRef, error) {
	v, _ := id.(tuple)
	if len(v) < 5 || v[0] != any("storage") {
		return nil, errEnds
	}
	class, ok := v[1].(global)
	key, is := v[2].(string)
	n, too := v[4].(int64)
	if !ok || !is || !too || n < 0 {
		return nil, errEnds
	}
	s := &storageRef{key: key, class: string(class)[strings.LastIndexByte(string(class), '.')+1:], n: n}
	if classes[s.class].bytes == 0 {
		return nil, errEnds
	}
	if len(v) > 5 {
		if part, is := v[5].(tuple); is && len(part) == 3 {
			from, ok := part[1].(int64)
			n, is := part[2].(int64)
			if !ok || !is || from < 0 || n < 0 || from > s.n || n > s.n-from {
				return nil, errEnds
			}
			s.from = from
		}
	}
	if m.storages == nil {
		m.storages = map[string]*storageRef{}
	}
	if first := m.storages[key]; first == nil {
		m.storages[key] = s
	} else if classes[first.class].bytes*first.n != classes[s.class].bytes*s.n {
		return nil, fmt.Errorf("storage %.40q has %d and %d bytes: %w", key, classes[first.class].bytes*first.n, classes[s.class].bytes*s.n, errEnds)
	}
	return s, m.hold(200)
}
