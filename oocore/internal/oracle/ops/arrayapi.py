"""Cases by the text of Python's array API standard 2024.12: special values, promotion, what reductions are of no
elements, and the functions that it has beside those of the other families."""

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, joined, TYPES, EACH

inf, nan, pi = np.inf, np.nan, np.pi

# The standard's special cases of real floats: arguments, then the value. Of values that it
# leaves open but for being near, the nearest float is here.
ONE = {
    "abs": [(-0.0, 0.0), (-inf, inf), (nan, nan)],
    "acos": [(nan, nan), (1.5, nan), (-1.5, nan), (1, 0.0)],
    "acosh": [(nan, nan), (0.5, nan), (1, 0.0), (inf, inf)],
    "asin": [(nan, nan), (1.5, nan), (-1.5, nan), (0.0, 0.0), (-0.0, -0.0)],
    "asinh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "atan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, pi / 2), (-inf, -pi / 2)],
    "atanh": [(nan, nan), (-1.5, nan), (1.5, nan), (-1, -inf), (1, inf), (0.0, 0.0), (-0.0, -0.0)],
    "ceil": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (-0.5, -0.0)],
    "cos": [(nan, nan), (0.0, 1), (-0.0, 1), (inf, nan), (-inf, nan)],
    "cosh": [(nan, nan), (0.0, 1), (-0.0, 1), (inf, inf), (-inf, inf)],
    "exp": [(nan, nan), (0.0, 1), (-0.0, 1), (inf, inf), (-inf, 0.0)],
    "expm1": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -1)],
    "floor": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan)],
    "isfinite": [(inf, False), (-inf, False), (nan, False), (2, True)],
    "isinf": [(inf, True), (-inf, True), (nan, False), (2, False)],
    "isnan": [(inf, False), (nan, True), (2, False)],
    "log": [(nan, nan), (-1, nan), (0.0, -inf), (-0.0, -inf), (1, 0.0), (inf, inf)],
    "log1p": [(nan, nan), (-2, nan), (-1, -inf), (-0.0, -0.0), (0.0, 0.0), (inf, inf)],
    "log2": [(nan, nan), (-1, nan), (0.0, -inf), (-0.0, -inf), (1, 0.0), (inf, inf)],
    "log10": [(nan, nan), (-1, nan), (0.0, -inf), (-0.0, -inf), (1, 0.0), (inf, inf)],
    "reciprocal": [(0.0, inf), (-0.0, -inf), (inf, 0.0), (-inf, -0.0), (nan, nan)],
    "round": [(0.5, 0.0), (1.5, 2), (2.5, 2), (-0.0, -0.0), (inf, inf), (-inf, -inf), (nan, nan)],
    "sign": [(-3, -1), (-0.0, 0.0), (0.0, 0.0), (3, 1), (nan, nan)],
    "signbit": [(0.0, False), (-0.0, True), (inf, False), (-inf, True), (nan, False), (-nan, True), (2, False), (-2, True)],
    "sin": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "sinh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf)],
    "sqrt": [(nan, nan), (-1, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf)],
    "tan": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)],
    "tanh": [(nan, nan), (0.0, 0.0), (-0.0, -0.0), (inf, 1), (-inf, -1)],
    "trunc": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (-0.5, -0.0), (nan, nan)],
}
TWO = {
    "add": [(nan, 1, nan), (inf, -inf, nan), (inf, inf, inf), (inf, 1, inf), (1, -inf, -inf), (-0.0, -0.0, -0.0), (-0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0), (2, -2, 0.0), (0.0, -3, -3)],
    "atan2": [(nan, 1, nan), (1, nan, nan), (1, 0.0, pi / 2), (1, -0.0, pi / 2), (0.0, 1, 0.0), (0.0, 0.0, 0.0), (0.0, -0.0, pi), (0.0, -1, pi),
              (-0.0, 1, -0.0), (-0.0, 0.0, -0.0), (-0.0, -0.0, -pi), (-0.0, -1, -pi), (-1, 0.0, -pi / 2), (-1, -0.0, -pi / 2), (1, inf, 0.0),
              (1, -inf, pi), (-1, inf, -0.0), (-1, -inf, -pi), (inf, 1, pi / 2), (-inf, 1, -pi / 2), (inf, inf, pi / 4), (inf, -inf, 3 * pi / 4),
              (-inf, inf, -pi / 4), (-inf, -inf, -3 * pi / 4)],
    "copysign": [(1, -0.0, -1), (-1, 0.0, 1), (2, -nan, -2), (inf, -1, -inf), (0.0, -1, -0.0)],
    "divide": [(nan, 1, nan), (inf, -inf, nan), (0.0, 0.0, nan), (-0.0, 0.0, nan), (1, 0.0, inf), (1, -0.0, -inf), (-1, 0.0, -inf), (0.0, -1, -0.0),
               (-0.0, 1, -0.0), (-0.0, -1, 0.0), (inf, 2, inf), (inf, -2, -inf), (-inf, -2, inf), (2, inf, 0.0), (2, -inf, -0.0), (-2, inf, -0.0)],
    "hypot": [(inf, nan, inf), (nan, -inf, inf), (1, nan, nan), (nan, 1, nan), (0.0, -0.0, 0.0), (-0.0, 2, 2)],
    "logaddexp": [(nan, 1, nan), (1, nan, nan), (inf, 1, inf), (1, inf, inf), (inf, inf, inf), (-inf, 1, 1), (-inf, -inf, -inf), (inf, -inf, inf)],
    "maximum": [(nan, 1, nan), (1, nan, nan), (inf, 1, inf), (-inf, 1, 1)],
    "minimum": [(nan, 1, nan), (1, nan, nan), (inf, 1, 1), (-inf, 1, -inf)],
    "multiply": [(nan, 1, nan), (inf, 0.0, nan), (-0.0, inf, nan), (inf, -inf, -inf), (-inf, -inf, inf), (2, -0.0, -0.0), (inf, -2, -inf)],
    "nextafter": [(nan, 1, nan), (1, nan, nan), (0.0, -0.0, -0.0), (-0.0, 0.0, 0.0), (inf, inf, inf), (2, 2, 2)],
    "pow": [(1, nan, 1), (nan, 0.0, 1), (nan, -0.0, 1), (nan, 2, nan), (2, inf, inf), (2, -inf, 0.0), (1, inf, 1), (-1, -inf, 1), (0.5, inf, 0.0),
            (0.5, -inf, inf), (inf, 2, inf), (inf, -2, 0.0), (-inf, 3, -inf), (-inf, 2, inf), (-inf, -3, -0.0), (-inf, -2, 0.0), (0.0, 3, 0.0),
            (0.0, -3, inf), (-0.0, 3, -0.0), (-0.0, 2, 0.0), (-0.0, -3, -inf), (-0.0, -2, inf), (-2, 0.5, nan)],
    "remainder": [(nan, 1, nan), (inf, 2, nan), (0.0, 0.0, nan), (-0.0, 0.0, nan), (0.0, 2, 0.0), (0.0, -2, -0.0), (1, 0.0, nan), (2, inf, 2), (-2, -inf, -2)],
}
EMPTY = {"sum": 0.0, "prod": 1.0, "mean": nan, "var": nan, "std": nan, "any": False, "all": True, "count_nonzero": 0}


