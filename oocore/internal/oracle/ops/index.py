"""Cases of operations that choose elements by the values of other arrays."""

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, joined, EACH

INDEX = ["int8", "int16", "int32", "int64", "uint8", "uint32"]


def indices(rng, shape, length):
    d = np.dtype(INDEX[int(rng.integers(len(INDEX)))])
    low = 0 if d.kind == "u" else -length
    i = rng.integers(low, length, shape)
    if rng.random() < 0.3 and i.ndim == 1:
        i = np.sort(i)
    return i.astype(d)


def take(rng):
    for _ in range(EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape)
        axis = axis_of(rng, len(shape))
        i = indices(rng, lengths(rng, int(rng.integers(0, 3))), shape[axis])
        yield case("take", f"take(x, i, {axis})", {"x": x, "i": i}, lambda: np.take(x, i, axis))
        k, mode = rng.integers(-30, 30, lengths(rng, int(rng.integers(1, 3)))), str(rng.choice(["wrap", "clip"]))
        yield case("take", f'take(x, k, {axis}, "{mode}")', {"x": x, "k": k}, lambda: np.take(x, k, axis, mode=mode))
        y = array(rng, lengths(rng, int(rng.integers(0, 3)), empty=0))
        j = indices(rng, lengths(rng, 1), min(y.size, 100))
        yield case("take", "take(y, j)", {"y": y, "j": j}, lambda: np.take(y, j))
    big = {"x": array(rng, (500, 90), "float32"), "i": rng.integers(0, 500, 700), "j": np.sort(rng.integers(0, 90, 60))}
    yield case("take", "take(x, i, 0)", big, lambda: np.take(big["x"], big["i"], 0))
    yield case("take", "take(x, j, 1)", big, lambda: np.take(big["x"], big["j"], 1))
    x = array(rng, (3, 4), "float32")
    for bad in ([3], [-4], [0, 1, 100]):
        yield refused("take", "take(x, i, 0)", {"x": x, "i": np.array(bad)})
    yield refused("take", "take(x, i, 0)", {"x": x, "i": np.array([0.0, 1.0])})
    yield refused("take", "take(x, i, 2)", {"x": x, "i": np.array([0])})
    yield refused("take", "take(x, i, 0)", {"x": array(rng, (0, 4), "float32"), "i": np.array([0])})


def along(rng):
    for _ in range(2 * EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape)
        axis = axis_of(rng, len(shape))
        to = list(shape)
        to[axis] = int(rng.integers(0, 7))
        for d in range(len(to)):
            if d != axis % len(to) and rng.random() < 0.15:
                to[d] = 1
        i = indices(rng, to, shape[axis])
        yield case("take_along_axis", f"take_along_axis(x, i, {axis})", {"x": x, "i": i}, lambda: np.take_along_axis(x, i.astype("i8"), axis))
    big = array(rng, (300, 200), "float64", special=False)
    for axis in (0, 1):
        order = np.argsort(big, axis)
        yield case("take_along_axis", f"take_along_axis(x, i, {axis})", {"x": big, "i": order}, lambda: np.sort(big, axis))
    flat = array(rng, (4, 5), "int16")
    j = indices(rng, (7,), 20).astype("i8")
    yield case("take_along_axis", "take_along_axis(x, i)", {"x": flat, "i": j}, lambda: np.take_along_axis(flat, j, None))
    yield refused("take_along_axis", "take_along_axis(x, i, 0)", {"x": flat, "i": np.zeros((2, 4), "i8")})
    yield refused("take_along_axis", "take_along_axis(x, i, 0)", {"x": flat, "i": np.zeros(3, "i8")})
    yield refused("take_along_axis", "take_along_axis(x, i, 0)", {"x": flat, "i": np.full((1, 5), 4)})


def at(rng):
    for _ in range(EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape)
        k = int(rng.integers(1, len(shape) + 1))
        common = lengths(rng, int(rng.integers(0, 3)))
        names = "ijkl"[:k]
        arrays = {"x": x}
        for d, n in enumerate(names):
            s = [1 if rng.random() < 0.3 else m for m in common][int(rng.integers(0, len(common) + 1)) if rng.random() < 0.3 else 0 :]
            arrays[n] = indices(rng, s, shape[d])
        yield case("at", f"at(x, {joined(names)})", arrays, lambda: x[tuple(arrays[n] for n in names)])
    x = array(rng, (3, 4), "float32")
    yield refused("at", "at(x, i, j)", {"x": x, "i": np.array([0, 1]), "j": np.array([0, 1, 2])})
    yield refused("at", "at(x, i, j)", {"x": x, "i": np.array([0, 1]), "j": np.array([0, 4])})
    yield refused("at", "at(x, i, i, i)", {"x": x, "i": np.array([0])})


