"""Cases of operations on the order of elements: sorting, the largest, quantiles, distinct ones, searching."""

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, joined, TYPES, EACH


def order(x, axis, descending=False):
    """The stable order."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    back = np.argsort(np.flip(x, axis), axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - back, axis)


def values(x, axis, descending=False):
    """Sorted, with -0 before 0 where nothing else tells them apart."""
    if x.dtype.kind == "f":
        i = np.lexsort((~np.signbit(x), x), axis=axis)
        return np.take_along_axis(x, np.flip(i, axis) if descending else i, axis)
    return np.take_along_axis(x, order(x, axis, descending), axis)


def mixed(rng, i, shape):
    """Of every type, with equal elements in every second array."""
    x = array(rng, shape, TYPES[i % len(TYPES)] if i < 40 else None)
    if i % 2 and x.dtype.kind in "iu":
        x = (x % 4).astype(x.dtype)
    if i % 2 and x.dtype.kind in "fc":
        x = np.asarray(np.round(x / 8) + np.where(rng.random(shape) < 0.1, np.nan, 0)).astype(x.dtype)
    return x


def sorting(rng):
    for name, f in (("sort", values), ("argsort", order)):
        for i in range(2 * EACH):
            shape = lengths(rng)
            x = mixed(rng, i, shape)
            axis = axis_of(rng, len(shape))
            if rng.random() < 0.2:
                yield case(name, f"{name}(x)", {"x": x}, lambda: f(x, -1))
            elif rng.random() < 0.3:
                yield case(name, f'{name}(x, {axis}, "descending")', {"x": x}, lambda: f(x, axis, True))
            else:
                yield case(name, f"{name}(x, {axis})", {"x": x}, lambda: f(x, axis))
        for shape, axis, dtype in (((90_000,), 0, "float32"), ((300, 200), 0, "float64"), ((300, 200), 1, "int16"), ((9, 1000, 7), 1, "float16"), ((3, 20_000), 1, "complex64"), ((70_000,), 0, "uint8")):
            x = array(rng, shape, dtype)
            yield case(name, f"{name}(x, {axis})", {"x": x}, lambda: f(x, axis))
        x = array(rng, (3, 4), "float32")
        for bad in (f"{name}(x, 2)", f"{name}(x, -3)"):
            yield refused(name, bad, {"x": x})
        yield refused(name, f"{name}(x)", {"x": array(rng, (), "float32")})


def top(rng):
    for name, position in (("topk", False), ("argtopk", True)):
        for i in range(2 * EACH):
            shape = lengths(rng)
            x = mixed(rng, i, shape)
            axis = axis_of(rng, len(shape))
            k = int(rng.integers(1, 12)) * (-1 if rng.random() < 0.4 else 1)
            at = np.take(order(x, axis, k > 0), range(min(abs(k), shape[axis])), axis) if x.size else np.zeros([min(abs(k), n) if d == axis % len(shape) else n for d, n in enumerate(shape)], "i8")
            want = at if position else np.take_along_axis(x, at, axis)
            if not position and x.dtype.kind == "f":  # -0 and 0 are apart
                want = np.take(values(x, axis, k > 0), range(min(abs(k), shape[axis])), axis)
            yield case(name, f"{name}(x, {k}{'' if axis == -1 else f', {axis}'})", {"x": x}, lambda: want)
        x = array(rng, (60_000,), "float32", special=False)
        at = order(x, 0, True)[:100]
        yield case(name, f"{name}(x, 100)", {"x": x}, lambda: at if position else x[at])
        for bad in (f"{name}(x, 0)", f"{name}(x, 1, 1)"):
            yield refused(name, bad, {"x": x})


METHODS = ["linear", "lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
           "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"]
REAL = [t for t in TYPES if t[0] not in "bc"]


def wide(x):
    """With room between the elements: NumPy subtracts integers as they are, and 127 - -32 is -97 in int8."""
    return x.astype("f8") if x.dtype.kind == "f" else x.astype("i8") if x.dtype.kind in "iu" and x.dtype.itemsize < 8 else x


def exact(f, x):
    """The quantile in float64, in the type that NumPy has for one number, and the error that is allowed."""
    want = np.asarray(f(x))
    if x.dtype.kind != "f" or want.dtype != x.dtype:
        return np.asarray(f(wide(x))).astype(want.dtype), 2e-15, 0
    want = np.asarray(f(wide(x))).astype(x.dtype)
    finite = np.abs(x[np.isfinite(x)]).astype("f8")
    eps = float(np.finfo(x.dtype).eps)
    return want, 2 * eps, eps * 2.0**-10 * float(finite.max(initial=0)) if eps > 1e-10 else 4 * eps * float(finite.max(initial=0))


def quantiles(rng):
    for skip in ("", "nan"):
        for name in ("median", "quantile", "percentile"):
            f = getattr(np, skip + name)
            scale = 100 if name == "percentile" else 1
            for i in range(3 * EACH // 2):
                shape = lengths(rng, empty=0.03 if name == "median" else 0)
                x = array(rng, shape, REAL[i % len(REAL)], special=False)
                if name == "median" and i % 11 == 0:
                    x = np.asarray(rng.random(shape) < 0.5)
                if x.dtype.kind == "f":
                    x = np.where(rng.random(shape) < (0.01 if skip == "" else 0.2), np.nan, x).astype(x.dtype)
                dims = len(shape)
                axes = tuple(int(a) for a in rng.permutation(dims)[: int(rng.integers(1, dims + 1))]) if rng.random() < 0.7 else None
                along = "" if axes is None else ", " + joined(axes)
                keep, kept = {}, ""
                if i % 6 == 5:
                    keep, kept = {"keepdims": True}, ', "keepdims"'
                if name == "median":
                    want, rtol, atol = exact(lambda a: f(a, axis=axes, **keep), x)
                    yield case(skip + name, f"{skip}{name}(x{along}{kept})", {"x": x}, lambda: want, rtol, atol)
                    continue
                method = METHODS[int(rng.integers(len(METHODS)))] if rng.random() < 0.8 else None
                text = f', "{method}"' if method else ""
                q = float(rng.choice([0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1, rng.random()])) * scale
                if rng.random() < 0.3:
                    many = [q, 0.5 * scale, 0]
                    want = np.asarray(f(wide(x), many, axis=axes, method=method or "linear"))
                    if f(x, many, axis=axes, method=method or "linear").dtype == x.dtype:
                        want = want.astype(x.dtype)
                    yield case(skip + name, f'{skip}{name}(x, "{joined(many)}"{along}{text})', {"x": x}, lambda: want, 1e-14, 1e-15 * 10000)
                    continue
                want, rtol, atol = exact(lambda a: f(a, q, axis=axes, method=method or "linear", **keep), x)
                yield case(skip + name, f"{skip}{name}(x, {q}{along}{text}{kept})", {"x": x}, lambda: want, rtol, atol)
    x = array(rng, (4, 5), "float32", special=False)
    for bad in ("quantile(x, 1.5)", "quantile(x, -0.1)", "percentile(x, 101)", 'quantile(x, 0.5, "no such")', "quantile(x, 0.5, 2)", "quantile(x, 0.5, 0, 0)",
                "median(x, 2)", "quantile(x, nan)", 'quantile(x, "0.5, 2")', "quantile(x, 0.5, 0.5)"):
        yield refused(bad.split("(")[0], bad, {"x": x})
    yield refused("quantile", "quantile(x, 0.5)", {"x": x.astype("c8")})
    yield refused("quantile", "quantile(x, 0.5)", {"x": x > 0})
    yield refused("quantile", "quantile(x, 0.5, 0)", {"x": np.zeros((0, 3))})
    for dtype in ("float32", "int32"):
        x = array(rng, (300, 250), dtype, special=False)
        for axes in ((0,), (1,), (0, 1)):
            want, rtol, atol = exact(lambda a: np.median(a, axis=axes), x)
            yield case("median", f"median(x, {joined(axes)})", {"x": x}, lambda: want, rtol, atol)


def searching(rng):
    for i in range(2 * EACH):
        n = int(rng.integers(0, 60))
        dtype = TYPES[i % len(TYPES)] if i < 40 else None
        a = values(mixed(rng, i, (n,)), -1)
        v = array(rng, lengths(rng), dtype) if i % 3 else (a if n else a)
        for side in ("left", "right"):
            text = ', "right"' if side == "right" else rng.choice(["", ', "left"'])
            yield case("searchsorted", f"searchsorted(a, v{text})", {"a": a, "v": v}, lambda: np.searchsorted(a, v, side))
        if a.dtype.kind in "cb" or v.dtype.kind in "cb" or a.dtype.kind == "f" and np.isnan(a).any():
            continue
        if rng.random() < 0.4:
            a = a[::-1].copy()
        right = bool(rng.random() < 0.5)
        yield case("digitize", f'digitize(v, a{", " + chr(34) + "right" + chr(34) if right else ""})', {"a": a, "v": v}, lambda: np.digitize(v, a, right))
    a = np.sort(array(rng, (40_000,), "float32", special=False))
    v = array(rng, (300, 40), "float32", special=False)
    yield case("searchsorted", "searchsorted(a, v)", {"a": a, "v": v}, lambda: np.searchsorted(a, v))
    yield case("searchsorted", "searchsorted(a, 3.5)", {"a": a}, lambda: np.searchsorted(a, 3.5))
    yield case("digitize", "digitize(v, a)", {"a": a, "v": v}, lambda: np.digitize(v, a))
    for name in ("searchsorted(v, a)", 'searchsorted(a, v, "up")', "digitize(a, v)"):
        yield refused(name.split("(")[0], name, {"a": a, "v": v})


def unique(rng):
    for i in range(3 * EACH // 2):
        x = mixed(rng, i, lengths(rng, low=0 if i % 7 == 0 else 1))
        if i % 13 == 0:
            x = mixed(rng, i, ())
        if x.dtype.kind in "fc":
            x = x + x.dtype.type(0)  # no -0
        if x.dtype.kind == "c":
            x = np.where(np.isnan(x), x.dtype.type(complex(np.nan, np.nan)), x)
        v, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        yield case("unique", "unique(x)", {"x": x}, lambda: v)
        y, z = x.reshape(-1)[: x.size // 2], x.reshape(-1)[x.size // 3 :]
        yield case("union1d", "union1d(y, z)", {"y": y, "z": z}, lambda: np.union1d(y, z))
        yield case("unique_counts", "unique_counts(x)", {"x": x}, lambda: counts)
        yield case("unique_index", "unique_index(x)", {"x": x}, lambda: first)
        yield case("unique_inverse", "unique_inverse(x)", {"x": x}, lambda: inverse.reshape(x.shape))
    for x in (rng.permutation(40_000).reshape(200, 200), rng.integers(0, 30_000, 60_000).astype("float32"), array(rng, (100, 300), "uint8")):
        v, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        for name, want in (("unique", v), ("unique_counts", counts), ("unique_index", first), ("unique_inverse", inverse.reshape(x.shape))):
            yield case(name, f"{name}(x)", {"x": x}, lambda: want)


def ranks(rng):
    from scipy import stats

    for i in range(4 * EACH):
        shape = lengths(rng)
        x = mixed(rng, i + 2, shape)
        if x.dtype.kind == "c":
            continue
        method, axis = ["average", "min", "max", "dense", "ordinal"][i % 5], axis_of(rng, len(shape))
        if method == "ordinal" and x.dtype.kind == "f":
            x = x + x.dtype.type(0)  # of zeros by their sign, too
        yield case("rankdata", f'rankdata(x, {axis}, "{method}")', {"x": x}, lambda: stats.rankdata(x, method, axis=axis).astype("f8" if x.dtype.kind == "f" or method == "average" else "i8"))
        if i % 4 == 0:
            yield case("rankdata", "rankdata(x)", {"x": x}, lambda: stats.rankdata(x, axis=None))
        n = int(rng.integers(2, 90))
        a, b = (array(rng, (n,), ["float64", "int16", "float32"][(i + k) % 3], special=False) for k in range(2))
        if len(set(a.tolist())) > 1 and len(set(b.tolist())) > 1:
            yield case("spearmanr", "spearmanr(a, b)", {"a": a, "b": b}, lambda: stats.spearmanr(a, b).statistic, 1e-10, 1e-10)
    x = np.round(array(rng, (200, 300), "float64", special=False))
    for axis in (0, 1):
        yield case("rankdata", f"rankdata(x, {axis})", {"x": x}, lambda: stats.rankdata(x, axis=axis))
    for bad in ("rankdata(x, 2)", "rankdata(x * 1j)", 'rankdata(x, 0, "most")', 'spearmanr(x, slice(x, "0"))', 'spearmanr(slice(x, "0, :1"), slice(x, "0, :1"))'):
        yield refused(bad[: bad.index("(")], bad, {"x": x})


def sets(rng):
    for i in range(4 * EACH):
        t = [t for t in TYPES if t != "float16"][i % (len(TYPES) - 1)]
        a, b = (array(rng, lengths(rng, int(rng.integers(1, 3))), t) for _ in range(2))
        if a.dtype.kind in "fc" and i % 2:
            a, b = np.round(a / 8), np.round(b / 8)
        a, b = a + a.dtype.type(0), b + b.dtype.type(0)  # no zeros with a sign
        a, b = a.astype(t), b.astype(t)
        for name in ("intersect1d", "setdiff1d", "setxor1d"):
            yield case(name, f"{name}(a, b)", {"a": a, "b": b}, lambda: getattr(np, name)(a, b))
    a, b = rng.permutation(60_000)[:40_000].astype("i8"), rng.permutation(70_000)[:30_000].astype("i4")
    for name in ("intersect1d", "setdiff1d", "setxor1d"):
        yield case(name, f"{name}(a, b)", {"a": a, "b": b}, lambda: getattr(np, name)(a.astype("i8"), b.astype("i8")))


def partitions(rng):
    for i in range(4 * EACH):
        shape = lengths(rng, empty=0)
        x = mixed(rng, i, shape)
        axis = axis_of(rng, len(shape))
        kth = int(rng.integers(-shape[axis], shape[axis]))
        yield case("partition", f"partition(x, {kth}, {axis})", {"x": x}, lambda: values(x, axis))
        yield case("argpartition", f"argpartition(x, {kth}, {axis})", {"x": x}, lambda: order(x, axis))
        keys = {k: mixed(rng, 2 * i + 1, shape) for k in "abc"[: int(rng.integers(1, 4))]}
        if not any(k.dtype.kind == "c" for k in keys.values()):
            yield case("lexsort", f"lexsort({', '.join(keys)})", keys, lambda: np.lexsort(list(keys.values())))
    x = array(rng, (3, 4), "float32")
    for bad in ("partition(x, 4)", "partition(x, -5)", "argpartition(x, 3, 0)", "partition(x, 0, 2)", 'lexsort(x, slice(x, "0"))', "lexsort(1)"):
        yield refused(bad[: bad.index("(")], bad, {"x": x})


def cases(rng):
    yield from ranks(rng)
    yield from sets(rng)
    yield from partitions(rng)
    yield from searching(rng)
    yield from unique(rng)
    yield from sorting(rng)
    yield from top(rng)
    yield from quantiles(rng)