def specials():
    for d in ("float32", "float64"):
        for op, rows in {**ONE, **TWO}.items():
            columns = [np.array(c) for c in zip(*rows)]
            arrays = {n: c.astype(d) for n, c in zip("xy", columns[:-1])}
            want = columns[-1] if columns[-1].dtype == bool else columns[-1].astype(d)
            yield case(op, f"{op}({', '.join(arrays)})", arrays, lambda: want, 2 * np.finfo(d).eps)
        for op, value in EMPTY.items():
            x = np.empty((0, 2), d)
            want = np.full(2, value) if isinstance(value, (bool, int)) else np.full(2, value, d)
            yield case(op, f"{op}(x, 0)", {"x": x}, lambda: want)
        for op in ("min", "max"):
            yield refused(op, f"{op}(x, 0)", {"x": np.empty((0, 2), d)})


def promotion():
    """The standard's table: within a kind the wider; a signed integer that holds both; floats and complex alike."""
    kinds = [["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"], ["float32", "float64"], ["complex64", "complex128"]]
    bits = lambda t: int(t.lstrip("uintfloacmpex"))
    for kind in kinds:
        for i, a in enumerate(kind):
            for j, b in enumerate(kind):
                yield a, b, kind[max(i, j)]
    for i, a in enumerate(kinds[0]):
        for j, b in enumerate(kinds[1][:3]):
            yield a, b, kinds[0][max(i, j + 1)]
    for a in kinds[2]:
        for b in kinds[3]:
            yield a, b, "complex128" if bits(a) == 64 or bits(b) == 128 else "complex64"
    yield "bool", "bool", "bool"


