"""Factorizations and what is solved with them, against NumPy and SciPy in double precision."""
import numpy as np
import scipy.linalg

TYPES = ["float64", "float32", "int32", "uint8", "int64"]


def matrix(rng, shape, dtype="float64"):
    d = np.dtype(dtype)
    if d.kind in "iu":
        return rng.integers(0 if d.kind == "u" else -9, 10, shape).astype(d)
    return rng.standard_normal(shape).astype(d)


def stack(rng):
    return [int(rng.integers(1, 4)) for _ in range(int(rng.choice([0, 0, 0, 1, 2])))]


def pick(rng, options=TYPES):
    return options[int(rng.integers(len(options)))]


def size(rng, most=12):
    return 1 if rng.random() < 0.1 else int(rng.integers(2, 90)) if rng.random() < 0.15 else int(rng.integers(2, most))


def tall(rng):
    m, n = sorted([size(rng), size(rng)], reverse=True)
    return m, n


def result(*arrays):
    return np.dtype("f4") if all(a.dtype == "f4" for a in arrays) else np.dtype("f8")


def condition(a):
    s = np.linalg.svd(a.astype("f8"), compute_uv=False)
    return float(np.max(np.where(s[..., -1:] > 0, s[..., :1] / s[..., -1:], 1e300), initial=1))


def case(op, expr, arrays, want, growth=1.0, dtype=None):
    """An error of a few roundings of the largest element, times how much the problem lets them grow."""
    dtype = dtype or result(*arrays.values())
    want = np.asarray(want)
    largest = float(np.max(np.abs(want), initial=0))
    atol = 200 * 2.0**-52 * min(growth, 1e12) * max(largest, 1)
    if dtype == "f4":
        atol += 2 * 2.0**-23 * largest
    return {"op": op, "expr": expr, "in": arrays, "want": want.astype(dtype), "atol": atol}


def error(op, expr, **arrays):
    return {"op": op, "expr": expr, "in": arrays, "error": True}


def signs(vt):
    """The signs for which the largest element of each row is positive."""
    at = np.argmax(np.abs(vt), axis=-1)[..., None]
    return np.sign(np.take_along_axis(vt, at, -1))


def definite(rng, n, dtype, before=()):
    a = matrix(rng, [*before, n, n + 3])
    a = a @ np.swapaxes(a, -1, -2) + 0.5 * np.eye(n)
    if np.dtype(dtype).kind in "iu":
        a = np.rint(a * 2) + 40 * np.eye(n)
        a = np.clip(a, 0 if dtype == "uint8" else -1e9, 250)
        a += np.eye(n) * np.sum(np.abs(a), axis=-1, keepdims=True) * (dtype != "uint8")
        if dtype == "uint8":
            a = np.broadcast_to(np.eye(n) * 7, a.shape)
    return a.astype(dtype)


def bad(op, args=""):
    nan = np.eye(4)
    nan[2, 1] = np.nan
    inf = np.eye(4)
    inf[3, 3] = np.inf
    yield error(op, f"{op}(x{args})", x=nan)
    yield error(op, f"{op}(x{args})", x=inf)
    yield error(op, f"{op}(x{args})", x=np.ones(3))
    yield error(op, f"{op}(x{args})", x=np.eye(3, dtype="f2"))


