"""Cases of operations that go along an axis: cumulative sums and products, differences."""

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, TYPES, EACH

LONG = {"f": np.longdouble, "c": np.clongdouble}


def wide(f, x, axis):
    """The scan in wider numbers, in NumPy's dtype, and the error that is allowed."""
    want = f(x, axis=axis)
    if x.dtype.kind not in "fc":
        return want, 0, 0
    eps = float(np.finfo(want.dtype).eps)
    exact = f(x.astype(LONG[x.dtype.kind]), axis=axis).astype(want.dtype)
    size = f(np.abs(x.astype(LONG[x.dtype.kind])), axis=axis).astype("f8")
    finite = size[np.isfinite(size)]
    return exact, 4 * eps, (eps * 1e-3 if want.dtype.itemsize < 8 else 4 * eps) * float(finite.max(initial=0))


def scan(rng, name, f):
    for i in range(2 * EACH):
        shape = lengths(rng)
        if i % 10 == 0:
            shape = ()
        x = array(rng, shape, TYPES[i % len(TYPES)] if i < 30 else None)
        if name == "cumprod" and x.dtype.kind in "fc":
            x = np.asarray(x / 10).astype(x.dtype)
        axis = axis_of(rng, len(shape)) if shape and rng.random() < 0.75 else None
        want, rtol, atol = wide(f, x, axis)
        if name == "cumprod" and x.dtype.kind in "fc":
            rtol, atol = rtol * (4 + x.size), 0
            if x.dtype.kind == "c":  # the smaller of two parts is as exact as the larger
                atol = rtol * float(np.abs(want[np.isfinite(want)]).max(initial=0))
        yield case(name, f"{name}(x{'' if axis is None else f', {axis}'})", {"x": x}, lambda: want, rtol, atol)
    for shape, axis, dtype in (((30_000,), 0, "float32"), ((300, 400), 0, "float64"), ((300, 400), 1, "int32"), ((20, 500, 9), 1, "float16"), ((140_000,), 0, "float64"), ((2, 70_000), 1, "int8")):
        x = array(rng, shape, dtype, special=False)
        if name == "cumprod" and dtype[0] == "f":
            x = (1 + x / 1000).astype(dtype)
        want, rtol, atol = wide(f, x, axis)
        yield case(name, f"{name}(x, {axis})", {"x": x}, lambda: want, rtol * (1 if name == "cumsum" else x.shape[axis]), atol if name == "cumsum" else 0)
    x = array(rng, (3, 4), "float32")
    for bad in (f"{name}(x, 2)", f"{name}(x, -3)"):
        yield refused(name, bad, {"x": x})
    yield refused(name, f"{name}(x, 0)", {"x": array(rng, (), "float32")})


def diff(rng):
    for i in range(2 * EACH):
        shape = lengths(rng)
        x = array(rng, shape, TYPES[i % len(TYPES)] if i < 30 else None)
        axis, n = axis_of(rng, len(shape)), int(rng.integers(0, 4))
        if rng.random() < 0.3:
            yield case("diff", "diff(x)", {"x": x}, lambda: np.diff(x))
        else:
            yield case("diff", f"diff(x, {n}, {axis})", {"x": x}, lambda: np.diff(x, n, axis))
    big = array(rng, (5000, 13), "float32")
    yield case("diff", "diff(x, 2, 0)", {"x": big}, lambda: np.diff(big, 2, 0))
    for bad in ("diff(x, -1, 0)", "diff(x, 1, 2)"):
        yield refused("diff", bad, {"x": big})
    yield refused("diff", "diff(x)", {"x": array(rng, (), "float32")})


