"""Cases of assigning to masks and indices, of inserting and of deleting."""

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, joined, TYPES, EACH


def assigned(x, at, values):
    out = x.copy()
    out[at] = values
    return out


def masks(rng):
    for i in range(EACH):
        shape = lengths(rng, empty=0.1)
        x = array(rng, shape, TYPES[i % len(TYPES)])
        k = int(rng.integers(1, len(shape) + 1))
        m = np.asarray(rng.random(shape[:k]) < rng.choice([0, 0.2, 0.8, 1]))
        n, rest = int(m.sum()), shape[k:]
        form = i % 4
        v = array(rng, [(n, *rest), rest, (1, *rest), (n,) + tuple(1 if rng.random() < 0.5 else d for d in rest)][form], x.dtype.name)
        yield case("set", "set(x, m, v)", {"x": x, "m": m, "v": v}, lambda: assigned(x, m, v))
        yield case("set", "set(x, m, 1)", {"x": x, "m": m}, lambda: assigned(x, m, 1))
    x, m = array(rng, (300, 400), "float32"), np.asarray(rng.random((300, 400)) < 0.3)
    v = array(rng, (int(m.sum()),), "float32")
    yield case("set", "set(x, m, v)", {"x": x, "m": m, "v": v}, lambda: assigned(x, m, v))
    for bad in ("set(x, m, slice(v, \"1:\"))", "set(x, slice(m, \"1:\"), 1)", "set(x, m, v, 0)", "set(x, m, x)", "set(x, m, slice(v, \"0:0\"))", "set(x, 1, 2)"):
        yield refused("set", bad, {"x": x, "m": m, "v": v})


def indices(rng):
    for i in range(EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape, TYPES[i % len(TYPES)])
        axis = axis_of(rng, len(shape))
        at = axis % len(shape)
        many = () if i % 7 == 0 else tuple(int(n) for n in rng.integers(0 if i % 5 == 0 else 1, 6, int(rng.integers(1, 3))))
        j = rng.integers(-shape[at], shape[at], many)
        region = shape[:at] + many + shape[at + 1 :]
        v = array(rng, tuple(1 if rng.random() < 0.2 else n for n in region)[int(rng.integers(0, len(region) + 1)) if rng.random() < 0.3 else 0 :], x.dtype.name)
        put = (slice(None),) * at + (j,)
        yield case("set", f"set(x, j, v, {axis})", {"x": x, "j": j, "v": v}, lambda: assigned(x, put, v))
    x, j = array(rng, (3000, 40), "float32"), rng.integers(0, 3000, 5000)
    v = array(rng, (5000, 40), "float32")
    yield case("set", "set(x, j, v)", {"x": x, "j": j, "v": v}, lambda: assigned(x, j, v))
    for bad in ("set(x, j + 9999, v)", "set(x, j, v, 2)", "set(x, j*0.5, v)", "set(x, slice(j, \"1:\"), v)", "set(x, j - 9999, 1)"):
        yield refused("set", bad, {"x": x, "j": j, "v": v})


def inserting(rng):
    for i in range(EACH):
        shape = lengths(rng)
        x = array(rng, shape, TYPES[i % len(TYPES)])
        axis = axis_of(rng, len(shape))
        at = axis % len(shape)
        n = shape[at]
        one = int(rng.integers(-n, n + 1))
        yield case("insert", f"insert(x, {one}, 1, {axis})", {"x": x}, lambda: np.insert(x, one, 1, axis))
        v = array(rng, shape[:at] + shape[at + 1 :], x.dtype.name)
        yield case("insert", f"insert(x, {one}, v, {axis})", {"x": x, "v": v}, lambda: np.insert(x, one, v, axis))
        several = [int(k) for k in rng.integers(-n, n + 1, int(rng.integers(2, 5)))]
        w = array(rng, shape[:at] + (len(several) if rng.random() < 0.7 else 1,) + shape[at + 1 :], x.dtype.name)
        yield case("insert", f'insert(x, "{joined(several)}", w, {axis})', {"x": x, "w": w}, lambda: np.insert(x, several, w, axis))
        a, b, s = int(rng.integers(0, n + 1)), int(rng.integers(0, n + 1)), int(rng.choice([1, 2, 3, -1, -2]))
        u = array(rng, shape[:at] + (len(range(*slice(a, b, s).indices(n))),) + shape[at + 1 :], x.dtype.name)
        yield case("insert", f'insert(x, "{a}:{b}:{s}", u, {axis})', {"x": x, "u": u}, lambda: np.insert(x, slice(a, b, s), u, axis))
        j = np.array(several[:1])
        yield case("insert", f"insert(x, j, w, {axis})", {"x": x, "w": w, "j": j}, lambda: np.insert(x, j, w, axis))
        flat = int(rng.integers(-x.size, x.size + 1))
        yield case("insert", f"insert(x, {flat}, 0)", {"x": x}, lambda: np.insert(x, flat, 0))
        y = array(rng, shape, None)
        yield case("append", f"append(x, y, {axis})", {"x": x, "y": y}, lambda: np.append(x, y, axis))
        yield case("append", "append(x, y)", {"x": x, "y": y}, lambda: np.append(x, y))
    x = array(rng, (3, 4), "float32")
    for bad in ("insert(x, 4, 0, 0)", "insert(x, -4, 0, 0)", "insert(x, 0, 0, 2)", 'insert(x, "0, a", 0, 0)', 'insert(x, "0, 1", slice(x, "0:3"), 0)', "insert(x, 0.5, 0, 0)"):
        yield refused("insert", bad, {"x": x})
    yield refused("append", 'append(x, slice(x, ":, :2"), 0)', {"x": x})