def squares(rng):
    for _ in range(52):
        before, n = stack(rng), size(rng)
        a = matrix(rng, [*before, n, n], pick(rng))
        w = a.astype("f8")
        c = condition(a)
        yield case("det", "det(x)", {"x": a}, np.linalg.det(w), c)
        for part, want in zip(["sign", "logabsdet"], np.linalg.slogdet(w)):
            if part == "sign" and not (want == 0).any():
                yield case("slogdet", f'slogdet(x, "{part}")', {"x": a}, want)
            if part == "logabsdet" and np.isfinite(want).all():
                yield case("slogdet", f'slogdet(x, "{part}")', {"x": a}, want, c)
        while c > 1e9:
            a = matrix(rng, [*before, n, n], pick(rng))
            c = condition(a)
        w = a.astype("f8")
        yield case("inv", "inv(x)", {"x": a}, np.linalg.inv(w), c)
        k = size(rng, 6)
        other = [] if rng.random() < 0.3 else [1] * (len(before) - 1) + before[-1:] if rng.random() < 0.5 else before
        b = matrix(rng, [n] if rng.random() < 0.3 else [*other, n, k], pick(rng))
        yield case("solve", "solve(a, b)", {"a": a, "b": b}, np.linalg.solve(w, b.astype("f8")), c)
    for op in ["det", "inv", "slogdet", "solve", "eigh", "eigvalsh", "cholesky"]:
        args = {"slogdet": ', "sign"', "eigh": ', "values"', "solve": ", slice(x, \":, 0\")"}.get(op, "")
        yield from bad(op, args)
        yield error(op, f"{op}(x{args})", x=np.ones((2, 3)))
    for x in [np.zeros((3, 3)), np.ones((2, 4, 4)), np.arange(9.0).reshape(3, 3), np.diag([1, 1e-17, 1]), np.eye(5)[[0, 1, 2, 3, 3]]]:
        yield error("inv", "inv(x)", x=x)
        yield error("solve", "solve(x, x)", x=x)
        yield error("cholesky", "cholesky(x - 1)", x=x)
    yield error("solve", "solve(a, b)", a=np.eye(3), b=np.ones(2))
    yield error("solve", "solve(a, b)", a=np.eye(3), b=np.float64(2))
    yield error("solve", "solve(a, b)", a=np.stack([np.eye(3)] * 2), b=np.ones((3, 3, 1)))
    yield error("solve", 'solve(a, b, "general")', a=np.eye(3), b=np.ones(3))
    yield error("slogdet", "slogdet(x)", x=np.eye(3))
    yield case("det", "det(x)", {"x": np.arange(9.0).reshape(3, 3)}, 0.0)
    yield {"op": "det", "expr": "det(x)", "in": {"x": np.zeros((4, 4))}, "want": np.float64(0)}
    yield case("inv", "inv(x)", {"x": (a := matrix(rng, [300, 300]))}, np.linalg.inv(a), condition(a))
    yield case("solve", "solve(x, y)", {"x": a, "y": (b := matrix(rng, [300, 70]))}, np.linalg.solve(a, b), condition(a))


def symmetric(rng):
    for i in range(52):
        before, n = stack(rng), size(rng, 20)
        a = matrix(rng, [*before, n, n])
        a = np.rint(a * 20) if i % 3 == 0 else a
        a = a + np.swapaxes(a, -1, -2)
        a = a.astype("f4") if i % 4 == 1 else a.astype("i4") if i % 3 == 0 else a
        values, vectors = np.linalg.eigh(a.astype("f8"))
        lower = np.tril(a) + (np.triu(a, 1) * 3).astype(a.dtype)  # only the lower triangle counts
        growth = max(1, n)
        yield case("eigvalsh", "eigvalsh(x)", {"x": lower}, values, growth)
        yield case("eigh", 'eigh(x, "values")', {"x": lower}, values, growth)
        gap = float(np.min(np.diff(values, axis=-1), initial=np.inf)) / float(np.max(np.abs(values), initial=1))
        if gap > 1e-5:
            vt = np.swapaxes(vectors, -1, -2)
            yield case("eigh", 'eigh(x, "vectors")', {"x": lower}, np.swapaxes(vt * signs(vt), -1, -2), growth / gap)
    yield error("eigh", "eigh(x)", x=np.eye(3))
    yield case("eigvalsh", "eigvalsh(x)", {"x": np.zeros((3, 3))}, np.zeros(3))
    for i in range(60):
        before, n = stack(rng), size(rng, 20)
        dtype = pick(rng)
        a = definite(rng, n, dtype, before)
        w = a.astype("f8")
        lower = a.copy()
        lower[..., np.triu_indices(n, 1)[0], np.triu_indices(n, 1)[1]] = 1  # the other is not read
        yield case("cholesky", "cholesky(x)", {"x": lower}, np.linalg.cholesky(w), condition(a))
        if not before:
            b = matrix(rng, [n] if rng.random() < 0.3 else [n, size(rng, 6)], pick(rng))
            yield case("solve", 'solve(a, b, "pos")', {"a": lower, "b": b}, np.linalg.solve(w, b.astype("f8")), condition(a))
    yield error("cholesky", "cholesky(x)", x=np.diag([1.0, 2, 0, 1]))
    yield error("cholesky", "cholesky(x)", x=np.array([[1.0, 2], [2, 1]]))
    yield error("solve", 'solve(x, x, "pos")', x=-np.eye(3))
    yield case("cholesky", "cholesky(x)", {"x": (a := definite(rng, 300, "f8"))}, np.linalg.cholesky(a), condition(a))