def spec(rng, shape):
    parts = []
    for n in shape[: int(rng.integers(0, len(shape) + 1))]:
        kind = rng.random()
        if kind < 0.2 and n:
            parts.append(str(int(rng.integers(-n, n))))
        elif kind < 0.4:
            parts.append(f"::{[-1, -2, -3, 2, 3][int(rng.integers(5))]}")
        else:
            lo, hi = sorted(int(v) for v in rng.integers(0, n + 2, 2))
            parts.append(f"{['', lo][int(rng.integers(2))]}:{['', hi][int(rng.integers(2))]}{['', ':2', ':1'][int(rng.integers(3))]}")
    if rng.random() < 0.15:
        parts.insert(int(rng.integers(len(parts) + 1)), "newaxis")
    elif parts and rng.random() < 0.15 and len(parts) == len(shape):
        parts[int(rng.integers(len(parts)))] = "..."
    return ", ".join(parts) if parts else "..."


def assign(rng):
    for _ in range(3 * EACH):
        shape = lengths(rng, int(rng.integers(0, 5)))
        x = array(rng, shape)
        s = spec(rng, shape)
        index = eval(f"np.index_exp[{s}]", {"np": np, "newaxis": None})
        region = np.shape(x[index])
        want = x.copy()
        if rng.random() < 0.3:
            v = int(rng.integers(0, 2 if x.dtype.kind == "b" else 100))
            want[index] = v
            yield case("set", f'set(x, "{s}", {v})', {"x": x}, lambda: want)
            continue
        to = [1 if rng.random() < 0.2 else n for n in region][int(rng.integers(0, len(region) + 1)) if rng.random() < 0.2 else 0 :]
        # Casts of floats that integers do not hold differ between machines, and between NumPy's own loops.
        kinds = ["int8", "uint8"] + (["float32", "float64"] if x.dtype.kind in "fc" else []) + (["complex64"] if x.dtype.kind == "c" else [])
        v = array(rng, to, kinds[int(rng.integers(len(kinds)))])
        want[index] = v
        yield case("set", f'set(x, "{s}", v)', {"x": x, "v": v}, lambda: want)
    x = array(rng, (3, 4), "uint8")
    yield refused("set", 'set(x, "0:2", v)', {"x": x, "v": array(rng, (3, 4), "uint8")})
    for bad in ('"0", 300', '"0", -1', '"3", 1', '"0, 0, 0", 1', '"::0", 1', '"0", 2i'):
        yield refused("set", f"set(x, {bad})", {"x": x})


