"""Cases of operations that put elements in other places."""
import ml_dtypes
import numpy as np

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
EACH = 52


def array(rng, shape, dtype=None, special=True):
    """Random elements; of floats some that are no number, or that no arithmetic would keep."""
    name = dtype or TYPES[int(rng.integers(len(TYPES)))]
    if name == "bfloat16":
        return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
    d = np.dtype(name)
    if name == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    if d.kind in "iu":
        info = np.iinfo(d)
        return np.asarray(rng.integers(max(info.min, -1000), min(info.max, 1000), shape, endpoint=True)).astype(d)
    a = rng.standard_normal(shape) * 10
    if d.kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    a = np.asarray(a).astype(d)
    if special and d.kind == "f" and rng.random() < 0.3:
        for v in (np.nan, np.inf, -np.inf, -0.0):
            a = np.where(rng.random(shape) < 0.05, d.type(v), a)
    return np.asarray(a).astype(d).reshape(shape)


def lengths(rng, dims=None, low=1, high=9, empty=0.05, most=4):
    """A shape: odd lengths, ones, and now and then an axis without elements."""
    if dims is None:
        dims = int(rng.integers(1, most + 1))
    if rng.random() < 0.1 and dims in (1, 2):
        high *= 12
    shape = [int(n) for n in rng.integers(low, high + 1, dims)]
    if dims and rng.random() < empty:
        shape[int(rng.integers(dims))] = 0
    return tuple(shape)


def axis_of(rng, dims):
    return int(rng.integers(-dims, dims))


def case(op, expr, arrays, make, rtol=0, atol=0):
    with np.errstate(all="ignore"):
        want = make()
    return {"op": op, "expr": expr, "in": arrays, "want": np.ascontiguousarray(want).reshape(np.shape(want)), "rtol": rtol, "atol": atol}


def refused(op, expr, arrays):
    return {"op": op, "expr": expr, "in": arrays, "error": True}


def joined(values):
    return ", ".join(str(v) for v in values)


def concatenate(rng):
    for name in ("concatenate", "concat"):
        for _ in range(EACH):
            shape = lengths(rng)
            axis = axis_of(rng, len(shape))
            arrays, same = {}, TYPES[int(rng.integers(len(TYPES)))]
            for k in "abcd"[: int(rng.integers(1, 5))]:
                part = list(shape)
                part[axis] = int(rng.integers(0, 9))
                arrays[k] = array(rng, part, same if rng.random() < 0.7 else None)
            given = rng.random() < 0.8
            axis = axis if given else 0
            if not given:  # along the first: the others must be alike
                arrays = {k: array(rng, (int(rng.integers(0, 9)),) + tuple(shape[1:]), a.dtype.name) for k, a in arrays.items()}
            yield case(name, f"{name}({', '.join(arrays)}{f', {axis}' if given else ''})", arrays, lambda: np.concatenate(list(arrays.values()), axis))
    x = array(rng, (2, 3), "float32")
    yield refused("concatenate", "concatenate(x, y, 0)", {"x": x, "y": array(rng, (2, 4), "float32")})
    yield refused("concatenate", "concatenate(x, y, 2)", {"x": x, "y": x})
    yield refused("concatenate", "concatenate(x, y, 0)", {"x": x, "y": array(rng, (3,), "float32")})
    yield refused("concatenate", "concatenate(x, y)", {"x": array(rng, (), "int8"), "y": array(rng, (), "int8")})
    big = {"x": array(rng, (300, 70), "float32"), "y": array(rng, (300, 131), "float32")}
    yield case("concatenate", "concatenate(x, y, x, 1)", big, lambda: np.concatenate([big["x"], big["y"], big["x"]], 1))
    b = {"x": array(rng, (4, 5), "bfloat16"), "y": array(rng, (3, 5), "bfloat16")}
    yield case("concatenate", "concatenate(x, y)", b, lambda: np.concatenate([b["x"], b["y"]]))


