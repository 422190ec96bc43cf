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


def extremes(rng):
    for name, f in (("maximum_accumulate", np.maximum), ("cummax", np.maximum), ("minimum_accumulate", np.minimum), ("cummin", np.minimum)):
        for i in range(2 * EACH + 20):
            shape = lengths(rng)
            x = array(rng, shape, TYPES[:-2][i % (len(TYPES) - 2)])
            axis = axis_of(rng, len(shape))
            if rng.random() < 0.2:
                yield case(name, f"{name}(x)", {"x": x}, lambda: f.accumulate(x))
            yield case(name, f"{name}(x, {axis})", {"x": x}, lambda: f.accumulate(x, axis))
        for shape, axis, dtype in LARGE:
            x = array(rng, shape, dtype)
            yield case(name, f"{name}(x, {axis})", {"x": x}, lambda: f.accumulate(x, axis))
        for bad in (f"{name}(x, 2)", f"{name}(x, -3)", f"{name}(x * 1j)"):
            yield refused(name, bad, {"x": array(rng, (3, 4), "float32")})


LARGE = ((30_000,), 0, "float32"), ((300, 400), 0, "float64"), ((300, 400), 1, "float32"), ((20, 500, 9), 1, "float16"), ((140_000,), 0, "float64"), ((2, 70_000), 1, "float64")


def filled(x, axis, limit):
    """Along an axis the last number before each place, within so many elements."""
    x = np.moveaxis(x, axis, 0).copy()
    last, ago = np.full(x.shape[1:], np.nan, x.dtype), np.full(x.shape[1:], np.inf)
    for i in range(len(x)):
        bad = np.isnan(x[i])
        last, ago = np.where(bad, last, x[i]), np.where(bad, ago + 1, 0)
        x[i] = np.where(bad & (ago <= limit), last, x[i])
    return np.moveaxis(x, 0, axis)


def holes(rng, shape, dtype):
    x = array(rng, shape, dtype, special=False)
    share = rng.choice([0.1, 0.5, 0.9, 1.0])
    return np.where(rng.random(shape) < share, x.dtype.type(np.nan), x).reshape(shape) if x.dtype.kind in "fc" else x


def fills(rng):
    def one(x, axis):
        limit = int(rng.integers(1, 5)) if rng.random() < 0.5 else None
        more = "" if limit is None else f', "limit={limit}"'
        most = np.inf if limit is None else limit
        yield case("ffill", f"ffill(x, {axis}{more})", {"x": x}, lambda: filled(x, axis, most) if x.dtype.kind in "fc" else x)
        yield case("bfill", f"bfill(x, {axis}{more})", {"x": x}, lambda: np.flip(filled(np.flip(x, axis), axis, most), axis) if x.dtype.kind in "fc" else x)
        if x.dtype.kind != "c":
            rtol = {2: 2e-3, 4: 1e-6}.get(x.dtype.itemsize, 1e-12)
            yield case("interpolate_na", f"interpolate_na(x, {axis})", {"x": x}, lambda: between(x, axis), rtol, rtol * 30)
            for alpha in (0.1, 0.7):
                yield case("ewm_mean", f"ewm_mean(x, {alpha}, {axis})", {"x": x}, lambda: ewm(x, alpha, axis), rtol, rtol * 30)
                yield case("ewm_mean", f'ewm_mean(x, {alpha}, {axis}, "adjust=false")', {"x": x}, lambda: ewm_recursive(x, alpha, axis), rtol, rtol * 30)

    for i in range(4 * EACH):
        shape = lengths(rng)
        x = holes(rng, shape, ["float32", "float64", "float16", "complex64", "complex128", "int16", "float64"][i % 7])
        yield from one(x, axis_of(rng, len(shape)))
    for shape, axis, dtype in LARGE:
        yield from one(holes(rng, shape, dtype), axis)
    x = array(rng, (3, 4), "float32")
    for bad in ("ffill(x, 2)", 'ffill(x, 0, "limit=-1")', "bfill(x, -3)", "interpolate_na(x, 2)", "interpolate_na(x * 1j, 0)", "ewm_mean(x, 0, 0)", "ewm_mean(x, 1.5, 0)", "ewm_mean(x, 0.5, 2)", 'ewm_mean(x, 2, 0, "adjust=false")', "ffill(x, 0, 3)"):
        yield refused(bad[: bad.index("(")], bad, {"x": x})


