"""Cases of layers of networks, by their formulas in NumPy and SciPy."""
import numpy as np
from scipy import signal, special


def floats(rng, shape, kinds=("f4", "f8")):
    return rng.standard_normal(shape).astype(str(rng.choice(kinds)))


def shape(rng, least=0, most=4):
    dims = int(rng.integers(least, most + 1))
    return tuple(int(rng.integers(1, (300, 300, 50, 14, 9)[dims])) if rng.random() < 0.9 else 1 for _ in range(dims))


def near(*arrays, terms=1):
    """float32 sums in another order: relative to the largest of what is added."""
    if all(a.dtype == np.float64 for a in arrays):
        return {"rtol": 1e-11, "atol": 1e-12 * terms}
    if any(a.dtype == np.float16 for a in arrays):
        return {"rtol": 2e-3, "atol": 2e-3}
    return {"rtol": 1e-5, "atol": 1e-6 * terms}


def activations(rng):
    for op, f in {
        "relu": lambda x: np.maximum(x, 0),
        "sigmoid": special.expit,
        "silu": lambda x: x * special.expit(x),
        "gelu": lambda x: x * special.ndtr(x),
        'gelu "tanh"': lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    }.items():
        for i in range(56):
            s = shape(rng) if i % 10 else (0,) + shape(rng, 1, 2)
            x = floats(rng, s, ("f2", "f4", "f8")) * np.array(rng.choice([1, 1, 5]), "f2")
            x = np.asarray(x)
            if x.size > 2 and rng.random() < 0.2:
                x.flat[int(rng.integers(x.size))] = np.nan
            want = np.asarray(f(x if op == "relu" else x.astype("f8"))).astype(x.dtype)
            exact = {"rtol": 0, "atol": 0}
            name, *form = op.split()
            yield {"op": name, "expr": f"{name}({', '.join(['x', *form])})", "in": {"x": x}, "want": want, **(exact if op == "relu" else near(x))}
    yield {"op": "gelu", "expr": 'gelu(x, "fast")', "in": {"x": floats(rng, (3, 4))}, "error": True}


def normal(rng):
    for i in range(60):
        x = floats(rng, shape(rng, 1), ("f2", "f4", "f8"))
        axis = int(rng.integers(-x.ndim, x.ndim))
        if i % 8 == 0:
            x = x * x.dtype.type(30)
        yield {"op": "softmax", "expr": f"softmax(x, {axis})", "in": {"x": x},
               "want": special.softmax(x.astype("f8"), axis).astype(x.dtype), **near(x)}
    for axis in (2, -3, 7):
        yield {"op": "softmax", "expr": f"softmax(x, {axis})", "in": {"x": floats(rng, (3, 4))}, "error": True}
    for i in range(60):
        x = floats(rng, shape(rng, 1))
        if rng.random() < 0.3:
            x = x + x.dtype.type(10)
        axes = int(rng.integers(1, x.ndim + 1)) if i % 3 else 1
        over = tuple(range(x.ndim - axes, x.ndim))
        wide = x.astype("f8")
        eps = float(rng.choice([1e-5, 1e-3, 0.1]))
        given = {"x": x}
        want = (wide - wide.mean(over, keepdims=True)) / np.sqrt(wide.var(over, keepdims=True) + eps)
        if i % 3:
            given["w"] = floats(rng, x.shape[-axes:], [x.dtype.str])
            want = want * given["w"]
            if i % 3 == 2:
                given["b"] = floats(rng, x.shape[-axes:], [x.dtype.str])
                want = want + given["b"]
        yield {"op": "layer_norm", "expr": f"layer_norm({', '.join(given)}, {eps})", "in": given, "want": want.astype(x.dtype),
               "rtol": 1e-4 if x.dtype == np.float32 else 1e-9, "atol": 3e-4 if x.dtype == np.float32 else 1e-9}
    yield {"op": "layer_norm", "expr": "layer_norm(x, w)", "in": {"x": floats(rng, (3, 4)), "w": floats(rng, 3)}, "error": True}
    yield {"op": "layer_norm", "expr": "layer_norm(x)", "in": {"x": floats(rng, ())}, "error": True}


def windows(x, kernel, stride, dilation=(1, 1)):
    """What a window shows of the last two axes: (..., OH, OW, KH, KW)."""
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    v = np.lib.stride_tricks.sliding_window_view(x, span, axis=(-2, -1))
    return v[..., ::stride, ::stride, :: dilation[0], :: dilation[1]]


