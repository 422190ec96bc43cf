"""Decompositions of tensors, in what is unique about them: reconstructions, norms of cores,
weights of rank one, vectors up to their sign. Against NumPy and TensorLy."""
import numpy as np
import tensorly as tl
from tensorly.decomposition import tucker as hooi

TYPES = ["float64", "float32", "int32", "int16", "uint8", "int64", "float16"]


def shape(rng, least=2):
    dims = int(rng.integers(2, 5))
    return [int(rng.integers(least, {2: 30, 3: 12, 4: 8}[dims])) for _ in range(dims)]


def floats(a):
    """The type that an array is decomposed in."""
    return np.dtype("f8") if a.dtype in ("f8", "i4", "u4", "i8", "u8") else np.dtype("f4")


def product(factors, weights):
    x = weights * factors[0]
    for f in factors[1:]:
        x = x[..., None, :] * f
    return x.sum(-1)


def low(rng, lengths, rank, positive=False):
    """A sum of rank-one tensors that are far from each other."""
    factors = [np.linalg.qr(rng.standard_normal((n, rank)))[0] if n >= rank else rng.standard_normal((n, rank)) for n in lengths]
    if positive:
        factors = [rng.random((n, rank)) + 0.1 for n in lengths]
    return product(factors, 10.0 * (1.5 + np.arange(rank)))


def along(x, m, u):
    return np.moveaxis(np.tensordot(u, np.moveaxis(x, m, 0), 1), 0, m)


def unfolded(x, m):
    return np.moveaxis(x, m, 0).reshape(x.shape[m], -1)


def steep(rng, lengths, dtype, decay=0.3):
    """A tensor whose singular values along each mode are far from each other."""
    x = rng.standard_normal(lengths)
    for m, n in enumerate(lengths):
        q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        x = along(x, m, q * decay ** np.arange(n))
    x *= 100 / np.max(np.abs(x))
    if np.dtype(dtype).kind in "iu":
        x = np.clip(np.round(x * 100) if dtype != "uint8" else np.round(np.abs(x) * 2), 0 if dtype == "uint8" else -30000, 30000)
    return x.astype(dtype)


def truncated(x, ranks, modes):
    """The core and the factors of the HOSVD, and how close the values that are cut off come."""
    core, factors, gap = x, [], np.inf
    for m, r in zip(modes, ranks):
        u, s, _ = np.linalg.svd(unfolded(x, m), full_matrices=False)
        if r < len(s):
            gap = min(gap, (s[r - 1] - s[r]) / s[0])
        gap = min(gap, s[r - 1] / s[0] if r < x.shape[m] else gap)
        factors.append(u[:, :r])
        core = along(core, m, u[:, :r].T)
    return core, factors, gap


def whole(core, factors, modes):
    for m, u in zip(modes, factors):
        core = along(core, m, u)
    return core


def ranked(rng, lengths):
    """Ranks that can be had together."""
    while True:
        ranks = [int(rng.integers(1, n + 1)) for n in lengths]
        if all(r * r <= np.prod(ranks) for r in ranks):
            return ranks


def case(op, expr, x, want, dtype, error):
    want = np.asarray(want)
    return {"op": op, "expr": expr, "in": {"x": x}, "want": want.astype(dtype), "atol": error * max(float(np.max(np.abs(want), initial=0)), 1e-3)}


def error(op, expr, **arrays):
    return {"op": op, "expr": expr, "in": arrays, "error": True}


def args(values):
    return ", ".join(map(str, values))


def eps(a):
    return 2e-5 if floats(a) == "f4" else 1e-10