def triangles(rng):
    for i in range(52):
        n, k = size(rng, 40), size(rng, 6)
        a = matrix(rng, [n, n], pick(rng, ["float64", "float32"]))
        a[np.arange(n), np.arange(n)] = np.sign(matrix(rng, [n]) + 0.1) * (n + 1)
        b = matrix(rng, [n] if i % 4 == 0 else [n, k], pick(rng))
        lower = i % 2 == 0
        form = ', "lower"' if lower else "" if i % 3 else ', "upper"'
        want = scipy.linalg.solve_triangular(a.astype("f8"), b.astype("f8"), lower=lower)
        yield case("solve_triangular", f"solve_triangular(a, b{form})", {"a": a, "b": b}, want)
    yield error("solve_triangular", "solve_triangular(a, b)", a=np.diag([1.0, 0, 2]), b=np.ones(3))
    yield error("solve_triangular", "solve_triangular(a, b)", a=np.ones((2, 3)), b=np.ones(3))
    yield error("solve_triangular", "solve_triangular(a, b)", a=np.ones((3, 3)), b=np.ones(2))
    yield error("solve_triangular", 'solve_triangular(a, b, "left")', a=np.ones((3, 3)), b=np.ones(3))


def orthogonal(rng):
    for i in range(60):
        before, m, n = stack(rng), size(rng, 30), size(rng)
        a = matrix(rng, [*before, m, n], pick(rng))
        w = a.astype("f8")
        k = min(m, n)
        lead = w[..., :k]
        if condition(lead) < 1e6:
            q, r = np.linalg.qr(w)
            s = np.where(np.diagonal(r, axis1=-2, axis2=-1) < 0, -1, 1)
            yield case("qr", 'qr(x, "q")', {"x": a}, q * s[..., None, :], condition(lead))
            yield case("qr", 'qr(x, "r")', {"x": a}, r * s[..., None], condition(lead))
        if i % 5 == 0:  # dependent columns
            a[..., -1] = a[..., 0]
            w = a.astype("f8")
        if result(a) == "f8":
            yield case("qr", 'matmul(qr(x, "q"), qr(x, "r"))', {"x": a}, w)
            turned = ", ".join(map(str, [*range(len(before)), len(before) + 1, len(before)]))
            yield case("qr", f'matmul(transpose(qr(x, "q"), {turned}), qr(x, "q"))', {"x": a}, np.broadcast_to(np.eye(k), [*before, k, k]))
    yield from bad("qr", ', "r"')
    yield error("qr", "qr(x)", x=np.eye(3))
    yield case("qr", 'qr(x, "r")', {"x": np.ones((0, 3))}, np.ones((0, 3)))
    a = matrix(rng, [3000, 20])
    q, r = np.linalg.qr(a)
    yield case("qr", 'qr(x, "r")', {"x": a}, r * np.sign(np.diagonal(r))[:, None])