def between(x, axis):
    if x.dtype.kind != "f":
        return x

    def line(v):
        bad = np.isnan(v)
        if bad.all():
            return v
        places = np.arange(len(v))
        return np.where(bad, np.interp(places, places[~bad], v[~bad].astype("f8"), np.nan, np.nan), v)

    return np.apply_along_axis(line, axis, x).astype(x.dtype) if x.size else x


def ewm(x, alpha, axis):
    """As pandas' ewm(alpha=alpha).mean()."""
    v = np.moveaxis(x, axis, 0).astype("f8")
    total, weight, out = np.zeros(v.shape[1:]), np.zeros(v.shape[1:]), np.empty(v.shape)
    for i in range(len(v)):
        bad = np.isnan(v[i])
        total, weight = total * (1 - alpha) + np.where(bad, 0, v[i]), weight * (1 - alpha) + ~bad
        out[i] = total / weight
    return np.moveaxis(out, 0, axis).astype(x.dtype if x.dtype.kind == "f" else "f8")


def ewm_recursive(x, alpha, axis):
    """As pandas' ewm(alpha=alpha, adjust=False).mean()."""
    v = np.moveaxis(x, axis, 0).astype("f8")
    mean, weight, out = np.full(v.shape[1:], np.nan), np.ones(v.shape[1:]), np.empty(v.shape)
    for i in range(len(v)):
        weight, bad = weight * (1 - alpha), np.isnan(v[i])
        moved = np.where(np.isnan(mean), v[i], (weight * mean + alpha * v[i]) / (weight + alpha))
        mean, weight = np.where(bad, mean, moved), np.where(bad, weight, 1)
        out[i] = mean
    return np.moveaxis(out, 0, axis).astype(x.dtype if x.dtype.kind == "f" else "f8")


def unwrap(rng):
    for i in range(4 * EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape, ["float32", "float64", "int16"][i % 3], special=False)
        axis, rtol = axis_of(rng, len(shape)), 1e-12 if i % 3 else 2e-5
        wide = x.astype("f8")
        if i % 4 == 0:
            yield case("unwrap", f'unwrap(x, {axis}, "period=7.5", "discont=5")', {"x": x}, lambda: np.unwrap(wide, 5, axis, period=7.5).astype(x.dtype if x.dtype.kind == "f" else "f8"), rtol, rtol * 100)
        else:
            yield case("unwrap", f"unwrap(x, {axis})", {"x": x}, lambda: np.unwrap(wide, axis=axis).astype(x.dtype if x.dtype.kind == "f" else "f8"), rtol, rtol * 100)
    for shape, axis, dtype in LARGE:
        if dtype == "float64":
            x = array(rng, shape, dtype, special=False)
            yield case("unwrap", f"unwrap(x, {axis})", {"x": x}, lambda: np.unwrap(x, axis=axis), 1e-9, 1e-6)
    for bad in ("unwrap(x, 2)", "unwrap(x * 1j)", 'unwrap(x, 0, "period=-1")'):
        yield refused("unwrap", bad, {"x": array(rng, (3, 4), "float32")})


def cases(rng):
    yield from extremes(rng)
    yield from fills(rng)
    yield from unwrap(rng)
    yield from gradient_at(rng)
    yield from ediff1d(rng)
    yield from gradient(rng)
    yield from scan(rng, "cumsum", np.cumsum)
    yield from scan(rng, "cumprod", np.cumprod)
    yield from diff(rng)