def deleting(rng):
    for i in range(EACH):
        shape = lengths(rng, empty=0)
        x = array(rng, shape, TYPES[i % len(TYPES)])
        axis = axis_of(rng, len(shape))
        n = shape[axis]
        one = int(rng.integers(-n, n))
        yield case("delete", f"delete(x, {one}, {axis})", {"x": x}, lambda: np.delete(x, one, axis))
        several = [int(k) for k in rng.integers(-n, n, int(rng.integers(2, 6)))]
        yield case("delete", f'delete(x, "{joined(several)}", {axis})', {"x": x}, lambda: np.delete(x, several, axis))
        a, b, s = int(rng.integers(0, n + 1)), int(rng.integers(0, n + 1)), int(rng.choice([1, 2, -1]))
        yield case("delete", f'delete(x, "{a}:{b}:{s}", {axis})', {"x": x}, lambda: np.delete(x, slice(a, b, s), axis))
        j = rng.integers(0, x.size, 7)
        yield case("delete", "delete(x, j)", {"x": x, "j": j}, lambda: np.delete(x, j))
    x = array(rng, (3, 4), "float32")
    for bad in ("delete(x, 3, 0)", "delete(x, 0, 2)", 'delete(x, "0, 4", 0)', "delete(x, 0.5)", "delete(x, x)"):
        yield refused("delete", bad, {"x": x})


def putting(rng):
    for i in range(60):
        x = array(rng, lengths(rng, empty=0), TYPES[i % len(TYPES)])
        j = rng.integers(-x.size, x.size, int(rng.integers(0 if i % 9 == 0 else 1, 12)))
        mode = ["", "raise", "wrap", "clip"][i % 4]
        if mode in ("wrap", "clip"):
            j = j * 3
        if i % 5 == 0:
            j = j[None]
        v = array(rng, [(), (j.size,), (int(rng.integers(1, 20)),), (2, 3), (0,)][i % 5], x.dtype.name)

        def put(v):
            out = x.copy()
            np.put(out, j, v, mode or "raise")
            return out

        said = f', "{mode}"' if mode else ""
        yield case("put", f"put(x, j, v{said})", {"x": x, "j": j, "v": v}, lambda: put(v))
        yield case("put", f"put(x, j, 1{said})", {"x": x, "j": j}, lambda: put(1))
    x, j = array(rng, (3000, 4), "float32"), rng.integers(0, 12000, 5000)
    v = array(rng, (700,), "float32")
    yield case("put", "put(x, j, v)", {"x": x, "j": j, "v": v}, lambda: (out := x.copy(), np.put(out, j, v))[0])
    for bad in ("put(x, j + 12000, v)", "put(x, j * 0.5, v)", "put(x, j - 24000, 1)", 'put(x, j, v, "around")', "put(x, j)"):
        yield refused("put", bad, {"x": x, "j": j, "v": v})


def cases(rng):
    yield from putting(rng)
    yield from masks(rng)
    yield from indices(rng)
    yield from inserting(rng)
    yield from deleting(rng)