def singular(rng):
    for i in range(90):
        before, m, n = stack(rng), size(rng, 30), size(rng)
        a = matrix(rng, [*before, m, n], pick(rng))
        if i % 7 == 0:
            a[..., -1] = a[..., 0]
        w = a.astype("f8")
        u, s, vt = np.linalg.svd(w, full_matrices=False)
        yield case("svdvals", "svdvals(x)", {"x": a}, s)
        yield case("svd", 'svd(x, "s")', {"x": a}, s)
        gap = np.min(np.abs(np.diff(s, axis=-1)), initial=np.inf) / np.max(s)
        gap = min(gap, float(np.min(s)) / float(np.max(s)))
        if gap > 1e-4:
            f = signs(vt) if m >= n else signs(np.swapaxes(u, -1, -2))
            yield case("svd", 'svd(x, "vt")', {"x": a}, vt * f, 1 / gap)
            yield case("svd", 'svd(x, "u")', {"x": a}, u * np.swapaxes(f, -1, -2), 1 / gap)
        if result(a) == "f8":
            yield case("svd", 'matmul(svd(x, "u") * expand_dims(svd(x, "s"), %d), svd(x, "vt"))' % len(before), {"x": a}, w)
        if not before:
            dim = max(m, n)
            eps = np.finfo("f8").eps  # in which it is computed, as NumPy's lstsq
            limit = "" if i % 3 else f", {0.2 + 0.1 * (i % 4)}"
            rcond = dim * eps if not limit else float(limit[2:])
            if np.all(np.abs(s / s[0] - rcond) > 1e-6 * (result(a) == "f4") + 1e-13):
                want = np.linalg.pinv(w, rcond=rcond)
                yield case("pinv", f"pinv(x{limit})", {"x": a}, want, 1 / float(np.min(s[s > rcond * s[0]])) * float(s[0]))
                b = matrix(rng, [m] if rng.random() < 0.4 else [m, size(rng, 5)], pick(rng))
                x = np.linalg.lstsq(w, b.astype("f8"), rcond=rcond)[0]
                c = (float(s[0]) / float(np.min(s[s > rcond * s[0]]))) ** 2
                yield case("lstsq", f"lstsq(a, b{limit})", {"a": a, "b": b}, x, c)
        rcond = max(m, n) * np.finfo(result(a)).eps if i % 2 else 0.3
        if np.all(np.abs(s / np.max(s, axis=-1, keepdims=True) - rcond) > 1e-9):
            rank = np.count_nonzero(s > rcond * s[..., :1], axis=-1)
            yield {"op": "matrix_rank", "expr": "matrix_rank(x)" if i % 2 else "matrix_rank(x, 0.3)", "in": {"x": a}, "want": np.asarray(rank)}
        if np.min(s) > 1e-6 * np.max(s):
            yield case("cond", "cond(x)", {"x": a}, np.linalg.cond(w), condition(a))
    for op in ["svdvals", "pinv", "matrix_rank", "cond"]:
        yield from bad(op)
    yield from bad("svd", ', "s"')
    nan = np.eye(4)
    nan[1, 2] = np.nan
    yield error("lstsq", "lstsq(a, b)", a=nan, b=np.ones(4))
    yield error("lstsq", "lstsq(a, b)", a=np.eye(4), b=nan)
    yield error("lstsq", "lstsq(a, b)", a=np.eye(4), b=np.ones(3))
    yield error("lstsq", "lstsq(a, b)", a=np.ones(4), b=np.ones(4))
    yield error("lstsq", "lstsq(a, b, 2)", a=np.eye(4), b=np.ones(4))
    yield case("lstsq", "lstsq(a, b)", {"a": np.ones((3, 0)), "b": np.ones(3)}, np.ones(0))
    yield error("pinv", "pinv(x, 1)", x=np.eye(3))
    yield error("svd", "svd(x)", x=np.eye(3))
    for _ in range(24):
        n = size(rng, 20)
        a = matrix(rng, [n, n], pick(rng))
        c = condition(a)
        if c > 1e7:
            continue
        for text, p in [("1", 1), ("-1", -1), ("inf", np.inf), ("-inf", -np.inf), ('"fro"', "fro"), ("2", 2), ("-2", -2)][:: int(rng.integers(1, 3))]:
            yield case("cond", f"cond(x, {text})", {"x": a}, np.linalg.cond(a.astype("f8"), p), c)
    yield {"op": "cond", "expr": "cond(x)", "in": {"x": np.zeros((4, 3))}, "want": np.float64(np.inf)}
    a = matrix(rng, [2000, 12]) * np.logspace(0, -9, 12)
    yield case("svdvals", "svdvals(x)", {"x": a}, np.linalg.svd(a, compute_uv=False))
    a = matrix(rng, [120, 120])
    yield case("svdvals", "svdvals(x)", {"x": a}, np.linalg.svd(a, compute_uv=False))
    # Of matrices of low rank, the approximation is exact.
    for i in range(52):
        m, n = int(rng.integers(20, 200)), int(rng.integers(20, 60))
        m, n = (m, n) if i % 3 else (n, m)
        rank = int(rng.integers(1, 9))
        u, v = np.linalg.qr(matrix(rng, [m, rank]))[0], np.linalg.qr(matrix(rng, [n, rank]))[0]
        s = np.sort(rng.random(rank) + 0.5)[::-1] * 10
        a = (u * s) @ v.T
        k = int(rng.integers(1, rank + 1))
        iterations = ["", ", 1", ", 3, 7"][i % 3]
        yield case("randomized_svd", f'randomized_svd(x, {k}{iterations}, "s")', {"x": a}, s[:k], 100)
        if k == rank:
            whole = f'randomized_svd(x, {k}{iterations}, '
            yield case("randomized_svd", f'matmul({whole}"u") * {whole}"s"), {whole}"vt"))', {"x": a}, a, 100)
    yield error("randomized_svd", 'randomized_svd(x, 0, "s")', x=np.eye(4))
    yield error("randomized_svd", 'randomized_svd(x, 5, "s")', x=np.eye(4))
    yield error("randomized_svd", 'randomized_svd(x, 2, -1, "s")', x=np.eye(4))
    yield error("randomized_svd", "randomized_svd(x, 2, 1)", x=np.eye(4))