def stack(rng):
    for _ in range(EACH):
        shape = lengths(rng, int(rng.integers(0, 4)))
        arrays = {k: array(rng, shape) for k in "abc"[: int(rng.integers(1, 4))]}
        axis = axis_of(rng, len(shape) + 1)
        yield case("stack", f"stack({', '.join(arrays)}, {axis})", arrays, lambda: np.stack(list(arrays.values()), axis))
    x = array(rng, (2, 3), "float32")
    yield refused("stack", "stack(x, y)", {"x": x, "y": array(rng, (2, 4), "float32")})
    yield refused("stack", "stack(x, x, 3)", {"x": x})
    for name, f, axis in (("vstack", np.vstack, 0), ("hstack", np.hstack, 1), ("dstack", np.dstack, 2)):
        for _ in range(EACH):
            dims = int(rng.integers(0, 4))
            shape = list(lengths(rng, dims, empty=0))
            arrays, same = {}, TYPES[int(rng.integers(len(TYPES)))]
            for k in "abc"[: int(rng.integers(1, 4))]:
                part = list(shape)
                if dims > axis and (dims > 1 or axis == 1):
                    part[axis] = int(rng.integers(0, 6))
                elif dims == 1 and axis == 1:
                    part[0] = int(rng.integers(0, 6))
                arrays[k] = array(rng, part, same)
            yield case(name, f"{name}({', '.join(arrays)})", arrays, lambda: f(list(arrays.values())))
    for name, f in (("atleast_1d", np.atleast_1d), ("atleast_2d", np.atleast_2d), ("atleast_3d", np.atleast_3d)):
        for _ in range(EACH):
            x = array(rng, lengths(rng, int(rng.integers(0, 5))))
            yield case(name, f"{name}(x)", {"x": x}, lambda: f(x))


def split(rng):
    for _ in range(EACH):
        shape = list(lengths(rng))
        axis = axis_of(rng, len(shape))
        sections = int(rng.integers(1, 5))
        shape[axis] *= sections
        part = int(rng.integers(sections))
        x = array(rng, shape)
        yield case("split", f"split(x, {sections}, {axis}, {part})", {"x": x}, lambda: np.split(x, sections, axis)[part])
    x = array(rng, (4, 6), "int16")
    for bad in ("3, 0, 0", "0, 0, 0", "2, 2, 0", "2, 0, 2"):
        yield refused("split", f"split(x, {bad})", {"x": x})


def widths_of(rng, shape, most):
    """Widths as an expression has them, and as NumPy does."""
    form = rng.random()
    if form < 0.25:
        n = int(rng.integers(0, most))
        return [n], n
    if form < 0.5:
        pair = [int(n) for n in rng.integers(0, most, 2)]
        return pair, [tuple(pair)] * len(shape)
    pairs = rng.integers(0, most, (len(shape), 2))
    return [int(n) for n in pairs.ravel()], [tuple(int(n) for n in p) for p in pairs]


def pairs_of(rng, shape, draw):
    """One for all, two for all, or two for each axis."""
    form = rng.random()
    if form < 0.4:
        v = draw()
        return [v], v
    if form < 0.7 or len(shape) == 1:
        v = [draw(), draw()]
        return v, [tuple(v)]
    v = [draw() for _ in range(2 * len(shape))]
    return v, [tuple(v[i : i + 2]) for i in range(0, len(v), 2)]