def masks(rng):
    for _ in range(EACH):
        shape = lengths(rng)
        x = array(rng, shape)
        share = [0, 0.03, 0.5, 1][int(rng.integers(4))]
        k = int(rng.integers(1, len(shape) + 1))
        m = rng.random(shape[:k]) < share
        yield case("mask", "mask(x, m)", {"x": x, "m": m}, lambda: x[m])
        y = array(rng, shape, "float32", special=False)
        yield case("mask", "mask(x, x > 0.5) * 2", {"x": y}, lambda: y[y > 0.5] * 2)
        axis = axis_of(rng, len(shape))
        c = rng.integers(0, 2, int(rng.integers(0, shape[axis] + 1))).astype(["bool", "int8", "float32"][int(rng.integers(3))])
        yield case("compress", f"compress(c, x, {axis})", {"x": x, "c": c}, lambda: np.compress(c, x, axis))
        f = rng.integers(0, 2, int(rng.integers(0, x.size + 1)))
        yield case("compress", "compress(c, x)", {"x": x, "c": f}, lambda: np.compress(f, x))
        e = rng.random(shape) < share
        yield case("extract", "extract(c, x)", {"x": x, "c": e}, lambda: np.extract(e, x))
        yield case("extract", "extract(x, x)", {"x": y}, lambda: np.extract(y, y))
        z = np.where(rng.random(shape) < share, x, np.zeros((), x.dtype))
        yield case("flatnonzero", "flatnonzero(x)", {"x": z}, lambda: np.flatnonzero(z))
        yield case("argwhere", "argwhere(x)", {"x": z}, lambda: np.argwhere(z))
        d = int(rng.integers(len(shape)))
        yield case("nonzero", f"nonzero(x, {d})", {"x": z}, lambda: np.nonzero(z)[d])
    s = np.float32(3)
    yield case("argwhere", "argwhere(x)", {"x": s}, lambda: np.argwhere(s))
    yield case("flatnonzero", "flatnonzero(x)", {"x": s}, lambda: np.flatnonzero(s))
    big = array(rng, (300, 301), "float32", special=False)
    for low in (-5, 20, 25, 100):
        yield case("mask", f"mask(x, x > {low})", {"x": big}, lambda: big[big > low])
        yield case("mask", f"sum(mask(x, x > {low}))", {"x": big.astype("int32")}, lambda: big.astype("int32")[big.astype("int32") > low].sum())
        yield case("argwhere", f"argwhere(x > {low})", {"x": big}, lambda: np.argwhere(big > low))
    x = array(rng, (3, 4), "float32")
    yield refused("mask", "mask(x, m)", {"x": x, "m": np.ones((4, 3), bool)})
    yield refused("mask", "mask(x, m)", {"x": x, "m": np.ones((3, 4), "int8")})
    yield refused("compress", "compress(c, x, 0)", {"x": x, "c": np.ones((2, 2), bool)})
    yield refused("compress", "compress(c, x, 0)", {"x": x, "c": np.ones(4, bool)})


def flat(rng):
    for i in range(EACH + 6):
        shape = [int(rng.integers(1, 40)) for _ in range(int(rng.integers(1, 5)))]
        of = lengths(rng, int(rng.integers(0, 3)))
        each = [rng.integers(0, n, of if rng.random() < 0.8 or not of else of[-1:]).astype(INDEX[int(rng.integers(len(INDEX)))]) for n in shape]
        names = "abcd"[: len(shape)]
        want = np.asarray(np.ravel_multi_index(each, shape), "i8")
        yield {"op": "ravel_multi_index", "expr": f"ravel_multi_index({joined([*names, *shape])})", "in": dict(zip(names, each)), "want": want}
        places = rng.integers(0, int(np.prod(shape)), of).astype("i8")
        axis = int(rng.integers(len(shape)))
        yield {"op": "unravel_index", "expr": f"unravel_index(x, {joined([*shape, axis])})", "in": {"x": places}, "want": np.asarray(np.unravel_index(places, shape)[axis], "i8")}
        yield {"op": "ravel_multi_index", "expr": f'ravel_multi_index({joined([*names, *shape])}, "F")', "in": dict(zip(names, each)), "want": np.asarray(np.ravel_multi_index(each, shape, order="F"), "i8")}
        yield {"op": "unravel_index", "expr": f'unravel_index(x, {joined([*shape, axis])}, "F")', "in": {"x": places}, "want": np.asarray(np.unravel_index(places, shape, "F")[axis], "i8")}
        wide = [rng.integers(-100, 100, of) for _ in shape]
        modes = [str(m) for m in rng.choice(["wrap", "clip"], len(shape))]
        for mode, words in ((modes, modes), (modes[0], modes[:1])):
            want = np.asarray(np.ravel_multi_index(wide, shape, mode), "i8")
            yield {"op": "ravel_multi_index", "expr": f"ravel_multi_index({joined([*names, *shape])}, " + ", ".join(f'"{m}"' for m in words) + ")", "in": dict(zip(names, wide)), "want": want}
    for bad in ('"wrap", "clip", "wrap"', '"C"', '"wrap", 1'):
        yield refused("ravel_multi_index", f"ravel_multi_index(i, i, 3, 4, {bad})", {"i": np.array([1])})
    for bad in ([3], [-1]):
        yield refused("ravel_multi_index", "ravel_multi_index(i, i, 3, 4)", {"i": np.array(bad)})
    for bad in ([12], [-1]):
        yield refused("unravel_index", "unravel_index(i, 3, 4, 0)", {"i": np.array(bad)})
    yield refused("unravel_index", "unravel_index(i, 3, 4, 0)", {"i": np.array([0.0])})


def cases(rng):
    for family in (flat, take, along, at, assign, masks):
        yield from family(rng)