def promoted(rng):
    for a, b, t in promotion():
        for x, y in ((a, b), (b, a)):
            arrays = {"x": array(rng, (3,), x, special=False), "y": array(rng, (3,), y, special=False)}
            f = np.logical_and if t == "bool" else np.multiply
            yield case("multiply", "x * y", arrays, lambda: f(*(v.astype(t) for v in arrays.values())), 4e-7 if "complex" in t else 0)


def real(rng, i, shape):
    return array(rng, shape, ["float32", "float64", "float16", "int16", "uint8", "int32"][i % 6])


def pairs(rng):
    for i in range(EACH):
        shape = lengths(rng, most=3)
        x, y = real(rng, i, shape), real(rng, i if i % 3 else i + 1, shape[i % 2 :])
        yield case("signbit", "signbit(x)", {"x": x}, lambda: np.signbit(x))
        eps = float(np.finfo(np.logaddexp(x, y).dtype).eps)
        yield case("logaddexp", "logaddexp(x, y)", {"x": x, "y": y}, lambda: np.logaddexp(x.astype("f8"), y.astype("f8")).astype(np.logaddexp(x, y).dtype), 4 * eps, 4 * eps)
        z = np.where(rng.random(y.shape) < 0.2, np.zeros((), y.dtype), y)
        yield case("nextafter", "nextafter(x, y)", {"x": x, "y": z}, lambda: np.nextafter(x, z))
        few = array(rng, lengths(rng, most=2), x.dtype.name if i % 4 else None, special=False)
        few = few.real.astype(few.real.dtype)
        x = np.asarray(x % 5).astype(x.dtype) if i % 2 else x
        yield case("isin", "isin(x, y)", {"x": x, "y": few}, lambda: np.isin(x.astype("f8"), few.astype("f8")))
        yield case("isin", 'isin(x, y, "invert")', {"x": x, "y": few}, lambda: np.isin(x.astype("f8"), few.astype("f8"), invert=True))


def vectors(rng):
    for i in range(EACH):
        t = [t for t in TYPES if t != "bool"][i % 13]
        shape = list(lengths(rng, int(rng.integers(1, 4))))
        axis = int(rng.integers(-len(shape), 0))
        x = array(rng, shape, t, special=False)
        other = [1 if rng.random() < 0.3 and d != axis % len(shape) else n for d, n in enumerate(shape)]
        y = array(rng, other, t, special=False)
        eps = float(np.finfo(x.dtype).eps) if x.dtype.kind in "fc" else 0
        big = float(np.abs(x.astype("c16")).max(initial=1) * np.abs(y.astype("c16")).max(initial=1))
        wide = {"f": "f8", "c": "c16"}.get(x.dtype.kind, t)
        yield case("vecdot", f"vecdot(x, y, {axis})", {"x": x, "y": y}, lambda: np.vecdot(x.astype(wide), y.astype(wide), axis=axis).astype(t), 4 * eps, 16 * eps * big)
        for s in (shape, other):
            s[axis] = 3
        x, y = array(rng, shape, t, special=False), array(rng, other, t, special=False)
        big = float(np.abs(x.astype("c16")).max(initial=1) * np.abs(y.astype("c16")).max(initial=1))
        def cross():
            a, b = np.broadcast_arrays(x, y)
            return np.linalg.cross(a.astype(wide), b.astype(wide), axis=axis).astype(t)
        yield case("cross", f"cross(x, y, {axis})", {"x": x, "y": y}, cross, 4 * eps, 4 * eps * big)
    x, y = array(rng, (2, 4), "float32"), array(rng, (2, 3), "float32")
    for bad in ("vecdot(x, y)", "vecdot(x, x, 2)", "cross(x, x)", "cross(x, y)"):
        yield refused(bad.split("(")[0], bad, {"x": x, "y": y})