def gradient(rng):
    types = ["float32", "float64", "int32", "uint8", "complex64", "complex128", "int64", "float16"]
    for i in range(EACH):
        shape = [n + 2 for n in lengths(rng, empty=0)]
        x = array(rng, shape, types[i % len(types)], special=False)
        axis, h = axis_of(rng, len(shape)), [1.0, 0.25, -2.0, 0.1][i % 4]
        with np.errstate(all="ignore"):
            if i % 5 == 0:
                x = x.reshape(-1)
                yield case("gradient", "gradient(x)", {"x": x}, lambda: np.gradient(x))
            else:
                yield case("gradient", f"gradient(x, {h}, {axis})", {"x": x}, lambda: np.gradient(x, h, axis=axis), 1e-6, 1e-9)
                if shape[axis] > 2:
                    yield case("gradient", f'gradient(x, {h}, {axis}, "edge_order=2")', {"x": x}, lambda: np.gradient(x, h, axis=axis, edge_order=2), 1e-6, 1e-9 * (1 + np.abs(x).max(initial=0)))
    x = array(rng, (1, 3), "float32")
    for bad in ('gradient(slice(x, ":, 1:"), 1, 1, "edge_order=2")', 'gradient(x, 1, 1, "edge_order=3")', "gradient(x, 1, 0)", "gradient(x, 1, 2)", "gradient(x)"):
        yield refused("gradient", bad, {"x": x})


def gradient_at(rng):
    types = ["float32", "float64", "int32", "uint8", "complex64", "complex128", "float16"]
    for i in range(EACH):
        shape = [n + 1 for n in lengths(rng, empty=0)]
        x = array(rng, shape, types[i % len(types)], special=False)
        axis = axis_of(rng, len(shape))
        at = np.cumsum(rng.integers(1, 6, shape[axis])) * (1 if i % 2 else 0.25)
        rtol = {"float16": 2e-3, "float32": 1e-5, "complex64": 1e-5}.get(x.dtype.name, 1e-11)
        yield case("gradient", f"gradient(x, t, {axis})", {"x": x, "t": at}, lambda: np.gradient(x, at, axis=axis), rtol, rtol * 100)
        if shape[axis] > 2:
            yield case("gradient", f'gradient(x, t, {axis}, "edge_order=2")', {"x": x, "t": at}, lambda: np.gradient(x, at, axis=axis, edge_order=2), 10 * rtol, rtol * 100)
    x = array(rng, (4, 3), "float32", special=False)
    for bad in (np.arange(3.0), np.zeros((2, 2)), np.arange(4) * 1j, np.ones(4, bool)):
        yield refused("gradient", "gradient(x, t, 0)", {"x": x, "t": bad})


def ediff1d(rng):
    for i in range(EACH):
        x = array(rng, lengths(rng), [t for t in TYPES if t not in ("bool", "bfloat16")][i % (len(TYPES) - 2)])
        begin, end = (array(rng, lengths(rng, int(rng.integers(0, 3))), x.dtype.name) for _ in range(2))
        yield case("ediff1d", "ediff1d(x)", {"x": x}, lambda: np.ediff1d(x))
        yield case("ediff1d", 'ediff1d(x, "to_end", e, "to_begin", b)', {"x": x, "b": begin, "e": end}, lambda: np.ediff1d(x, end, begin))
    x = array(rng, (5, 4), "int16")
    yield case("ediff1d", 'ediff1d(x, "to_begin", -99)', {"x": x}, lambda: np.ediff1d(x, to_begin=-99))
    yield case("ediff1d", 'ediff1d(x, "to_end", 7)', {"x": x[:0]}, lambda: np.ediff1d(x[:0], to_end=7))
    for bad in ('ediff1d(x, "to_end", 0.5)', 'ediff1d(x, "to_end")', 'ediff1d(x, "append", 1)', "ediff1d(x, 1)", "ediff1d(x > 0)"):
        yield refused("ediff1d", bad, {"x": x})


def cases(rng):
    yield from gradient_at(rng)
    yield from ediff1d(rng)
    yield from gradient(rng)
    yield from scan(rng, "cumsum", np.cumsum)
    yield from scan(rng, "cumprod", np.cumprod)
    yield from diff(rng)
