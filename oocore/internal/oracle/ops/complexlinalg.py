"""Cases of linear algebra of complex matrices, small ones, stacks and tall ones."""

import numpy as np
import scipy.linalg

from ops.shape import case, refused

EACH = 24


def matrix(rng, shape, t):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(t)


def turned(a):
    return np.conj(np.swapaxes(a, -1, -2))


def cases(rng):
    for i in range(EACH):
        t = ["complex128", "complex64"][i % 2]
        eps = 1e-12 if t == "complex128" else 2e-5
        before = [(), (3,), (2, 2), ()][i % 4]
        n, k = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        a = matrix(rng, (*before, n, n), t) + (2 * n * np.eye(n)).astype(t)
        b = matrix(rng, (*before, n, k), t)
        wide = a.astype("c16")  # NumPy's own of complex64 is not as exact
        h = (a + turned(a)).astype(t)
        p = (a @ turned(a) + np.eye(n)).astype(t)
        near = lambda x, by=1.0: (0, by * eps * float(np.abs(x).max(initial=1)))

        def of(name, expr, arrays, want, by=1.0):
            want = np.asarray(want)
            want = want.astype({"c": t, "f": "f8" if t == "complex128" else "f4"}.get(want.dtype.kind, want.dtype))
            return case(name, expr, arrays, lambda: want, *near(want, by))

        yield of("solve", "solve(a, b)", {"a": a, "b": b}, np.linalg.solve(wide, b))
        yield of("inv", "inv(a)", {"a": a}, np.linalg.inv(wide))
        yield of("det", "det(a)", {"a": a}, np.linalg.det(wide), 10)
        sign, logabs = np.linalg.slogdet(wide)
        yield of("slogdet", 'slogdet(a, "sign")', {"a": a}, sign)
        yield of("slogdet", 'slogdet(a, "logabsdet")', {"a": a}, logabs)
        yield of("cholesky", "cholesky(p)", {"p": p}, np.linalg.cholesky(p.astype("c16")))
        m = matrix(rng, (*before, n + int(rng.integers(0, 5)), n), t)
        if i % 3 == 2:
            m = turned(m).copy()
        yield of("svdvals", "svdvals(m)", {"m": m}, np.linalg.svd(m.astype("c16"), compute_uv=False))
        yield of("norm", "norm(m, 2, -2, -1)", {"m": m}, np.linalg.norm(m.astype("c16"), 2, axis=(-2, -1)))
        yield of("norm", 'norm(m, "nuc", -2, -1)', {"m": m}, np.linalg.norm(m.astype("c16"), "nuc", axis=(-2, -1)))
        yield of("cond", "cond(a)", {"a": a}, np.linalg.cond(wide), 10)
        yield of("matrix_rank", "matrix_rank(m)", {"m": m}, np.linalg.matrix_rank(m))
        low = m.copy()
        low[..., -1, :] = low[..., 0, :] * t_of(2j, t)  # one row depends on another
        for full in ("", ', "full"'):
            u, s, vt = (f'svd(x, "{part}"{full})' for part in ("u", "s", "vt"))
            for x in (m, low):
                r = min(x.shape[-2:])
                some = f'slice({u}, "..., :{r}")*expand_dims({s}, -2)'
                yield of("svd", f'matmul({some}, slice({vt}, "..., :{r}, :"))', {"x": x}, x, 10)
                rank = x.shape[-2] if full else r
                yield of("svd", f"matmul(conjugate(matrix_transpose({u})), {u})", {"x": x}, np.broadcast_to(np.eye(rank), (*before, rank, rank)).astype(t), 10)
        yield of("eigh", 'eigh(h, "values")', {"h": h}, np.linalg.eigh(h.astype("c16"))[0], 10)
        v = 'eigh(h, "vectors")'
        yield of("eigh", f'matmul({v}*expand_dims(eigh(h, "values"), -2), conjugate(matrix_transpose({v})))', {"h": h}, h, 10)
        q, r = np.linalg.qr(m.astype("c16"))
        d = np.diagonal(r, axis1=-2, axis2=-1)
        d = d / np.abs(d)
        yield of("qr", 'qr(m, "q")', {"m": m}, q * d[..., None, :], 100)
        yield of("qr", 'qr(m, "r")', {"m": m}, r * np.conj(d)[..., :, None], 100)
        low2 = m[(0,) * len(before)]
        lu = scipy.linalg.lu(low2)
        for part, want in zip("plu", lu):
            yield of("lu", f'lu(m, "{part}")', {"m": low2}, want.astype(t), 10)
        tall = low2 if low2.shape[0] >= low2.shape[1] else turned(low2).copy()
        yield of("pinv", "pinv(m)", {"m": low2}, np.linalg.pinv(low2.astype("c16")), 10)
        y = matrix(rng, (tall.shape[0], 2), t)
        yield of("lstsq", "lstsq(m, y)", {"m": tall, "y": y}, np.linalg.lstsq(tall.astype("c16"), y.astype("c16"), rcond=None)[0], 10)
        square = a[(0,) * len(before)]
        for upper in (True, False):
            tri = np.triu(square) if upper else np.tril(square)
            want = scipy.linalg.solve_triangular(tri.astype("c16"), y[:1].repeat(n, 0), lower=not upper)
            yield of("solve_triangular", f'solve_triangular(a, b, "{"upper" if upper else "lower"}")', {"a": square, "b": y[:1].repeat(n, 0)}, want, 10)
        one = p[(0,) * len(before)]
        yield of("solve", 'solve(p, b, "pos")', {"p": one, "b": b[(0,) * len(before)]}, np.linalg.solve(one.astype("c16"), b[(0,) * len(before)]), 10)
    z = matrix(rng, (4, 3), "complex128")
    for name, bad in (("solve", "solve(z, z)"), ("inv", "inv(z)"), ("det", "det(z)"), ("cholesky", "cholesky(matmul(conjugate(transpose(z)), z)*-1)"), ("qr", 'qr(z*0, "q")'),
                      ("inv", "inv(matmul(z, conjugate(transpose(z))))"), ("svd", 'svd(z*nan, "s")'), ("eigh", 'eigh(z, "values")')):
        yield refused(name, bad, {"z": z})


def t_of(x, t):
    return np.dtype(t).type(x)