def parallel(rng):
    for i in range(36):  # what has a low rank is found again
        lengths = shape(rng, 3)
        rank = int(rng.integers(1, 3))
        t = TYPES[i % len(TYPES)] if rank == 1 and i % 2 else ["float64", "float32"][i % 2]
        if np.dtype(t).kind in "iu":
            x = product([rng.integers(0, 4, (n, 1)).astype("f8") for n in lengths], 1.0)
            x.flat[0] += x.max() == 0
            if np.linalg.matrix_rank(unfolded(x, 0)) != 1 or np.max(x) > 250 and t == "uint8":
                continue
        else:
            x = low(rng, lengths, rank)
        x = x.astype(t)
        if t == "float16":
            continue
        start = ', "svd"' if rank > 1 else f', "seed={i}"'
        yield case("cp", f'cp(x, {rank}, "iterations=60", "tolerance=1e-10"{start})', x, x, "f8", 3e-5)
    for i in range(12):  # a matrix's best is that of its singular values
        m, n = int(rng.integers(3, 30)), int(rng.integers(3, 30))
        x = steep(rng, [m, n], ["float64", "float32", "int16"][i % 3], 0.5)
        u, s, vt = np.linalg.svd(x.astype("f8"), full_matrices=False)
        rank = int(rng.integers(1, min(3, len(s)) + 1))
        if len(s) > rank and s[rank - 1] < 1.5 * s[rank]:
            continue
        yield case("cp", f'cp(x, {rank}, "svd", "iterations=60", "tolerance=1e-10")', x, (u[:, :rank] * s[:rank]) @ vt[:rank], "f8", 2e-4)
        lost = np.sqrt(np.sum(s[rank:] ** 2) / np.sum(s**2))
        yield {"op": "cp", "expr": f'min(cp(x, {rank}, "svd", "iterations=60", "tolerance=1e-10", "errors"))', "in": {"x": x}, "want": np.float64(lost), "atol": 1e-5 if floats(x) == "f8" else 1e-3}
    for i in range(14):  # rank one has a weight and vectors of its own
        lengths = shape(rng, 1)
        t = ["float64", "float32", "int32", "uint8"][i % 4]
        vectors = [rng.integers(1, 4, n).astype("f8") * (1 if t == "uint8" or d else -1) for d, n in enumerate(lengths)]
        x = product([v[:, None] for v in vectors], 1.0)
        x = np.minimum(x, 250) if t == "uint8" and np.max(x) <= 250 else x
        if np.max(np.abs(x)) > 250 and t == "uint8":
            continue
        x = x.astype(t)
        yield case("cp", 'cp(x, 1, "iterations=9", "weights")', x, np.linalg.norm(x.astype("f8")).reshape(1), "f8", 1e-5)
        k = int(rng.integers(len(lengths)))
        v = vectors[k] / np.linalg.norm(vectors[k])
        yield case("cp", f'abs(cp(x, 1, "iterations=9", "factor={k}"))', x, np.abs(v)[:, None], "f8", 1e-5)
        yield {"op": "cp", "expr": 'min(cp(x, 1, "iterations=9", "errors")) < 1e-3', "in": {"x": x}, "want": np.bool_(True)}
    for i in range(8):  # of a non-negative rank one, too
        lengths = shape(rng)
        x = low(rng, lengths, 1, True).astype(["float64", "float32"][i % 2])
        yield case("cp", f'cp(x, 1, "nonnegative", "seed={i}", "iterations=60", "tolerance=1e-10")', x, x, "f8", 1e-4)
        yield {"op": "cp", "expr": f'min(cp(x, 2, "nonnegative", "iterations=5", "factor=0")) >= 0', "in": {"x": x}, "want": np.bool_(True)}
    x = low(rng, [5, 6, 7], 2)
    both = 'cp(x, 2, "svd", "iterations=30", "tolerance=0"'
    yield case("cp", f'cp(x * 2 - x, 2, "svd", "iterations=60", "tolerance=1e-10") - x', x, np.zeros(x.shape), "f8", 1e-1)
    yield case("cp", f'einsum("r,ir,jr,kr->ijk", {both}, "weights"), {both}, "factor=0"), {both}, "factor=1"), {both}, "factor=2"))', x, x, "f8", 1e-5)
    yield case("cp", f'sum(square({both}, "factor=1")), 0)', x, np.ones(2), "f8", 1e-9)
    yield from bad("cp", "cp(x, 2)", "cp(x{})", [", 0", ", -1", "", ', 2, "core"', ', 2, "factor=3"', ', 2, "factor=9"', ', 2, "iterations=0"', ', 2, "tolerance=x"',
                                                 ', 2, "seed=-4"', ', 2, "svg"', ', 2, 2, 2', ', 2, "weights", "errors"', ', 1.5', ', 2, "svd", 3', ', 2, "modes=0"'])