def padded(x, p, value=0):
    return np.pad(x, [(0, 0)] * (x.ndim - 2) + [(p, p)] * 2, constant_values=value)


def convolutions(rng):
    for i in range(70):
        groups = int(rng.choice([1, 1, 2, 3]))
        c, o = groups * int(rng.integers(1, 5)), groups * int(rng.integers(1, 6))
        k = [int(n) for n in rng.integers(1, 5, 2)]
        stride, pad, dil = int(rng.integers(1, 4)), int(rng.integers(0, 3)), int(rng.choice([1, 1, 2]))
        x = floats(rng, (int(rng.integers(1, 4)), c, int(rng.integers(7, 22)), int(rng.integers(7, 22))), ("f2", "f4", "f8"))
        w = floats(rng, (o, c // groups, *k), [x.dtype.str])
        v = windows(padded(x.astype("f8"), pad), k, stride, (dil, dil))
        each = c // groups
        want = np.concatenate([
            np.einsum("nchwij,ocij->nohw", v[:, g * each:(g + 1) * each], w.astype("f8")[g * o // groups:(g + 1) * o // groups])
            for g in range(groups)], 1)
        given = {"x": x, "w": w}
        if rng.random() < 0.5:
            given["b"] = floats(rng, o, [x.dtype.str])
            want = want + given["b"].astype("f8")[:, None, None]
        terms = 10 * k[0] * k[1] * each
        yield {"op": "conv2d", "expr": f"conv2d({', '.join(given)}, {stride}, {pad}, {dil}, {groups})", "in": given,
               "want": want.astype(x.dtype), **near(x, terms=terms)}
    for n in (40, 61):  # SciPy's own, of one channel
        x, w = floats(rng, (1, 1, n, n)), floats(rng, (1, 1, 5, 4), ["f8"])
        yield {"op": "conv2d", "expr": "conv2d(x, w)", "in": {"x": x, "w": w},
               "want": signal.correlate2d(x[0, 0], w[0, 0], "valid")[None, None], "rtol": 1e-6, "atol": 1e-6}
    x, w = floats(rng, (2, 4, 8, 8)), floats(rng, (3, 4, 3, 3))
    for text in ("conv2d(x, w, 0)", "conv2d(x, w, 1, -1)", "conv2d(x, w, 1, 0, 9)", "conv2d(x, w, 1, 0, 1, 2)", "conv2d(w, x)", "conv2d(x, x[0])"):
        yield {"op": "conv2d", "expr": text.replace("x[0]", "sum(w)"), "in": {"x": x, "w": w}, "error": True}


def pools(rng):
    for i in range(110):
        op = "max_pool2d" if i % 2 else "avg_pool2d"
        x = floats(rng, shape(rng, 0, 2)[:2] + (int(rng.integers(5, 20)), int(rng.integers(5, 20))), ("f2", "f4", "f8"))
        x = x[:9] if x.ndim > 2 else x
        x = x[:, :9] if x.ndim > 3 else x
        if op == "max_pool2d" and rng.random() < 0.3:
            x = (x * 20).astype(str(rng.choice(["i1", "i2", "i4", "i8"])))
        k, stride = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        pad = int(rng.integers(0, k // 2 + 1))
        if op == "max_pool2d":
            low = np.iinfo(x.dtype).min if x.dtype.kind == "i" else -np.inf
            want = windows(padded(x, pad, low), (k, k), stride).max((-2, -1))
            close = {"rtol": 0, "atol": 0}
        else:
            want = windows(padded(x.astype("f8"), pad), (k, k), stride).mean((-2, -1)).astype(x.dtype)
            close = near(x)
        yield {"op": op, "expr": f"{op}(x, {k}, {stride}, {pad})", "in": {"x": x}, "want": want, **close}
    for op in ("max_pool2d", "avg_pool2d"):
        x = floats(rng, (2, 3, 8, 10))
        want = windows(x, (2, 2), 2)
        yield {"op": op, "expr": f"{op}(x, 2)", "in": {"x": x}, "want": want.max((-2, -1)) if op[0] == "m" else want.mean((-2, -1)), "rtol": 1e-6, "atol": 1e-6}
        for arguments in ("0", "9", "2, 0", "2, 1, 2"):
            yield {"op": op, "expr": f"{op}(x, {arguments})", "in": {"x": x}, "error": True}


def cases(rng):
    for family in (activations, normal, convolutions, pools):
        yield from family(rng)