def pad(rng):
    simple = ["constant", "edge", "reflect", "symmetric", "wrap", "empty"]
    for mode in simple:
        for _ in range(EACH):
            shape = lengths(rng, empty=0.05 if mode in ("constant", "empty") else 0)
            x = array(rng, shape)
            words, widths = widths_of(rng, shape, 6 if rng.random() < 0.7 else 25)
            expr, extra = joined(words), {}
            if mode != "constant" or rng.random() < 0.8:
                expr += f', "{mode}"'
                if mode == "constant" and rng.random() < 0.7:
                    values, extra["constant_values"] = pairs_of(rng, shape, lambda: int(rng.integers(0, 2 if x.dtype.kind == "b" else 100)))
                    expr += ", " + joined(values)
            made = lambda: np.pad(x, widths, mode, **extra)
            if mode == "empty":  # whose zeros NumPy does not promise
                made = lambda: np.pad(x, widths)
            yield case("pad", f"pad(x, {expr})", {"x": x}, made)
    for mode in ("reflect", "symmetric"):
        for _ in range(EACH):
            shape = lengths(rng, empty=0, most=3)
            x = array(rng, shape)
            words, widths = widths_of(rng, shape, 6 if rng.random() < 0.8 else 20)
            yield case("pad", f'pad(x, {joined(words)}, "{mode}", "odd")', {"x": x}, lambda: np.pad(x, widths, mode, reflect_type="odd"))
    for mode in ("maximum", "minimum", "mean", "median"):
        for _ in range(EACH):
            shape = lengths(rng, empty=0, most=3)
            x = array(rng, shape, special=mode != "mean")
            if mode in ("maximum", "minimum", "median") and x.dtype.kind == "c":
                x = x.real.copy()
            words, widths = widths_of(rng, shape, 6)
            expr, extra = f'{joined(words)}, "{mode}"', {}
            if rng.random() < 0.6:
                counts, extra["stat_length"] = pairs_of(rng, shape, lambda: int(rng.integers(1, 8)))
                expr += ", " + joined(counts)
            exact = mode in ("maximum", "minimum") or x.dtype.kind in "biu" and x.dtype.itemsize < 8
            rtol = 0 if exact else {"float16": 4e-3, "float32": 1e-5, "complex64": 1e-5}.get(x.dtype.name, 1e-12)
            yield case("pad", f"pad(x, {expr})", {"x": x}, lambda: np.pad(x, widths, mode, **extra), rtol, rtol * 10)
    for _ in range(EACH):
        shape = lengths(rng, empty=0, most=3)
        x = array(rng, shape, special=False)
        if x.dtype.kind in "bu":
            x = x.astype("int16")
        words, widths = widths_of(rng, shape, 6)
        expr, extra = f'{joined(words)}, "linear_ramp"', {}
        if rng.random() < 0.7:
            values, extra["end_values"] = pairs_of(rng, shape, lambda: int(rng.integers(-50, 50)))
            expr += ", " + joined(values)
        rtol = {"float16": 3e-3, "float32": 1e-5, "complex64": 1e-5}.get(x.dtype.name, 1e-12) if x.dtype.kind in "fc" else 0
        yield case("pad", f"pad(x, {expr})", {"x": x}, lambda: np.pad(x, widths, "linear_ramp", **extra), rtol, rtol * 10)
    u = array(rng, (3,), "uint8")
    for bad in ("-1", '1, "mirror"', "1, 2, 3, 4", '1, "constant", 300', '1, "edge", 3', '2, "mean", 0', '1, "reflect", "strange"'):
        yield refused("pad", f"pad(x, {bad})", {"x": u})
    none = array(rng, (0, 3), "float32")
    yield refused("pad", 'pad(x, 1, "edge")', {"x": none})
    yield case("pad", 'pad(x, 0, 0, 1, 1, "edge")', {"x": none}, lambda: np.pad(none, [(0, 0), (1, 1)], "edge"))


