"""Quantization to 8 bits, against its formulas in NumPy."""
import ml_dtypes
import numpy as np

LOW = {"int8": -128, "uint8": 0}


def quantize(x, dtype, affine, axis=None, block=None):
    t = np.float64 if x.dtype == np.float64 else np.float32
    x = x.astype(t)
    shape, low = x.shape, LOW[dtype]
    shared = [1] * x.ndim
    if axis is None:
        axes = tuple(range(x.ndim))
    elif block is None:
        axis %= x.ndim
        shared[axis] = shape[axis]
        axes = tuple(d for d in range(x.ndim) if d != axis)
    else:
        axis %= x.ndim
        shared = list(shape)
        shared[axis] //= block
        x = x.reshape(shape[:axis] + (shape[axis] // block, block) + shape[axis + 1 :])
        axes = (axis + 1,)
    if affine:
        least = np.minimum(x.min(axes, keepdims=True) if axes else x, t(0))
        most = np.maximum(x.max(axes, keepdims=True) if axes else x, t(0))
        scale = (most - least) / t(255)
        scale = np.where(scale > 0, scale, t(1))
        zero = np.clip(np.rint(t(low) - least / scale), low, low + 255)
        bottom = low
    else:
        scale = (np.abs(x).max(axes, keepdims=True) if axes else np.abs(x)) / t(127)
        scale = np.where(scale > 0, scale, t(1))
        zero = np.full_like(scale, low + 128)
        bottom = low + 1
    q = np.clip(np.rint(x / scale) + zero, bottom, low + 255)
    q = np.where(np.isnan(q), zero, q)
    return q.reshape(shape).astype(dtype), scale.reshape(shared), zero.reshape(shared).astype(dtype)


def fp4(rng):
    """Bytes of two floats of four bits, with scales of MXFP4 in blocks of their own or not, or of NVFP4, and what they mean."""
    lead = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(0, 3)))]
    blocks, half = int(rng.integers(1, 5)), int(rng.choice([1, 8, 16]))
    q = rng.integers(0, 256, lead + [blocks, half], "u1")
    x = np.stack([q & 15, q >> 4], -1).view(ml_dtypes.float4_e2m1fn).astype("f4").reshape(lead + [blocks, 2 * half])
    scale = rng.integers(0, 256, lead + [blocks], "u1")
    wide = scale.view(ml_dtypes.float8_e8m0fnu).astype("f4")
    if rng.random() < 0.5:
        scale = wide = rng.standard_normal(lead + [blocks]).astype("f4")
    with np.errstate(all="ignore"):
        want = (x * wide[..., None]).reshape(lead + [-1])
    return q if rng.random() < 0.5 else q.reshape(lead + [-1]), scale, want


def to_fp4(x, scheme):
    """What a float32 array becomes in MXFP4 or NVFP4: bytes, scales, the array's scale, and what they stand for."""
    with np.errstate(all="ignore"):
        t = np.abs(x).max() / np.float32(2688)
        t = np.float32(1) if t == 0 else t
        y = x if scheme == "mxfp4" else x / t
        block = 32 if scheme == "mxfp4" else 16
        y = y.reshape(x.shape[:-1] + (-1, block))
        most = np.abs(y).max(-1)
        if scheme == "mxfp4":
            exponent = np.frexp(most)[1] - 1 - 2
            scale = np.where(most > 0, np.clip(exponent + 127, 0, 254), 0).astype("u1")
            scale[~np.isfinite(most)] = 255
            wide = scale.view(ml_dtypes.float8_e8m0fnu).astype("f4")
        else:
            s = most / np.float32(6)
            scale = np.where(np.isfinite(s), np.minimum(s, 448), s).astype(ml_dtypes.float8_e4m3fn)
            wide = scale.astype("f4")
        v = np.abs(y) / wide[..., None]
        v = np.where(wide[..., None] == 0, 0, v)
        sign = np.where(np.signbit(y) & ~np.isnan(v), 8, 0).astype("u1")
        code = np.where(np.isnan(v), 6, np.minimum(v, 6)).astype(ml_dtypes.float4_e2m1fn).view("u1") & 7 | sign
        code = code.reshape(x.shape)
        meant = (code.view(ml_dtypes.float4_e2m1fn).astype("f4").reshape(y.shape) * wide[..., None]).reshape(x.shape)
        return code[..., ::2] | code[..., 1::2] << 4, scale, t, meant