def bad(op, plain, form, wrong):
    """What has no decomposition, and words that say none."""
    nan, inf = np.ones((4, 4, 4)), np.ones((4, 4, 4), "f4")
    nan[1, 2, 3], inf[0, 0, 0] = np.nan, np.inf
    for x in [nan, inf, nan.astype("f4"), np.zeros((4, 4, 4)), np.ones((4, 4, 4), "c16"), np.ones((4, 4, 4), "c8"), np.ones((4, 4, 4), bool), np.ones((0, 4, 4)), np.ones(4), np.float64(3)]:
        yield error(op, plain, x=x)
    for text in wrong:
        yield error(op, form.format(text), x=np.arange(64.0).reshape(4, 4, 4))


TUCKER = [", 2, 2", ", 2, 2, 2, 2", ", 5, 2, 2", ", 0, 2, 2", ", -1, 2, 2", "", ', "core"', ', 2, 2, 2, "weights"', ', 2, 2, 2, "factor=3"', ', 2, "modes=3"', ', 2, "modes=-1"',
          ', 2, 2, "modes=1,1"', ', 2, "modes=0,1"', ', 2, "modes="', ', 2, "modes=a"', ', 2, 2, 2, "core", "errors"', ', 2, 2, 2.5', ', 2, 2, 2, "svd"', ', 2, 2, 2, "nonnegative"', ', 2, "modes=1", "factor=1"']