def moves(rng):
    for _ in range(EACH):
        shape = lengths(rng)
        x = array(rng, shape)
        dims = len(shape)
        axes = [axis_of(rng, dims) for _ in range(int(rng.integers(0, 3)))]
        shift = int(rng.integers(-20, 20))
        yield case("roll", f"roll(x, {joined([shift] + axes)})", {"x": x}, lambda: np.roll(x, shift, tuple(axes) if axes else None))
        other = int(rng.integers(-9, 9))
        a, b = axis_of(rng, dims), axis_of(rng, dims)
        yield case("roll", f"roll(roll(x, {shift}, {a}), {other}, {b})", {"x": x}, lambda: np.roll(x, (shift, other), (a, b)))
    for bad in ("1, 2", "1, -3"):
        yield refused("roll", f"roll(x, {bad})", {"x": array(rng, (3, 4), "int8")})
    for _ in range(EACH):
        x = array(rng, lengths(rng, int(rng.integers(0, 4))))
        times = [int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, 4, int(rng.integers(1, 5)))]
        yield case("tile", f"tile(x, {joined(times)})", {"x": x}, lambda: np.tile(x, times))
    yield refused("tile", "tile(x, -1)", {"x": array(rng, (3,), "int8")})
    for _ in range(EACH):
        shape = lengths(rng)
        x = array(rng, shape)
        axis = axis_of(rng, len(shape))
        times = int(rng.integers(0, 6))
        yield case("repeat", f"repeat(x, {times}, {axis})", {"x": x}, lambda: np.repeat(x, times, axis))
        each = rng.integers(0, 4, shape[axis])
        yield case("repeat", f"repeat(x, n, {axis})", {"x": x, "n": each}, lambda: np.repeat(x, each, axis))
        y = array(rng, lengths(rng, int(rng.integers(0, 3))))
        yield case("repeat", f"repeat(y, {times})", {"y": y}, lambda: np.repeat(y, times))
    x = array(rng, (3, 4), "int8")
    yield refused("repeat", "repeat(x, -1, 0)", {"x": x})
    yield refused("repeat", "repeat(x, n, 0)", {"x": x, "n": np.array([1, 2])})
    yield refused("repeat", "repeat(x, n, 0)", {"x": x, "n": np.array([1, 2, -1])})
    for _ in range(EACH):
        shape = lengths(rng)
        x = array(rng, shape)
        axes = [int(a) for a in rng.permutation(len(shape))[: int(rng.integers(0, len(shape) + 1))]]
        yield case("flip", f"flip({joined(['x'] + axes)})", {"x": x}, lambda: np.flip(x, tuple(axes) if axes else None))
        yield case("flipud", "flipud(x)", {"x": x}, lambda: np.flipud(x))
        y = array(rng, lengths(rng, int(rng.integers(2, 5))))
        yield case("fliplr", "fliplr(y)", {"y": y}, lambda: np.fliplr(y))
        a, b = (int(n) for n in rng.permutation(y.ndim)[:2])
        k = int(rng.integers(-5, 6))
        yield case("rot90", f"rot90(y, {k}, {a}, {b - y.ndim})", {"y": y}, lambda: np.rot90(y, k, (a, b)))
        yield case("swapaxes", f"swapaxes(y, {a}, {b - y.ndim})", {"y": y}, lambda: np.swapaxes(y, a, b))
        n = int(rng.integers(1, y.ndim + 1))
        fro, to = [[int(i) for i in rng.permutation(y.ndim)[:n]] for _ in range(2)]
        yield case("moveaxis", f"moveaxis(y, {joined(fro + to)})", {"y": y}, lambda: np.moveaxis(y, fro, to))
    x = array(rng, (3, 4), "int8")
    for op, bad in (("flip", "x, 0, 0"), ("fliplr", "slice(x, \"0\")"), ("rot90", "x, 1, 0, 0"), ("swapaxes", "x, 0, 2"), ("moveaxis", "x, 0, 0, 0, 1"), ("moveaxis", "x, 0, 2")):
        yield refused(op, f"{op}({bad})", {"x": x})


def diagonals(rng):
    for _ in range(EACH):
        shape = lengths(rng, int(rng.integers(2, 5)), high=9 if rng.random() < 0.8 else 40)
        x = array(rng, shape)
        dims = len(shape)
        a, b = (int(n) for n in rng.permutation(dims)[:2])
        k = int(rng.integers(-5, 6))
        yield case("diagonal", f"diagonal(x, {k}, {a}, {b - dims})", {"x": x}, lambda: np.diagonal(x, k, a, b))
        t = x if x.dtype.kind in "biu" else array(rng, shape, ["float64", "float32", "complex128"][int(rng.integers(3))], special=False)
        rtol = 0 if t.dtype.kind in "biu" else 1e-5 if t.dtype.itemsize == 4 else 1e-12
        yield case("trace", f"trace(x, {k}, {a}, {b})", {"x": t}, lambda: np.trace(t, k, a, b), rtol, rtol * 100)
        yield case("trace", f'trace(x, {k}, {a}, {b}, "dtype=complex128")', {"x": t}, lambda: np.trace(t, k, a, b, "complex128"), 1e-13, 1e-11)
        v = array(rng, lengths(rng, int(rng.integers(1, 3)), high=30))
        yield case("diag", f"diag(x, {k})", {"x": v}, lambda: np.diag(v, k))
        y = array(rng, lengths(rng, int(rng.integers(1, 5))))
        yield case("tril", f"tril(x, {k})", {"x": y}, lambda: np.tril(y, k))
        yield case("triu", f"triu(x, {k})", {"x": y}, lambda: np.triu(y, k))
    big = array(rng, (400, 300), "float32")
    yield case("diagonal", "diagonal(x, 13)", {"x": big}, lambda: np.diagonal(big, 13))
    x = array(rng, (3, 4), "float32")
    for op, bad in (("diagonal", "x, 0, 0, 0"), ("diagonal", "x, 0, 0, 2"), ("diagonal", "slice(x, \"0\")"), ("diag", "expand_dims(x, 0)"), ("tril", "x, 1, 2"), ("triu", "slice(x, \"0, 0\")")):
        yield refused(op, f"{op}({bad})", {"x": x})


