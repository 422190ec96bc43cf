"""The array API standard's namespace over the evaluator of expressions, for its test-suite.

An array holds a NumPy array as its data. Every function is an expression that the Go
program beside this file evaluates: NumPy computes nothing here. functions.tsv says which
expression; those of one and two elements are made from it. GONBEXT_EVALUATOR is the
program.
"""
import atexit
import builtins
import json
import os
import pathlib
import re
import subprocess
import types
from collections import namedtuple

import numpy as np

__array_api_version__ = "2024.12"
e, inf, nan, pi, newaxis = np.e, np.inf, np.nan, np.pi, None
DTYPES = {n: np.dtype(n) for n in ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
                                   "float32 float64 complex64 complex128").split()}
globals().update(DTYPES)
float64, int64, complex128 = (DTYPES[n] for n in ("float64", "int64", "complex128"))

_process = subprocess.Popen([os.environ["GONBEXT_EVALUATOR"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
atexit.register(_process.stdin.close)


class Refused(ValueError, IndexError):
    """What the evaluator says against an expression."""


def run(expression, arrays):
    """The value of an expression of named NumPy arrays."""
    inputs = [{"name": n, "dtype": str(a.dtype), "shape": a.shape} for n, a in arrays.items()]
    _process.stdin.write(json.dumps({"expression": expression, "inputs": inputs}).encode() + b"\n")
    for a in arrays.values():
        _process.stdin.write(a.tobytes())
    _process.stdin.flush()
    answer = json.loads(_process.stdout.readline())
    if "error" in answer:
        raise Refused(f"{expression}: {answer['error']}")
    shape, dtype = tuple(answer["shape"] or ()), np.dtype(answer["dtype"])
    size = dtype.itemsize * builtins.int(np.prod(shape, dtype=object))
    return np.frombuffer(bytearray(_process.stdout.read(size)), dtype).reshape(shape)


def literal(v):
    """A number of Python's as one of the expression, weak there too."""
    if isinstance(v, (builtins.bool, np.bool)):
        return "true" if v else "false"
    if isinstance(v, builtins.int):
        return str(v)
    if isinstance(v, builtins.complex):
        return f"({literal(v.real)} + {literal(v.imag)} * 1i)"
    return re.sub("^-", "-", repr(builtins.float(v)))


def ev(expression, *operands):
    """An expression with {} for each operand: an array, or a number of Python's."""
    arrays, names = {}, []
    other = next((a.dtype for a in operands if isinstance(a, Array)), None)
    for v in operands:
        if isinstance(v, builtins.int) and not -2**63 <= v < 2**63 and other is not None:
            v = Array(np.asarray(v, other))  # text has no integers beyond int64
        if isinstance(v, Array):
            names.append(f"x{len(arrays)}")
            arrays[names[-1]] = v.data
        elif isinstance(v, (builtins.int, builtins.float, builtins.complex, np.generic)):
            names.append(literal(v))
        else:
            raise TypeError(f"{v!r} is neither an array nor a number")
    return Array(run(expression.format(*names), arrays))


def ints(v):
    return tuple(v) if isinstance(v, (tuple, list)) else (v,)


def args(v):
    """Integers as further arguments."""
    return "" if v is None else "".join(f", {i.__index__()}" for i in ints(v))


class Array:
    def __init__(self, data):
        self.data = data

    dtype = property(lambda self: self.data.dtype)
    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    device = property(lambda self: "cpu")
    T = property(lambda self: ev("{}.T", self))
    mT = property(lambda self: matrix_transpose(self))

    def __repr__(self):
        return f"Array({self.data!r})"

    def __array_namespace__(self, *, api_version=None):
        if api_version not in (None, __array_api_version__):
            raise ValueError(api_version)
        import namespace
        return namespace

    def to_device(self, device, /, *, stream=None):
        if device != "cpu":
            raise ValueError(device)
        return self

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.data.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()

    def __getitem__(self, key, /):
        if self.one(key):
            return Array(np.array(self.data[key]))
        if isinstance(key, Array) and key.dtype == DTYPES["bool"]:
            return ev("mask({}, {})", self, key)
        key = key if isinstance(key, tuple) else (key,)
        if any_array(key):
            return self.at(key)
        return ev("slice({}, %s)" % spec(key), self)

    def at(self, key):
        # The expression's at takes arrays for the first axes; the others of the standard
        # are integers, which are arrays too.
        if len(key) != self.ndim:
            raise IndexError("an integer array for each axis")
        return ev("at(" + ", ".join(["{}"] * (1 + len(key))) + ")", self, *[asarray(k) for k in key])

    def one(self, key):
        """Whether a key is that of one element: the suite makes and compares arrays by these, one by one."""
        return len(ints(key)) == self.ndim and builtins.all(type(k) is builtins.int for k in ints(key))

    def __setitem__(self, key, value, /):
        if self.one(key) and not isinstance(value, Array):
            self.data[key] = value
            return
        if not isinstance(value, Array):
            value = asarray(value, dtype=self.dtype if not isinstance(value, builtins.complex) else None)
        elif result_type(self, value) != self.dtype:
            raise TypeError(f"{value.dtype} into {self.dtype}")
        if isinstance(key, Array) and key.dtype == DTYPES["bool"]:
            if value.ndim:
                raise Refused("of values for a mask there is one")
            lower = "reshape(%s)" % ", ".join(["{}", *map(str, key.shape + (1,) * (self.ndim - key.ndim))])
            self.data = ev(f"where({lower if key.ndim < self.ndim else '{}'}, {{}}, {{}})", key, value, self).data
            return
        key = key if isinstance(key, tuple) else (key,)
        self.data = ev("set({}, %s, {})" % spec(key), self, value).data

    def __bool__(self):
        return builtins.bool(self.item())

    def __int__(self):
        return builtins.int(self.item())

    def __index__(self):
        return self.item().__index__()

    def __float__(self):
        return builtins.float(self.item())

    def __complex__(self):
        return builtins.complex(self.item())

    def item(self):
        if self.ndim:
            raise TypeError("an array of no dimensions")
        return self.data.item()


def any_array(key):
    return any_of(isinstance(k, Array) and (k.ndim or k.dtype == DTYPES["bool"]) for k in key)


any_of, range_of = builtins.any, builtins.range


def spec(key):
    """What stands between brackets, as text."""
    def part(k):
        if k is None:
            return "newaxis"
        if k is Ellipsis:
            return "..."
        if isinstance(k, slice):
            return ":".join("" if v is None else str(v.__index__()) for v in (k.start, k.stop, k.step))
        return str(k.__index__())
    return json.dumps(", ".join(part(k) for k in key)).replace("{", "{{").replace("}", "}}")


def operator(name, function, commuted=None):
    def method(self, other, /):
        if not isinstance(other, (Array, builtins.bool, builtins.int, builtins.float, builtins.complex)):
            return NotImplemented
        return function(self, other)

    def reflected(self, other, /):
        if not isinstance(other, (Array, builtins.bool, builtins.int, builtins.float, builtins.complex)):
            return NotImplemented
        return function(other, self)

    def inplace(self, other, /):
        out = function(self, other)
        if out.shape != self.shape or out.dtype != self.dtype:
            raise TypeError("the result has another shape or type")
        self.data = out.data
        return self

    for prefix, f in (("", method), ("r", reflected), ("i", inplace)):
        setattr(Array, f"__{prefix}{name}__", f)


def unary(name, expression):
    def f(x, /):
        return ev(re.sub(r"\bx\b", "{}", expression), x)
    f.__name__ = name
    return f


def binary(name, expression):
    def f(x1, x2, /):
        return ev(re.sub(r"\bx[12]\b", "{}", expression), x1, x2)
    f.__name__ = name
    return f


for _line in (pathlib.Path(__file__).parent / "functions.tsv").read_text().splitlines():
    _category, _name, _expression, _ = _line.split("\t")
    if _category == "elementwise" and _name != "clip":
        globals()[_name] = (binary if "x1" in _expression else unary)(_name, _expression)

for _method, _function in dict(add="add", sub="subtract", mul="multiply", truediv="divide", floordiv="floor_divide", mod="remainder",
                               pow="pow", lshift="bitwise_left_shift", rshift="bitwise_right_shift",
                               xor="bitwise_xor", **{"and": "bitwise_and", "or": "bitwise_or"}).items():
    operator(_method, globals()[_function])
for _method, _function in dict(eq="equal", ne="not_equal", lt="less", le="less_equal", gt="greater", ge="greater_equal").items():
    operator(_method, globals()[_function])
for _method, _function in dict(abs="abs", neg="negative", pos="positive", invert="bitwise_invert").items():
    setattr(Array, f"__{_method}__", globals()[_function])


def clip(x, /, min=None, max=None):
    if min is None and max is None:
        return ev("+{}", x)
    if min is None:
        return astype(minimum(x, max), x.dtype)
    if max is None:
        return astype(maximum(x, min), x.dtype)
    return ev("clip({}, {}, {})", x, min, max)


# Creation.

def cast(x, dtype):
    return x if dtype is None else astype(x, dtype)


def shaped(shape):
    return args(shape)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    if stop is None:
        start, stop = 0, start
    return cast(ev("arange({}, {}, {})", start, stop, step), dtype)


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    if isinstance(obj, Array):
        if dtype is not None and dtype != obj.dtype:
            if copy is False:
                raise ValueError("another type is a copy")
            return astype(obj, dtype)
        return Array(obj.data.copy()) if copy else obj
    def plain(v):
        if isinstance(v, Array):
            return v.data
        return [plain(i) for i in v] if isinstance(v, (list, tuple)) else v
    if copy is False and not isinstance(obj, np.ndarray):
        raise ValueError("a copy")
    return Array(np.array(plain(obj), dtype=dtype, copy=True))


def from_dlpack(x, /, *, device=None, copy=None):
    return Array(np.from_dlpack(x.data if isinstance(x, Array) else x, copy=copy))


def full(shape, fill_value, *, dtype=None, device=None):
    if isinstance(fill_value, Array):
        return cast(broadcast_to(fill_value, ints(shape)), dtype)
    if isinstance(fill_value, builtins.int) and not -2**63 <= fill_value < 2**63:
        return broadcast_to(asarray(fill_value, dtype=dtype), ints(shape))
    return cast(ev(f"full({{}}{shaped(shape)})", fill_value), dtype)


def empty(shape, *, dtype=None, device=None):
    return zeros(shape, dtype=dtype)


def zeros(shape, *, dtype=None, device=None):
    return full(shape, 0.0, dtype=dtype)


def ones(shape, *, dtype=None, device=None):
    return full(shape, 1.0, dtype=dtype)


def empty_like(x, /, *, dtype=None, device=None):
    return zeros(x.shape, dtype=dtype or x.dtype)


def zeros_like(x, /, *, dtype=None, device=None):
    return zeros(x.shape, dtype=dtype or x.dtype)


def ones_like(x, /, *, dtype=None, device=None):
    return ones(x.shape, dtype=dtype or x.dtype)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    return full(x.shape, fill_value, dtype=dtype or x.dtype)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    return cast(ev(f"eye({n_rows}, {n_rows if n_cols is None else n_cols}, {k})"), dtype)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    if isinstance(start, builtins.complex) or isinstance(stop, builtins.complex):
        a, b = builtins.complex(start), builtins.complex(stop)
        x = linspace(a.real, b.real, num, endpoint=endpoint) + linspace(a.imag, b.imag, num, endpoint=endpoint) * 1j
    else:
        x = ev(f"linspace({{}}, {{}}, {num if endpoint else num + 1})", start, stop)
        if not endpoint:
            x = x[:-1]
    return cast(x, dtype)


def meshgrid(*arrays, indexing="xy"):
    text = "meshgrid(" + "{}, " * len(arrays) + json.dumps(indexing)
    return [ev(f"{text}, {i})", *arrays) for i in range_of(len(arrays))]


def tril(x, /, *, k=0):
    return ev(f"tril({{}}, {k})", x)


def triu(x, /, *, k=0):
    return ev(f"triu({{}}, {k})", x)


# Data types.

def astype(x, dtype, /, *, copy=True, device=None):
    return ev(f'astype({{}}, "{dtype}")', x)


def result_type(*arrays_and_dtypes):
    operands = [Array(np.zeros((), v)) if isinstance(v, np.dtype) else Array(np.zeros((), v.dtype)) if isinstance(v, Array) else v
                for v in arrays_and_dtypes]
    operands.sort(key=lambda v: not isinstance(v, Array))
    text = "{}"
    for _ in operands[1:]:
        text = f"where(true, {text}, {{}})"
    return ev(text, *operands).dtype


def can_cast(from_, to, /):
    from_ = from_.dtype if isinstance(from_, Array) else from_
    try:
        return result_type(from_, to) == to
    except Refused:
        return False


def isdtype(dtype, kind):
    if isinstance(kind, tuple):
        return any_of(isdtype(dtype, k) for k in kind)
    if isinstance(kind, np.dtype):
        return dtype == kind
    return dtype.kind in {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu",
                          "real floating": "f", "complex floating": "c", "numeric": "iufc"}[kind]


_finfo = namedtuple("finfo", "bits eps max min smallest_normal dtype")
_iinfo = namedtuple("iinfo", "bits max min dtype")


def finfo(type, /):
    d = np.finfo(type.dtype if isinstance(type, Array) else type)
    return _finfo(d.bits, *(builtins.float(v) for v in (d.eps, d.max, d.min, d.smallest_normal)), d.dtype)


def iinfo(type, /):
    d = np.iinfo(type.dtype if isinstance(type, Array) else type)
    return _iinfo(d.bits, builtins.int(d.max), builtins.int(d.min), d.dtype)


class _Info:
    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ["cpu"]

    def default_dtypes(self, *, device=None):
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None):
        return {n: d for n, d in DTYPES.items() if kind is None or isdtype(d, kind)}


def __array_namespace_info__():
    return _Info()


# Manipulation.

def broadcast_to(x, /, shape):
    return ev(f"broadcast_to({{}}{args(shape)})", x)


def broadcast_arrays(*arrays):
    shape = arrays[0]
    for a in arrays[1:]:
        shape = ev("{} == {}", astype(shape, DTYPES["bool"]), astype(a, DTYPES["bool"]))
    return [broadcast_to(a, shape.shape) for a in arrays]


def concat(arrays, /, *, axis=0):
    arrays = list(arrays)
    if axis is None:
        arrays, axis = [reshape(a, (-1,)) for a in arrays], 0
    return ev("concatenate(" + "{}, " * len(arrays) + f"{axis})", *arrays)


def expand_dims(x, /, axis):
    return ev(f"expand_dims({{}}{args(axis)})", x)


def flip(x, /, *, axis=None):
    return ev(f"flip({{}}{args(axis)})", x)


def moveaxis(x, source, destination, /):
    return ev(f"moveaxis({{}}{args(source)}{args(destination)})", x)


def permute_dims(x, /, axes):
    return ev(f"transpose({{}}{args(axes)})", x)


def repeat(x, repeats, /, *, axis=None):
    if isinstance(repeats, Array):
        return ev(f"repeat({{}}, {{}}{args(axis)})", x, repeats)
    return ev(f"repeat({{}}, {repeats}{args(axis)})", x)


def reshape(x, /, shape, *, copy=None):
    return ev(f"reshape({{}}{args(shape)})", x)


def roll(x, /, shift, *, axis=None):
    if axis is None or len(ints(axis)) == 1 == len(ints(shift)):
        return ev(f"roll({{}}{args(shift)}{args(axis)})", x)
    shifts, axes = ints(shift), ints(axis)
    for s, a in zip(shifts * len(axes) if len(shifts) == 1 else shifts, axes):
        x = ev(f"roll({{}}, {s}, {a})", x)
    return x


def squeeze(x, /, axis):
    return ev(f"squeeze({{}}{args(axis)})", x) if ints(axis) else ev("+{}", x)


def stack(arrays, /, *, axis=0):
    arrays = list(arrays)
    return ev("stack(" + "{}, " * len(arrays) + f"{axis})", *arrays)


def tile(x, repetitions, /):
    return ev(f"tile({{}}{args(repetitions)})", x)


def unstack(x, /, *, axis=0):
    return tuple(ev(f"unstack({{}}, {axis}, {i})", x) for i in range_of(x.shape[axis]))


# Indexing, searching, sorting, sets.

def take(x, indices, /, *, axis=None):
    return ev(f"take({{}}, {{}}{args(axis)})", x, indices)


def take_along_axis(x, indices, /, *, axis=-1):
    return ev(f"take_along_axis({{}}, {{}}, {axis})", x, indices)


def nonzero(x, /):
    if not x.ndim:
        raise Refused("an array of no dimensions has no axes to be found along")
    return tuple(ev(f"nonzero({{}}, {i})", x) for i in range_of(x.ndim))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    return ev(f'searchsorted({{}}, {{}}, "{side}")', x1 if sorter is None else take(x1, sorter), x2)


def where(condition, x1, x2, /):
    return ev("where({}, {}, {})", condition, x1, x2)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return ev(f"argsort({{}}, {axis}{DESCENDING[descending]})", x)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    return ev(f"sort({{}}, {axis}{DESCENDING[descending]})", x)


DESCENDING = {False: "", True: ', "descending"'}
_all = namedtuple("unique_all", "values indices inverse_indices counts")
_counts = namedtuple("unique_counts", "values counts")
_inverse = namedtuple("unique_inverse", "values inverse_indices")


def unique_all(x, /):
    return _all(unique_values(x), ev("unique_index({})", x), ev("unique_inverse({})", x), ev("unique_counts({})", x))


def unique_counts(x, /):
    return _counts(unique_values(x), ev("unique_counts({})", x))


def unique_inverse(x, /):
    return _inverse(unique_values(x), ev("unique_inverse({})", x))


def unique_values(x, /):
    return ev("unique_values({})", x)


# Statistics and utilities.

def reduction(name, x, axis, keepdims, more=""):
    if axis == ():
        # Each element by itself: one along a new axis.
        return ev(f"{name}(expand_dims({{}}, 0), 0{more})", x)
    return ev(f"{name}({{}}{args(axis)}{more}{KEEP[builtins.bool(keepdims)]})", x)


KEEP = {False: "", True: ', "keepdims"'}


def folding(name):
    def f(x, /, *, axis=None, keepdims=False):
        return reduction(name, x, axis, keepdims)
    f.__name__ = name
    return f


all, any, argmax, argmin, count_nonzero, max, mean, min = map(folding, "all any argmax argmin count_nonzero max mean min".split())


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    return cast(reduction("sum", cast(x, dtype), axis, keepdims), dtype)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    return cast(reduction("prod", cast(x, dtype), axis, keepdims), dtype)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return reduction("std", x, axis, keepdims, f', "ddof={correction}"')


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    return reduction("var", x, axis, keepdims, f', "ddof={correction}"')


INITIAL = {False: "", True: ', "initial"'}


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return cast(ev(f"cumulative_sum({{}}{args(axis)}{INITIAL[include_initial]})", cast(x, dtype)), dtype)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return cast(ev(f"cumulative_prod({{}}{args(axis)}{INITIAL[include_initial]})", cast(x, dtype)), dtype)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    parts = [p for p in (prepend, x, append) if p is not None]
    return ev(f"diff({{}}, {n}, {axis})", concat(parts, axis=axis) if len(parts) > 1 else x)


# Linear algebra.

def matmul(x1, x2, /):
    return ev("matmul({}, {})", x1, x2)


operator("matmul", matmul)


def matrix_transpose(x, /):
    return ev("matrix_transpose({})", x)


def tensordot(x1, x2, /, *, axes=2):
    if isinstance(axes, (tuple, list)):
        a, b = ints(axes[0]), ints(axes[1])
        return ev(f"tensordot({{}}, {{}}{args(a)}{args(b)})" if a else "tensordot({}, {}, 0)", x1, x2)
    return ev(f"tensordot({{}}, {{}}, {axes})", x1, x2)


def vecdot(x1, x2, /, *, axis=-1):
    return ev(f"vecdot({{}}, {{}}, {axis})", x1, x2)


def _linalg():
    m = types.ModuleType("linalg")
    eigh_, qr_, slogdet_, svd_ = (namedtuple(*n) for n in (("eigh", "eigenvalues eigenvectors"), ("qr", "Q R"), ("slogdet", "sign logabsdet"), ("svd", "U S Vh")))

    def cholesky(x, /, *, upper=False):
        lower = ev("cholesky({})", x)
        return ev("conj(matrix_transpose({}))", lower) if upper else lower

    def cross(x1, x2, /, *, axis=-1):
        return ev(f"cross({{}}, {{}}, {axis})", x1, x2)

    def diagonal(x, /, *, offset=0):
        return ev(f"diagonal({{}}, {offset}, -2, -1)", x)

    def trace(x, /, *, offset=0, dtype=None):
        return cast(ev(f"trace({{}}, {offset}, -2, -1)", cast(x, dtype)), dtype)

    def outer(x1, x2, /):
        return ev("outer({}, {})", x1, x2)

    def det(x, /):
        return ev("det({})", x)

    def inv(x, /):
        return ev("inv({})", x)

    def eigvalsh(x, /):
        return ev("eigvalsh({})", x)

    def svdvals(x, /):
        return ev("svdvals({})", x)

    def eigh(x, /):
        return eigh_(ev('eigh({}, "values")', x), ev('eigh({}, "vectors")', x))

    def slogdet(x, /):
        return slogdet_(ev('slogdet({}, "sign")', x), ev('slogdet({}, "logabsdet")', x))

    def qr(x, /, *, mode="reduced"):
        if mode != "reduced":
            raise Refused("qr is reduced")
        return qr_(ev('qr({}, "q")', x), ev('qr({}, "r")', x))

    def svd(x, /, *, full_matrices=True):
        if full_matrices and x.shape[-1] != x.shape[-2]:
            raise Refused("svd is reduced")
        return svd_(*(ev(f'svd({{}}, "{part}")', x) for part in ("u", "s", "vt")))

    def solve(x1, x2, /):
        return ev("solve({}, {})", x1, x2)

    def matrix_power(x, n, /):
        return ev(f"matrix_power({{}}, {n})", x)

    def matrix_rank(x, /, *, rtol=None):
        if rtol is None:
            return ev("matrix_rank({})", x)
        if isinstance(rtol, Array) and rtol.ndim:  # one for each matrix
            values = svdvals(x)
            limit = ev('expand_dims({}, -1) * max({}, -1, "keepdims")', rtol, values)
            return ev("count_nonzero({} > {}, -1)", values, limit)
        return ev("matrix_rank({}, {})", x, builtins.float(rtol))

    def pinv(x, /, *, rtol=None):
        return ev("pinv({})", x) if rtol is None else ev("pinv({}, {})", x, builtins.float(rtol))

    def matrix_norm(x, /, *, keepdims=False, ord="fro"):
        word = json.dumps(ord) if isinstance(ord, str) else '"fro"' if ord is None else literal(ord)
        out = ev(f"norm({{}}, {word}, -2, -1)", x)
        return expand_dims(out, (-2, -1)) if keepdims else out

    def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
        axes = range_of(x.ndim) if axis is None else [a % x.ndim for a in ints(axis)]
        rest = [d for d in range_of(x.ndim) if d not in axes]
        flat = ev(f"reshape(transpose({{}}{args([*rest, *axes])}){args([*(x.shape[d] for d in rest), builtins.int(np.prod([x.shape[d] for d in axes], dtype=int))])})", x)
        out = ev(f"norm({{}}, {literal(ord)}, -1)", flat)
        return expand_dims(out, sorted(axes)) if keepdims and axes else out

    for name, f in {**locals(), "matmul": matmul, "matrix_transpose": matrix_transpose, "tensordot": tensordot, "vecdot": vecdot}.items():
        if callable(f) and not name.endswith("_"):
            setattr(m, name, f)
    return m


def _fft():
    m = types.ModuleType("fft")

    def along(name):
        def f(x, /, *, n=None, axis=-1, norm="backward"):
            return ev(f'{name}({{}}, {n or 0}, {axis}, "{norm}")', x)
        return f

    def over(name):
        def f(x, /, *, s=None, axes=None, norm="backward"):
            if s is None:
                return ev(f'{name}({{}}{args(axes)}, "{norm}")', x)
            # Lengths are those of one transform after the other.
            one = name[:-1]
            axes = list(range_of(-len(s), 0)) if axes is None else list(axes)
            order = list(zip(s, axes))
            if one == "rfft":
                x, order = ev(f'rfft({{}}, {order[-1][0]}, {order[-1][1]}, "{norm}")', x), order[:-1]
            final = order.pop() if one == "irfft" else None
            for n, a in order:
                x = ev(f'{one.replace("rfft", "fft")}({{}}, {n}, {a}, "{norm}")', x)
            return ev(f'irfft({{}}, {final[0]}, {final[1]}, "{norm}")', x) if final else x
        return f

    for name in "fft ifft rfft irfft hfft ihfft".split():
        setattr(m, name, along(name))
    for name in "fftn ifftn rfftn irfftn".split():
        setattr(m, name, over(name))

    def frequencies(name):
        def f(n, /, *, d=1.0, dtype=None, device=None):
            return cast(ev(f"{name}({n}, {literal(d)})"), dtype)
        return f

    def shift(name):
        def f(x, /, *, axes=None):
            return ev(f"{name}({{}}{args(axes)})", x)
        return f

    m.fftfreq, m.rfftfreq, m.fftshift, m.ifftshift = frequencies("fftfreq"), frequencies("rfftfreq"), shift("fftshift"), shift("ifftshift")
    return m


linalg, fft = _linalg(), _fft()