def norms(rng):
    def numpy(a, *args, **kw):
        return np.linalg.norm(a.astype("c16" if a.dtype.kind == "c" else "f8"), *args, **kw)

    def dtype(a):
        return np.linalg.norm(a.ravel()).dtype

    every = TYPES + ["float16", "complex64", "complex128"]
    orders = [("1", 1), ("2", 2), ("0", 0), ("inf", np.inf), ("-inf", -np.inf), ("3", 3), ("0.5", 0.5), ("-1", -1)]
    for i in range(60):
        dims = int(rng.integers(1, 4))
        shape = [int(rng.integers(1, 9)) for _ in range(dims)]
        t = pick(rng, every)
        a = matrix(rng, shape, "float64" if t.startswith("complex") else t)
        if t.startswith("complex"):
            a = (a + 1j * matrix(rng, shape)).astype(t)
        a[a == 0] = 1
        yield case("norm", "norm(x)", {"x": a}, numpy(a), dtype=dtype(a)) | {"rtol": 1e-3 if t == "float16" else 0}
        axis = int(rng.integers(-dims, dims))
        text, p = orders[i % len(orders)]
        yield case("norm", f"norm(x, {text}, {axis})", {"x": a}, numpy(a, p, axis), dtype=dtype(a)) | {"rtol": 1e-3 if t == "float16" else 0}
        if dims > 1:
            axes = [int(x) for x in rng.permutation(dims)[:2]]
            forms = [("1", 1), ("-1", -1), ("inf", np.inf), ("-inf", -np.inf), ('"fro"', "fro")]
            if t in TYPES:
                forms += [("2", 2), ("-2", -2), ('"nuc"', "nuc")]
            for text, p in forms[i % 2 :: 2]:
                yield case("norm", f"norm(x, {text}, {axes[0]}, {axes[1]})", {"x": a}, numpy(a, p, tuple(axes)), 10, dtype=dtype(a)) | {"rtol": 1e-3 if t == "float16" else 0}
    x = np.ones((2, 3, 4))
    for args in ["1", "2, 0, 0", "1, 3", '"fro", 0', '"other", 0, 1', "3, 0, 1", "1, 0, 1, 2"]:
        yield error("norm", f"norm(x, {args})", x=x)


def powers(rng):
    for i in range(54):
        before, n = stack(rng), size(rng, 8)
        a = matrix(rng, [*before, n, n], pick(rng, TYPES + ["complex128", "bool"]))
        p = [0, 1, 2, 3, 5, 8, -1, -2, -3][i % 9]
        if p < 0:
            if a.dtype.kind in "bc" or condition(a) > 1e4:
                a = definite(rng, n, "float64", before)
            yield case("matrix_power", f"matrix_power(x, {p})", {"x": a}, np.linalg.matrix_power(a.astype("f8"), p), condition(a) ** -p)
            continue
        want = np.linalg.matrix_power(a, p)
        wide = np.linalg.matrix_power(a.astype("f8"), p) if a.dtype == "f4" else want
        atol = 0 if a.dtype.kind in "biu" else 100 * float(np.finfo(a.real.dtype).eps) * float(np.max(np.linalg.matrix_power(np.abs(a), p), initial=1))
        yield {"op": "matrix_power", "expr": f"matrix_power(x, {p})", "in": {"x": a}, "want": wide.astype(want.dtype), "atol": atol}
    yield error("matrix_power", "matrix_power(x, 2)", x=np.ones((2, 3)))
    yield error("matrix_power", "matrix_power(x, -1)", x=np.ones((2, 2)))