def lines(rng):
    for i in range(EACH):
        x = array(rng, shape := lengths(rng), TYPES[i % len(TYPES)], special=False)
        axis, initial = axis_of(rng, len(shape)), i % 2 == 0
        scaled = np.asarray(1 + x / 1000).astype(x.dtype) if x.dtype.kind in "fc" else x
        eps = float(np.finfo(x.dtype).eps) if x.dtype.kind in "fc" else 0
        for name, f, a, size in (("cumulative_sum", np.cumulative_sum, x, float(np.abs(x.astype("c16")).sum())), ("cumulative_prod", np.cumulative_prod, scaled, 4.0)):
            wide = a.astype({"f": "f8", "c": "c16"}.get(a.dtype.kind, a.dtype))
            want = lambda: f(wide, axis=axis, include_initial=initial).astype(f(a, axis=axis).dtype)
            yield case(name, f"{name}(x, {axis}{', ' + chr(34) + 'initial' + chr(34) if initial else ''})", {"x": a}, want, 4 * eps * (1 + a.shape[axis]), 4 * eps * size)
        part = int(rng.integers(0, shape[axis])) if shape[axis] else None
        if part is not None:
            yield case("unstack", f"unstack(x, {axis}, {part})", {"x": x}, lambda: np.unstack(x, axis=axis)[part])
        if x.ndim > 1:
            yield case("matrix_transpose", "matrix_transpose(x)", {"x": x}, lambda: np.matrix_transpose(x))
    x = array(rng, (2, 3), "float32")
    for bad in ("cumulative_sum(x)", "cumulative_prod(x, 2)", "unstack(x, 0, 2)", "unstack(x, 2, 0)", 'cumulative_sum(x, 0, "first")'):
        yield refused(bad.split("(")[0], bad, {"x": x})


def matrices(rng):
    for i in range(EACH):
        m, n, k = int(rng.integers(0, 70)), int(rng.integers(0, 70)), int(rng.integers(-80, 80))
        for name, f in (("eye", np.eye), ("tri", np.tri)):
            yield case(name, f"{name}({m}, {n}, {k})", {}, lambda: f(m, n, k))
        vs = {c: array(rng, int(rng.integers(0, 7)), TYPES[(i + j) % len(TYPES)]) for j, c in enumerate("abc"[: 1 + i % 3])}
        ij, part = rng.random() < 0.5, int(rng.integers(len(vs)))
        yield case("meshgrid", f"meshgrid({', '.join(vs)}, {chr(34)}{'ij' if ij else 'xy'}{chr(34)}, {part})", vs,
                   lambda: np.meshgrid(*vs.values(), indexing="ij" if ij else "xy")[part])
    for _ in range(EACH):
        x = array(rng, lengths(rng, int(rng.integers(2, 5))))
        yield case("matrix_transpose", "matrix_transpose(x)", {"x": x}, lambda: np.matrix_transpose(x))
        x = array(rng, lengths(rng, empty=0))
        yield case("unstack", "unstack(x, -1, 0)", {"x": x}, lambda: np.unstack(x, axis=-1)[0])
    yield refused("eye", "eye(-1)", {})
    yield refused("tri", "tri(2, -1)", {})
    x, y = array(rng, (2, 2), "int8"), array(rng, (3,), "int8")
    yield case("meshgrid", "meshgrid(x, y, 0)", {"x": x, "y": y}, lambda: np.meshgrid(x, y)[0])
    x = np.array(True)
    for m in (False, True):  # a mask of no dimensions is of all or nothing
        y = array(rng, (2, 3), "int16")
        yield case("mask", "mask(x, m)", {"x": y, "m": np.array(m)}, lambda: y[np.array(m)])
        yield case("mask", "mask(x, m)", {"x": x, "m": np.array(m)}, lambda: x[np.array(m)])
        yield case("repeat", "repeat(x, n, 1)", {"x": y, "n": np.array([2 + m])}, lambda: np.repeat(y, [2 + m], 1))
    yield case("reshape", "reshape(x)", {"x": np.array([[7]])}, lambda: np.array(7))
    yield case("broadcast_to", "broadcast_to(x)", {"x": np.array(7)}, lambda: np.array(7))


def cases(rng):
    yield from specials()
    yield from promoted(rng)
    yield from pairs(rng)
    yield from vectors(rng)
    yield from lines(rng)
    yield from matrices(rng)