def floats(rng):
    """Arrays in rows of whole blocks, of any size of elements, with ties, and some with what is not finite."""
    shape = [int(rng.integers(1, 5)) for _ in range(int(rng.integers(0, 3)))] + [32 * int(rng.integers(1, 5))]
    x = rng.standard_normal(shape).astype("f4") * np.float32(10.0) ** rng.integers(-44, 38, shape[:-1] + [1])
    kind = rng.integers(6)
    if kind == 0:
        x = x * 0
    elif kind == 1:  # between the floats of four bits
        x = rng.integers(-28, 29, shape) / np.float32(4) * np.float32(2.0) ** rng.integers(-9, 9, shape[:-1] + [1])
    elif kind == 2:
        x[..., int(rng.integers(shape[-1]))] = rng.choice([np.nan, np.inf, -np.inf])
    elif kind == 3:
        x = np.clip(x, -6e4, 6e4)
    return x.astype([np.float32, np.float32, ml_dtypes.bfloat16, np.float64, np.float16 if kind == 3 else np.float32][int(rng.integers(5))])


def cases(rng):
    for i in range(60):
        x, scheme = floats(rng), str(rng.choice(["mxfp4", "nvfp4"]))
        q, scale, t, want = to_fp4(x.astype("f4"), scheme)
        blocks = q.reshape(scale.shape + (-1,))
        for op, args, to in [
            ("quantize_fp4", f'x, "{scheme}"', q), ("quantize_fp4", f'x, "{scheme} blocks"', blocks), ("quantize_fp4_scale", f'x, "{scheme}"', scale), ("quantize_fp4_global", "x", t)
        ]:  # fmt: skip
            expr = f"{op}({args})"
            if to.dtype == ml_dtypes.float8_e4m3fn:  # which npy files lack
                expr, to = f'astype({expr}, "float32")', to.astype("f4")
            yield {"op": op, "expr": expr, "in": {"x": x}, "want": to}
        yield {"op": "dequantize_fp4", "expr": f'dequantize_fp4(quantize_fp4(x, "{scheme}"), quantize_fp4_scale(x, "{scheme}"))', "in": {"x": x}, "want": want}
    for args, x in [('x, "mxfp8"', np.ones(32, "f4")), ('x, "nvfp4"', np.ones((2, 24), "f4")), ('x, "mxfp4"', np.ones(16, "f4")), ('x, "mxfp4"', np.ones(32, "i4")), ('x, "mxfp4"', np.ones((), "f4"))]:
        yield {"op": "quantize_fp4", "expr": f"quantize_fp4({args})", "in": {"x": x}, "error": True}
        yield {"op": "quantize_fp4_scale", "expr": f"quantize_fp4_scale({args})", "in": {"x": x}, "error": True}
    yield {"op": "quantize_fp4_global", "expr": "quantize_fp4_global(x)", "in": {"x": np.ones(3, "c8")}, "error": True}
    for i in range(50):
        q, scale, want = fp4(rng)
        yield {"op": "dequantize_fp4", "expr": "dequantize_fp4(q, s)", "in": {"q": q, "s": scale}, "want": want}
    for i in range(60):
        x = rng.standard_normal([int(rng.integers(1, 7)) for _ in range(int(rng.integers(1, 4)))]) * 10.0 ** rng.integers(-3, 4)
        x = x.astype([np.float32, np.float64, np.float16, ml_dtypes.bfloat16][int(rng.integers(4))])
        if rng.random() < 0.1:
            x = x * 0
        dtype, affine = str(rng.choice(["int8", "uint8"])), bool(rng.random() < 0.5)
        axis = block = None
        args = f'x, "{dtype}{" affine" if affine else ""}"'
        if rng.random() < 0.7:
            axis = int(rng.integers(-x.ndim, x.ndim))
            args += f", {axis}"
            if rng.random() < 0.5:
                n = x.shape[axis]
                block = int(rng.choice([b for b in range(1, n + 1) if n % b == 0]))
                args += f", {block}"
        q, scale, zero = quantize(x, dtype, affine, axis, block)
        for op, want in [("quantize", q), ("quantize_scale", scale), ("quantize_zero", zero)]:
            yield {"op": op, "expr": f"{op}({args})", "in": {"x": x}, "want": want}
        t = scale.dtype
        wide = np.kron(scale, np.ones([n // m for n, m in zip(x.shape, scale.shape)], t)).reshape(x.shape)
        points = np.kron(zero, np.ones([n // m for n, m in zip(x.shape, zero.shape)], zero.dtype)).reshape(x.shape)
        yield {"op": "dequantize", "expr": "dequantize(q, s, z)", "in": {"q": q, "s": scale, "z": zero}, "want": (q.astype(t) - points.astype(t)) * wide}
    x = rng.standard_normal((4, 6)).astype("f4")
    for args in ['x, "int4"', 'x, "int8", 2', 'x, "int8", 1, 4', 'x, "int8", 1, -2']:
        yield {"op": "quantize", "expr": f"quantize({args})", "in": {"x": x}, "error": True}
    yield {"op": "quantize", "expr": 'quantize(x, "int8")', "in": {"x": x.astype("i4")}, "error": True}
    yield {"op": "dequantize", "expr": "dequantize(q, s, z)", "in": {"q": np.zeros((4, 6), "i1"), "s": np.ones((3, 1), "f4"), "z": np.zeros((3, 1), "i1")}, "error": True}