def higher(rng):
    for i in range(26):
        t = TYPES[i % len(TYPES)]
        lengths = shape(rng)
        x = steep(rng, lengths, t)
        w, f = x.astype("f8"), floats(x)
        if not w.any():
            continue
        if i % 5 == 0:  # nothing is cut off
            if all(n * n <= np.prod(lengths) for n in lengths):
                for op in ["hosvd", "tucker"]:
                    yield case(op, f"{op}(x, {args(lengths)})", x, w, f, eps(x))
                    yield {"op": op, "expr": f'max({op}(x, {args(lengths)}, "errors"))  < 0.002', "in": {"x": x}, "want": np.bool_(True)}
            continue
        modes = list(range(len(lengths)))
        named = ""
        if i % 3 == 0:
            modes = [int(m) for m in rng.permutation(len(lengths))[: int(rng.integers(1, len(lengths) + 1))]]
            named = f', "modes={",".join(map(str, modes))}"'
        by = {m: r for m, r in zip(range(len(lengths)), ranked(rng, lengths))}
        ranks = [min(by[m], 3) for m in modes]
        shorter = [ranks[modes.index(m)] if m in modes else n for m, n in enumerate(lengths)]
        if any(r * r > np.prod(shorter) for m, r in enumerate(shorter) if m in modes):
            continue
        core, factors, gap = truncated(w, ranks, modes)
        if gap < 3e-3:
            continue
        more = 1e-3 / gap * (1 if f == "f4" else 1e-6)
        how = f"{args(ranks)}{named}"
        yield case("hosvd", f"hosvd(x, {how})", x, whole(core, factors, modes), f, more)
        yield case("hosvd", f'norm(hosvd(x, {how}, "core"))', x, np.linalg.norm(core), f, more)
        yield case("hosvd", f'abs(hosvd(x, {how}, "core"))', x, np.abs(core), f, more) if separate(w, ranks, modes) else case(
            "hosvd", f'sum(square(hosvd(x, {how}, "core")))', x, np.sum(core**2), f, more)
        k = int(rng.integers(len(modes)))
        if separate(w, ranks, modes):
            yield case("hosvd", f'abs(hosvd(x, {how}, "factor={k}"))', x, np.abs(factors[k]), "f8", more)
        u = f'hosvd(x, {how}, "factor={k}")'
        yield case("hosvd", f"matmul(transpose({u}), {u})", x, np.eye(ranks[k]), "f8", 1e-6)
        lost = np.sqrt(max(np.sum(w * w) - np.sum(core * core), 0)) / np.linalg.norm(w)
        yield {"op": "hosvd", "expr": f'hosvd(x, {how}, "errors")', "in": {"x": x}, "want": np.array([lost]), "atol": 1e-7 if f == "f8" else 2e-3}
        best, us = hooi(tl.tensor(w), rank=shorter, n_iter_max=300, tol=1e-12, random_state=0) if not named else (None, None)
        if best is None:
            continue
        best = tl.to_numpy(best)
        full = whole(best, us, range(len(lengths)))
        exact = 'tucker(x, %s, "tolerance=1e-11", "iterations=30"' % how
        yield case("tucker", f"{exact})", x, full, f, more * 3)
        yield case("tucker", f'norm({exact}, "core"))', x, np.linalg.norm(best), f, more)
        lost = np.linalg.norm(w - full) / np.linalg.norm(w)
        yield {"op": "tucker", "expr": f'min({exact}, "errors"))', "in": {"x": x}, "want": np.float64(lost), "atol": 1e-6 if f == "f8" else 2e-3}
        u = f'{exact}, "factor={k}")'
        yield case("tucker", f"matmul(transpose({u}), {u})", x, np.eye(ranks[k]), "f8", 1e-6)
    for i in range(24):  # what has low ranks is found again
        lengths = shape(rng, 3)
        ranks = [min(r, 3) for r in ranked(rng, lengths)]
        if any(r * r > np.prod(ranks) for r in ranks):
            continue
        x = rng.standard_normal(ranks)
        for m, n in enumerate(lengths):
            x = along(x, m, np.linalg.qr(rng.standard_normal((n, ranks[m])))[0])
        x = x.astype(["float64", "float32"][i % 2])
        op = ["tucker", "hosvd"][i // 2 % 2]
        yield case(op, f'{op}(x, {args(ranks)}, "seed={i}")', x, x, x.dtype, eps(x))
        u = [f'{op}(x, {args(ranks)}, "factor={m}")' for m in range(len(lengths))]
        a, b = "ijkl"[: len(lengths)], "abcd"[: len(lengths)]
        text = ",".join([b, *(i + j for i, j in zip(a, b))]) + "->" + a
        yield case(op, f'einsum("{text}", {op}(x, {args(ranks)}, "core"), {", ".join(u)})', x, x, "f8", eps(x))
    for op in ["tucker", "hosvd"]:
        yield from bad(op, f"{op}(x, 2, 2, 2)", op + "(x{})", TUCKER)
        x = steep(rng, [6, 7, 8], "float64")
        k, (u,), _ = truncated(x, [2], [1])
        yield case(op, f'{op}(x, 2, "modes=1")', x, along(k, 1, u), "f8", 1e-9)
        yield case(op, f'abs({op}(x, 2, "modes=1", "factor=0"))', x, np.abs(u), "f8", 1e-8)
        yield case(op, f'{op}(slice(x, "1:5, ::2") + 0, 3, 3, 3)', x, whole(*truncated(x[1:5, ::2], [3, 3, 3], range(3))[:2], range(3)), "f8", 1e-8) if op == "hosvd" else case(
            op, f'tucker(transpose(x), 8, 7, 6)', x, x.T, "f8", 1e-9)
    x = steep(rng, [9, 7, 8], "float64")  # a rank above the product of the others
    best, us = hooi(tl.tensor(x), rank=[6, 2, 2], n_iter_max=300, tol=1e-12, random_state=0)
    yield case("tucker", 'tucker(x, 6, 2, 2, "tolerance=1e-11", "iterations=100")', x, whole(tl.to_numpy(best), us, range(3)), "f8", 1e-5)
    yield case("tucker", 'matmul(transpose(tucker(x, 6, 2, 2, "factor=0")), tucker(x, 6, 2, 2, "factor=0"))', x, np.eye(6), "f8", 1e-9)
    yield case("hosvd", "hosvd(x, 6, 2, 2)", x, whole(*truncated(x, [6, 2, 2], range(3))[:2], range(3)), "f8", 1e-8)
    x = steep(rng, [4, 4, 4], "float64")
    best, us = hooi(tl.tensor(x), rank=[4, 1, 2], n_iter_max=300, tol=1e-12, random_state=0)
    yield case("tucker", 'tucker(x, 4, 1, 2, "tolerance=1e-11", "iterations=100")', x, whole(tl.to_numpy(best), us, range(3)), "f8", 1e-5)
    yield error("hosvd", 'hosvd(x, 2, 2, 2, "iterations=3")', x=np.arange(64.0).reshape(4, 4, 4))
    yield error("tucker", 'tucker(x, 2, 2, 2, "iterations=-3")', x=np.arange(64.0).reshape(4, 4, 4))


def separate(w, ranks, modes):
    """Whether each vector is unique but for its sign."""
    for m, r in zip(modes, ranks):
        s = np.linalg.svd(unfolded(w, m), compute_uv=False)
        if np.min(-np.diff(s[: r + 1]), initial=np.inf) < 0.02 * s[0]:
            return False
    return True


def cases(rng):
    yield from parallel(rng)
    yield from higher(rng)