def triangular(rng):
    for i in range(56):
        m, n = (size(rng), size(rng)) if i % 3 else (size(rng),) * 2
        a = matrix(rng, [*stack(rng), m, n], pick(rng))
        for part, want in zip("plu", scipy.linalg.lu(a.astype("f8"))):
            yield case("lu", f'lu(x, "{part}")', {"x": a}, want, condition(a[..., : min(m, n), : min(m, n)]) if part != "p" else 1)
    a = matrix(rng, (300, 300))
    for part, want in zip("plu", scipy.linalg.lu(a)):
        yield case("lu", f'lu(x, "{part}")', {"x": a}, want, condition(a))
    yield case("lu", 'matmul(lu(x, "p"), matmul(lu(x, "l"), lu(x, "u")))', {"x": np.ones((5, 4))}, np.ones((5, 4)))
    yield case("lu", 'lu(x, "u")', {"x": np.ones((0, 4))}, np.ones((0, 4)))
    for name in ("l", "u"):
        yield from bad("lu", f', "{name}"')
    yield error("lu", 'lu(x, "q")', x=np.eye(3))


def whole_bases(rng):
    for i in range(20):
        m, n = size(rng), size(rng)
        k = min(m, n)
        a = matrix(rng, (m, n), pick(rng))
        if i % 5 == 0:
            a[:, -1] = a[:, 0]  # of a lower rank
        u, vt = 'svd(x, "u", "full")', 'svd(x, "vt", "full")'
        yield case("svd", f"matmul({u}, transpose({u}))", {"x": a}, np.eye(m))
        yield case("svd", f"matmul({vt}, transpose({vt}))", {"x": a}, np.eye(n))
        yield case("svd", 'svd(x, "s", "full")', {"x": a}, np.linalg.svd(a.astype("f8"), compute_uv=False), 10)
        yield case("svd", f'matmul(slice({u}, ":, :{k}") * svd(x, "s", "full"), slice({vt}, ":{k}"))', {"x": a}, a.astype("f8"), 10)
    x = matrix(rng, (2, 5, 3))
    yield case("svd", 'matmul(svd(x, "u", "full"), matrix_transpose(svd(x, "u", "full")))', {"x": x}, np.broadcast_to(np.eye(5), (2, 5, 5)))
    yield error("svd", 'svd(x, "full")', x=np.eye(3))


def stacks(rng):
    for i in range(60):
        before = [(3,), (2, 2), (1,), (4,)][i % 4]
        m, n = size(rng, 8), size(rng, 8)
        a = matrix(rng, (*before, m, n), ["float64", "float32", "complex128", "int32", "complex64"][i % 5])
        if i % 6 == 0 and min(m, n) > 1:  # of a lower rank
            a[0] = a[0, ..., :, :1] * np.ones(n, a.dtype) if len(before) == 1 else a[0]
        wide = a.astype("c16" if a.dtype.kind == "c" else "f8")
        s = np.linalg.svd(wide, compute_uv=False)
        kept = np.where(s > 1e-9 * s[..., :1], s, np.inf).min(-1, initial=np.inf)
        c = float(np.max(s[..., 0] / kept))
        t = np.dtype(a.dtype if a.dtype.kind == "c" else result(a))
        loose = 2e-5 * c if t.char in "fF" else 0

        def of(name, expr, arrays, want):
            made = case(name, expr, arrays, want, c, t)
            return made | {"atol": made["atol"] + loose * float(np.abs(want).max(initial=1))}

        yield of("pinv", "pinv(x, 1e-9)", {"x": a}, np.linalg.pinv(wide, rcond=1e-9))
        vector = i % 5 == 0
        b = matrix(rng, (m,) if vector else (*(before if i % 2 else before[-1:]), m, size(rng, 5)), a.dtype)
        each = np.broadcast_to(b[:, None] if vector else b, (*before, m, 1 if vector else b.shape[-1]))
        x = np.stack([np.linalg.lstsq(p, q.astype(wide.dtype), rcond=1e-9)[0] for p, q in zip(wide.reshape(-1, m, n), each.reshape(-1, m, each.shape[-1]))])
        x = x.reshape(*before, n, -1)
        if c < 1e6:
            yield of("lstsq", "lstsq(a, b, 1e-9)", {"a": a, "b": b}, x[..., 0] if vector else x)
    a = matrix(rng, (3, 4, 5))
    for bad_ in ("lstsq(a, slice(a, \":2\"))", "lstsq(a, matrix_transpose(a))", "lstsq(a, 1)", "pinv(a, 1)", "lstsq(a, a, 1)", "pinv(a * nan)"):
        yield error(bad_[: bad_.index("(")], bad_, a=a)
    yield case("pinv", "pinv(x)", {"x": np.ones((2, 0, 3))}, np.ones((2, 3, 0)))
    yield case("pinv", "pinv(x)", {"x": np.ones((0, 2, 3), "f4")}, np.ones((0, 3, 2)))


