"""Cases of functions of each element that are made of others, by NumPy's names."""
import warnings

import numpy as np

from ops.shape import array, lengths, case, refused, TYPES

warnings.simplefilter("ignore")
EACH = 64
REAL = [t for t in TYPES if t[0] != "c"]


def near(want):
    """Some units in the last place of the result's type."""
    want = np.asarray(want)
    return (4 * float(np.finfo(want.dtype).eps), 0) if want.dtype.kind in "fc" else (0, 0)


def one(rng):
    for i in range(EACH):
        for name in "sinc angle around".split():
            t = (TYPES if name == "angle" else REAL)[i % len(REAL)]
            if t == "bool" and name == "around":
                continue
            x = array(rng, lengths(rng), t, special=i % 3 > 0)
            f = getattr(np, name)
            if name == "sinc" and t in ("float16", "float32"):
                want = np.asarray(f(x.astype("f8"))).astype(t)
                yield case(name, f"{name}(x)", {"x": x}, lambda: want, 16 * float(np.finfo(t).eps), 8 * float(np.finfo(t).eps))
                continue
            want = f(x)
            rtol, atol = near(want)
            yield case(name, f"{name}(x)", {"x": x}, lambda: want, rtol, atol + (1e-15 if name == "sinc" else 0))
            if name == "angle":
                yield case(name, 'angle(x, "deg")', {"x": x}, lambda: np.angle(x, deg=True), rtol, 0)
        x = array(rng, lengths(rng), REAL[1 + i % (len(REAL) - 1)], special=i % 3 > 0)
        for k, part in enumerate(("fraction", "integral")):
            yield case("modf", f'modf(x, "{part}")', {"x": x}, lambda: np.modf(x)[k])
    z = array(rng, (3, 4), "complex64")
    yield refused("sinc", "sinc(z)", {"z": z})
    yield refused("modf", 'modf(z, "fraction")', {"z": z})


def two(rng):
    for i in range(2 * EACH):
        for name in "float_power logaddexp2".split():
            shape = lengths(rng)
            types = [t for t in (TYPES if name == "float_power" and i % 4 == 0 else REAL) if t != "bool"]
            t = types[i % len(types)]
            u = t if i % 3 else types[int(rng.integers(len(types)))]
            x, y = array(rng, shape, t, special=i % 3 > 0 and t[0] != "c"), array(rng, shape, u, special=i % 3 > 0 and u[0] != "c")
            if name == "float_power":
                x, y = (np.asarray(a / 8).astype(a.dtype) if a.dtype.kind in "fc" else a % 5 for a in (x, y))
            if name == "logaddexp2" and "float16" in (t, u):
                continue  # whose NumPy rounds twice on the way
            f = getattr(np, name)
            want = f(x, y)
            rtol, atol = near(want)
            yield case(name, f"{name}(x, y)", {"x": x, "y": y}, lambda: want, 8 * rtol, atol if name != "logaddexp2" else 4 * rtol)
    for i, t in enumerate(t for t in REAL if t not in ("bool", "bfloat16")):
        x, number = array(rng, (4, 3), t), (3, 2.5)[i % 2]  # a number takes the array's type
        yield case("fmod", f"fmod(x, {number})", {"x": x}, lambda: np.fmod(x, number), 0)
        yield case("fmod", f"fmod({number}, x)", {"x": x}, lambda: np.fmod(number, x), 0)
    for name in ("logaddexp2",):
        yield refused(name, f"{name}(z, z)", {"z": array(rng, (3,), "complex64")})


def choosing(rng):
    for i in range(EACH):
        shape = lengths(rng)
        k = int(rng.integers(1, 5))
        n = rng.integers(0, k, shape).astype(["int64", "uint8", "int16"][i % 3])
        choices = {f"c{j}": array(rng, shape, REAL[(i + j * (i % 2)) % len(REAL)]) for j in range(k)}
        want = np.choose(n, list(choices.values()))
        yield case("choose", f"choose(n, {', '.join(choices)})", {"n": n, **choices}, lambda: want)
    n = np.array([0, 2, 1])
    for bad in ("choose(n, 1, 2)", "choose(n - 1, 1, 2, 3)", "choose(n*1.0, 1, 2, 3)"):
        yield refused("choose", bad, {"n": n})


def plain(rng):
    """Of arrays without CF's attributes, which are decoded as they are; those of xarray have tests of their own."""
    for i in range(EACH):
        x = array(rng, lengths(rng), TYPES[i % len(TYPES)])
        yield case("decode_cf", 'decode_cf(x, "s")' if i % 2 else "decode_cf(x)", {"x": x}, lambda: x)
    yield refused("decode_cf", 'decode_cf(x, "D")', {"x": x})
    yield refused("decode_cf", "decode_cf(x + 1)", {"x": x})


def cases(rng):
    yield from plain(rng)
    yield from one(rng)
    yield from two(rng)
    yield from choosing(rng)