def factored(rng, size):
    """A shape of so many elements."""
    shape = []
    while size > 1 and len(shape) < 4 and rng.random() < 0.8:
        divisors = [n for n in range(1, size + 1) if size % n == 0]
        shape.append(divisors[int(rng.integers(len(divisors)))])
        size //= shape[-1]
    shape.append(size)
    return tuple(int(n) for n in rng.permutation(shape))


def reshapes(rng):
    for _ in range(2 * EACH):
        size = int(rng.choice([1, 6, 12, 24, 36, 60, 120, 360, 720]))
        x = array(rng, factored(rng, size))
        axes = [int(a) for a in rng.permutation(x.ndim)]
        to = factored(rng, size)
        yield case("reshape", f"reshape(transpose(x, {joined(axes)}), {joined(to)})", {"x": x}, lambda: np.reshape(np.transpose(x, axes), to))
        yield case("ravel", f"ravel(transpose(x, {joined(axes)}))", {"x": x}, lambda: np.ravel(np.transpose(x, axes)))
    big = array(rng, (250, 300), "float32")
    yield case("reshape", "reshape(x.T, 500, 150)", {"x": big}, lambda: big.T.reshape(500, 150))
    yield case("reshape", "mean(reshape(flip(x, 1), 50, 5, -1), 1)", {"x": big.astype("int32")}, lambda: np.flip(big.astype("int32"), 1).reshape(50, 5, -1).mean(1), 1e-12, 1e-12)


def places(rng):
    for _ in range(EACH):
        x = array(rng, lengths(rng))
        axis, start = axis_of(rng, x.ndim), int(rng.integers(-x.ndim, x.ndim + 1))
        yield case("rollaxis", f"rollaxis(x, {axis}, {start})", {"x": x}, lambda: np.rollaxis(x, axis, start))
        shape = lengths(rng)
        part = int(rng.integers(len(shape)))
        yield case("indices", f"indices({joined(shape)}, {part})", {}, lambda: np.indices(shape)[part])
        rows, columns, k, part = (int(rng.integers(*r)) for r in ((0, 9), (0, 9), (-10, 11), (0, 2)))
        yield case("tril_indices", f"tril_indices({rows}, {k}, {columns}, {part})", {}, lambda: np.tril_indices(rows, k, columns)[part])
        yield case("triu_indices", f"triu_indices({rows}, {k}, {columns}, {part})", {}, lambda: np.triu_indices(rows, k, columns)[part])
    x = array(rng, (3, 4), "int8")
    yield case("rollaxis", "rollaxis(x, 1)", {"x": x}, lambda: np.rollaxis(x, 1))
    for bad in ("-1, 0, 3, 0", "3, 0, -1, 0", "3, 0, 3, 2", f"{1 << 40}, 0, {1 << 40}, 0"):
        yield refused("tril_indices", f"tril_indices({bad})", {})
    for bad in ("2, 0", "0, 3", "0, -3"):
        yield refused("rollaxis", f"rollaxis(x, {bad})", {"x": x})
    for bad in ("3, 1", "3, -1, 0", "3, 3, 2"):
        yield refused("indices", f"indices({bad})", {"x": x})


def cases(rng):
    for family in (places, concatenate, stack, split, pad, moves, diagonals, reshapes):
        yield from family(rng)