def tensors(rng):
    for i in range(60):
        k = int(rng.integers(2, 7))
        lengths = [size(rng, 7) for _ in range(k + 1)]
        arrays = {chr(97 + j): matrix(rng, (lengths[j], lengths[j + 1]), pick(rng, ["float64", "int64", "float32"]) if i % 3 else "complex128") for j in range(k)}
        if i % 4 == 1:
            arrays["a"] = arrays["a"][0]
        if i % 5 == 1:
            arrays[chr(96 + k)] = arrays[chr(96 + k)][:, 0]
        want = np.linalg.multi_dot(list(arrays.values()))
        wide = [np.abs(x).astype("f8") for x in arrays.values()]
        eps = 0 if want.dtype.kind == "i" else 50 * float(np.finfo(want.dtype).eps if all(x.dtype != "f4" for x in arrays.values()) else 2.0**-23)
        yield {"op": "multi_dot", "expr": f"multi_dot({', '.join(arrays)})", "in": arrays, "want": want, "atol": eps * float(np.max(np.linalg.multi_dot(wide)))}
    a = matrix(rng, (3, 4))
    for bad_ in ("multi_dot(a)", "multi_dot(a, a)", "multi_dot(a, reshape(a, 4, 3, 1), a)", "multi_dot(a, slice(a, \":, 0\"))", "multi_dot(a, slice(a, \"0\"), a)", "multi_dot(1, a)"):
        yield error("multi_dot", bad_, a=a)
    for i in range(60):
        of = [[(2, 3), (6,)], [(6,), (3, 2)], [(4,), (2, 2)], [(2, 2, 2), (4, 2)], [(5,), (5,)], [(3, 4), (2, 6)]][i % 6]
        a, b = matrix(rng, of[0] + of[1], pick(rng)), matrix(rng, of[0], pick(rng))
        n = b.size
        c = condition(a.reshape(n, n))
        if c > 1e8:
            continue
        w = a.astype("f8")
        yield case("tensorsolve", "tensorsolve(a, b)", {"a": a, "b": b}, np.linalg.tensorsolve(w, b.astype("f8")), c)
        axes = [int(d) for d in rng.permutation(a.ndim)[: int(rng.integers(1, a.ndim + 1))]]
        first = np.transpose(w, np.argsort([d for d in range(a.ndim) if d not in axes] + axes))
        yield case("tensorsolve", f"tensorsolve(a, b, {', '.join(map(str, axes))})", {"a": first.astype(a.dtype), "b": b}, np.linalg.tensorsolve(first, b.astype("f8"), axes), c)
    a = matrix(rng, (2, 3, 6))
    for bad_ in ("tensorsolve(a, slice(a, \":, :, 0\"), 0)", "tensorsolve(a, slice(a, \":, 0, 0\"))", "tensorsolve(a, a)", "tensorsolve(a, 1)", "tensorsolve(a, slice(a, \":, :, 0\"), 3)"):
        yield error("tensorsolve", bad_, a=a)


