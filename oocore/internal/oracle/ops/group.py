"""Cases of reductions in groups, against NumPy's of the elements of each label."""
import warnings

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, joined, TYPES, EACH

warnings.simplefilter("ignore")


def reduced(kind, x, labels, groups, axis, ddof=0):
    parts = [np.compress(labels == g, x, axis) for g in range(groups)]
    if kind == "count":
        return np.array([p.shape[axis] for p in parts], "i8")
    if kind in ("first", "last", "min", "max"):
        empty = np.full(np.delete(x.shape, axis), np.nan if x.dtype.kind != "c" else complex(np.nan, np.nan)).astype(x.dtype)
        f = {"first": lambda p: np.take(p, 0, axis), "last": lambda p: np.take(p, -1, axis)}.get(kind, lambda p: getattr(p, kind)(axis))
        return np.stack([f(p) if p.shape[axis] else empty for p in parts], axis).astype(x.dtype)
    t = getattr(x, kind)(axis).dtype
    wide = {"f": "f8", "c": "c16"}.get(x.dtype.kind, x.dtype)
    f = lambda p: p.var(axis, ddof=ddof) if kind == "var" else getattr(p, kind)(axis)
    return np.stack([f(p.astype(wide)) for p in parts], axis).astype(t)


def one(rng, kind, x, labels, groups, axis, text="", ddof=0):
    want = reduced(kind, x, labels, groups, axis, ddof)
    exact = want.dtype.kind not in "fc" or kind in ("first", "last", "min", "max")
    size = float(np.abs(x[np.isfinite(x)].astype("c16")).max(initial=0))
    atol = 0 if exact else 1e-13 * max(size, size * size if kind == "var" else 0) * max(len(labels), 1)
    yield case("groupby", f'groupby(x, l, "{kind}", {axis}{text})', {"x": x, "l": labels}, lambda: want, 0 if exact else 2 * float(np.finfo(want.dtype).eps), atol)


def over_axes(rng):
    for i in range(100):
        kind = ["sum", "mean", "max", "prod", "any", "count_nonzero", "median", "nanmax", "std", "nansum"][i % 10]
        x = array(rng, lengths(rng, empty=0), "float64", special=False)
        axes = [axis_of(rng, x.ndim) for _ in range(int(rng.integers(1, 4)))]
        yield case("apply_over_axes", f'apply_over_axes(x, "{kind}", {joined(axes)})', {"x": x}, lambda: np.apply_over_axes(getattr(np, kind), x, axes), 1e-12, 1e-11)
    x = array(rng, (3, 4), "int16")
    for kind in ("sum", "max", "mean"):
        yield case("apply_over_axes", f'apply_over_axes(x, "{kind}", 1, 0)', {"x": x}, lambda: np.apply_over_axes(getattr(np, kind), x, (1, 0)), 1e-14)
    for bad in ('apply_over_axes(x, "sum")', 'apply_over_axes(x, "sum", 2)', 'apply_over_axes(x, "around", 0)', "apply_over_axes(x, 0)"):
        yield refused("apply_over_axes", bad, {"x": x})


def cases(rng):
    yield from over_axes(rng)
    kinds = "sum mean var min max count first last".split()
    for i in range(6 * EACH):
        kind = kinds[i % 8]
        shape = lengths(rng, empty=0.05)
        dtype = TYPES[i // 8 % len(TYPES)]
        if dtype[0] == "c" and kind in ("var", "min", "max"):
            dtype = "float64"
        x = array(rng, shape, dtype)
        axis = axis_of(rng, len(shape))
        n = shape[axis]
        groups = int(rng.integers(1, 6))
        labels = rng.integers(0, groups, n).astype(["int64", "uint8", "int16"][i % 3])
        whole = dtype[0] not in "fc" and kind in ("min", "max", "first", "last")
        if whole:  # each group has some
            groups = min(groups, n)
            labels = np.concatenate([np.arange(groups), rng.integers(0, max(groups, 1), n - groups)]).astype(labels.dtype)
            rng.shuffle(labels)
            if not groups:
                continue
        ddof, text = (1, ', "ddof=1"') if kind == "var" and i % 3 == 0 else (0, "")
        if i % 2 and n:
            largest = int(labels.max()) + 1
            yield from one(rng, kind, x, labels, largest, axis, text, ddof)
        else:
            yield from one(rng, kind, x, labels, groups if whole else groups + 1, axis, f", {groups if whole else groups + 1}{text}", ddof)
    # Accumulators of several tasks, and those for which labels are sorted: 8 bytes for each of 3 and of 20 million.
    for groups in (3_000_000, 20_000_000):
        n = 40_000
        labels, x = rng.integers(0, groups, n), array(rng, (n,), "float32", special=False)
        labels[0] = groups - 1
        places = np.unique(labels)
        for kind in ("sum", "max", "count", "last"):
            some = reduced(kind, x, np.searchsorted(places, labels), len(places), 0)
            yield case("groupby", f'take(groupby(x, l, "{kind}"), p)', {"x": x, "l": labels, "p": places}, lambda: some, 1e-6)
    x, labels = array(rng, (70_000, 7), "float64", special=False), rng.integers(0, 900, 70_000)
    for kind in ("sum", "var", "min"):
        yield from one(rng, kind, x, labels, 900, 0, ", 900")
    for bad in ('groupby(x, l - 1, "sum")', 'groupby(x, l, "sum", 0, 900-1)', 'groupby(x, slice(l, "1:"), "sum")', 'groupby(x, l*1.5, "sum")', 'groupby(x, l, "median")', 'groupby(x, l, "sum", 2)',
                'groupby(x, l, 0)', 'groupby(x, l, "sum", 0, -1)', 'groupby(x, l, "sum", 0, 900, "ddof=1")', 'groupby(astype(x, "int32"), l, "min", 0, 901)', 'groupby(x, x, "sum")', 'groupby(x, l - 900, "sum")'):
        yield refused("groupby", bad, {"x": x, "l": np.append(labels[1:], 899)})