def general(rng):
    for i in range(60):
        before, n = stack(rng), size(rng, 20)
        t = ["float64", "complex128", "float32", "int32", "complex64", "uint8"][i % 6]
        a = matrix(rng, (*before, n, n), t)
        if i % 7 == 0:
            a = (np.triu(a) * [1, 1e-150, 1e150][i % 3]).astype(t) if t[-2:] in ("64", "28") else np.triu(a)
        if i % 11 == 0:
            a = a + np.swapaxes(a, -1, -2)
        wide = a.astype("c16" if t[0] == "c" else "f8")
        values = np.linalg.eigvals(wide)
        apart = [scipy.linalg.eig(p, left=True) for p in wide.reshape(-1, n, n)]
        cond = max(float((1 / np.maximum(np.abs((l.conj() * r).sum(0)), 1e-300)).max()) for _, l, r in apart)
        short = t in ("float32", "complex64")
        c, big = ("c8" if short else "c16"), float(np.abs(wide).max(initial=0)) or 1.0
        eps = (2e-6 if short else 2e-14) * n
        for f in ("real", "imag", "abs"):
            want = np.sort(getattr(np, f)(values), -1)
            if cond < 1e7:
                yield {"op": "eigvals", "expr": f"sort({f}(eigvals(x)))", "in": {"x": a}, "want": want.astype(c.replace("c8", "f4").replace("c16", "f8")), "atol": eps * big * cond}
        l, v = 'eig(x, "values")', 'eig(x, "vectors")'
        zero = np.zeros(a.shape, c)
        yield {"op": "eig", "expr": f"matmul(x * {1 / big}, {v}) - {v} * expand_dims({l} * {1 / big}, -2)", "in": {"x": wide.astype(c)}, "want": zero, "atol": eps}
        yield {"op": "eig", "expr": f"norm({v}, 2, -2)", "in": {"x": a}, "want": np.ones(values.shape, c.replace("c8", "f4").replace("c16", "f8")), "atol": eps}
        yield {"op": "eig", "expr": f"sort(imag(take_along_axis({v}, expand_dims(argmax(round(abs({v}), 3), -2), -2), -2)))", "in": {"x": a[..., :1, :1]}, "want": np.zeros((*before, 1, 1), c.replace("c8", "f4").replace("c16", "f8"))}
    for n in (150, 300):
        a = matrix(rng, (n, n))
        yield {"op": "eigvals", "expr": "sort(abs(eigvals(x)))", "in": {"x": a}, "want": np.sort(np.abs(np.linalg.eigvals(a))), "atol": 1e-10}
        yield {"op": "eig", "expr": f"matmul(x, {v}) - {v} * {l}", "in": {"x": a}, "want": np.zeros((n, n), "c16"), "atol": 1e-11 * n}
    jordan = np.eye(40, k=1) + 2 * np.eye(40)
    yield {"op": "eig", "expr": f"matmul(x, {v}) - {v} * {l}", "in": {"x": jordan}, "want": np.zeros((40, 40), "c16"), "atol": 1e-13}
    for x in (np.zeros((3, 3)), np.eye(4)[[1, 2, 3, 0]], np.eye(5), np.eye(6, k=-1)):  # a cycle has shifts that go round
        for f in ("real", "imag"):
            yield {"op": "eigvals", "expr": f"sort({f}(eigvals(x)))", "in": {"x": x}, "want": np.sort(getattr(np, f)(np.linalg.eigvals(x) + 0j)), "atol": 1e-14}
        yield {"op": "eig", "expr": f"matmul(x, {v}) - {v} * {l}", "in": {"x": x}, "want": np.zeros(x.shape, "c16"), "atol": 1e-14}
    yield {"op": "eigvals", "expr": "eigvals(x)", "in": {"x": np.ones((0, 0))}, "want": np.ones(0, "c16")}
    yield from bad("eig", ', "values"')
    yield from bad("eigvals")
    yield error("eig", 'eig(x, "values")', x=np.ones((2, 3)))
    yield error("eig", "eig(x)", x=np.eye(3))


def tensor_inverses(rng):
    for i in range(70):
        first, last = [((2, 3), (6,)), ((6,), (3, 2)), ((4,), (2, 2)), ((2, 2, 2), (4, 2)), ((5,), (5,)), ((3, 4), (2, 6)), ((1,), (1, 1))][i % 7]
        a = matrix(rng, first + last, pick(rng) if i % 3 else "complex128")
        c = float(np.linalg.cond(a.reshape(np.prod(first), -1).astype("c16")))
        if c < 1e8:
            ind = "" if len(first) == 2 and i % 2 else f", {len(first)}"
            yield case("tensorinv", f"tensorinv(x{ind})", {"x": a}, np.linalg.tensorinv(a.astype("c16" if a.dtype.kind == "c" else "f8"), len(first)), c, a.dtype if a.dtype.kind == "c" else None)
    a = matrix(rng, (2, 3, 6))
    for bad_ in ("tensorinv(a, 1)", "tensorinv(a, 0)", "tensorinv(a, -1)", "tensorinv(a, 4)", "tensorinv(a * 0)", "tensorinv(a * nan)"):
        yield error("tensorinv", bad_, a=a)


def cases(rng):
    yield from tensor_inverses(rng)
    yield from general(rng)
    yield from stacks(rng)
    yield from tensors(rng)
    yield from triangular(rng)
    yield from whole_bases(rng)
    yield from powers(rng)
    yield from squares(rng)
    yield from symmetric(rng)
    yield from triangles(rng)
    yield from orthogonal(rng)
    yield from singular(rng)
    yield from norms(rng)
