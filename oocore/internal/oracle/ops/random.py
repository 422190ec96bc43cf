"""Cases of random numbers, against Philox4x32-10 in Python's integers: Salmon and others, SC11, 2011."""
import math

import numpy as np

from ops.shape import array, lengths, axis_of, case, refused, joined, TYPES, EACH

NORMAL, INTEGER, WORD = 1, 2, 3


def philox(counter, key):
    mask = 0xFFFFFFFF
    c = [counter >> 32 * i & mask for i in range(4)]
    k = [key & mask, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & mask, a >> 32 ^ c[3] ^ k[1], a & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


# The known answers that the authors publish with Random123.
assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox(2**128 - 1, 2**64 - 1) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
assert philox(0x0370734413198A2E85A308D3243F6A88, 0x299F31D0A4093822) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def pair(seed, block, kind, attempt=0):
    w = philox(block | kind << 64 | attempt << 96, seed)
    return w[1] << 32 | w[0], w[3] << 32 | w[2]


def normal(seed, i):
    a, b = (w >> 11 for w in pair(seed, i // 2, NORMAL))
    r, angle = math.sqrt(-2 * math.log(1 - a / 2**53)), 2 * math.pi * (b / 2**53)
    return r * (math.sin(angle) if i % 2 else math.cos(angle))


def integer(seed, i, low, high):
    n = high - low
    for attempt in range(100):
        m = pair(seed, i // 2, INTEGER, attempt)[i % 2] * n
        if m % 2**64 >= (2**64 - n) % n:
            return low + (m >> 64)


def words(seed, n):
    return np.array([pair(seed, i // 2, WORD)[i % 2] for i in range(n)], "u8")


def drawn(seed, shape, f, dtype):
    return np.array([f(seed, i) for i in range(int(np.prod(shape)))], dtype).reshape(shape)


def distributions(rng, n):
    """The mean, the variance and how many are at most their median, within five of their own deviations; and that each element has its own parameters."""
    import scipy.special
    import scipy.stats

    made = [("gamma", (k,), scipy.stats.gamma(k)) for k in (0.3, 0.5, 0.9, 1, 1.1, 1.5, 2, 2.5, 3, 5, 7.5, 10, 20, 40, 100, 1000)]
    made += [("poisson", (m,), scipy.stats.poisson(m)) for m in (0.2, 0.5, 1, 2, 3.7, 5, 7, 9.9, 10.1, 15, 30, 60, 100, 500, 3000, 20000)]
    made += [("binomial", (k, p), scipy.stats.binom(k, p)) for k, p in (
        (10, 0.3), (7, 0.9), (100, 0.099), (100, 0.11), (5000, 0.6), (1, 0.5), (2, 0.1), (5, 0.5), (20, 0.25), (30, 0.5), (50, 0.9), (60, 0.02), (200, 0.5), (1000, 0.01),
        (1000, 0.99), (20000, 0.3))]
    stats = scipy.stats
    made += [("beta", (a, b), stats.beta(a, b)) for a, b in (
        (0.1, 0.2), (0.3, 0.3), (0.5, 0.5), (0.5, 1), (1, 0.7), (1, 1), (0.2, 3), (3, 0.2), (2, 1), (1, 2), (2, 2), (2.5, 4), (10, 3), (30, 30), (100, 1), (1000, 2000))]
    made += [("triangular", (a, m, b), stats.triang((m - a) / (b - a), a, b - a)) for a, m, b in (
        (0, 0, 1), (0, 1, 1), (0, 0.5, 1), (-1, 0, 1), (-5, -4, 3), (10, 11, 20), (0, 0.1, 1), (0, 0.9, 1), (1, 3, 4), (-3, -3, -1), (-2, -1, -1), (0, 7, 100), (100, 101, 103), (-1, 0.3, 0.4), (0, 1, 1000), (5, 6, 6.5))]
    made += [("wald", (m, s), stats.invgauss(m / s, scale=s)) for m, s in (
        (1, 1), (1, 2), (2, 1), (0.1, 1), (1, 0.3), (3, 3), (10, 10), (10, 100), (0.5, 0.5), (0.01, 1), (1, 100), (5, 20), (20, 30), (100, 1000), (0.3, 0.2), (7, 5))]
    made += [("geometric", (p,), stats.geom(p)) for p in (0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)]
    made += [("hypergeometric", (g, b, k), stats.hypergeom(g + b, g, k)) for g, b, k in (
        (5, 5, 5), (10, 3, 4), (3, 10, 11), (20, 30, 9), (20, 30, 10), (20, 30, 25), (30, 20, 25), (20, 30, 40), (30, 20, 38), (100, 900, 50), (900, 100, 50), (900, 100, 930), (1000, 1000, 1000), (100000, 300000, 1000),
        (5000000, 7000000, 100), (1000000000, 1000000000, 1000000))]
    made += [("logseries", (p,), stats.logser(p)) for p in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 0.995)]
    made += [("negative_binomial", (k, p), stats.nbinom(k, p)) for k, p in (
        (1, 0.5), (2, 0.3), (5, 0.5), (10, 0.9), (10, 0.1), (0.5, 0.5), (0.7, 0.2), (1.5, 0.7), (3, 0.99), (20, 0.5), (50, 0.3), (100, 0.8), (100, 0.05), (1000, 0.5), (3, 0.01), (7.25, 0.4))]
    made += [("zipf", (a,), stats.zipf(a)) for a in (5.5, 5.7, 6, 6.3, 6.6, 7, 7.3, 7.6, 8, 8.4, 8.8, 9.2, 9.6, 10, 10.5, 11)]
    for i, (name, of, d) in enumerate(made):
        x = f"{name}({joined([i, *of, n])})"
        mean, var = float(d.mean()), float(d.var())
        yield case(name, f"mean({x}*1.0)", {}, lambda: np.float64(mean), 0, 5 * (var / n) ** 0.5)
        yield case(name, f"var({x}*1.0)", {}, lambda: np.float64(var), 0, 5 * var * ((d.stats("k") + 2) / n) ** 0.5 + 25 * var / n)
        at = float(d.median())
        p = float(d.cdf(at))
        yield case(name, f'mean(astype({x} <= {at}, "float64"))', {}, lambda: np.float64(p), 0, 5 * (p * (1 - p) / n) ** 0.5 + 1e-12)
    p = np.array([0.0, 1.0])
    yield case("binomial", "binomial(3, t, p, 4, 2)", {"t": np.array([[3], [0], [1000], [20]]), "p": p}, lambda: np.array([[0, 3], [0, 0], [0, 1000], [0, 20]]))
    yield case("poisson", "poisson(3, x)", {"x": np.zeros((2, 3))}, lambda: np.zeros((2, 3), "i8"))
    yield case("gamma", "gamma(3, x)", {"x": np.zeros((2, 3), "f4")}, lambda: np.zeros((2, 3)))
    yield case("poisson", "poisson(3, 4, 0)", {}, lambda: np.zeros(0, "i8"))
    for a in (1.05, 1.5, 2, 2.5, 3, 4):  # without a variance: the chances of small numbers among those up to 2**62
        for k in (1, 2, 5):
            p = float(stats.zipf(a).cdf(k)) / (1 - 2.0 ** (62 * (1 - a)) / ((a - 1) * scipy.special.zeta(a)))
            yield case("zipf", f'mean(astype(zipf(31, {a}, {n}) <= {k}, "float64"))', {}, lambda: np.float64(p), 0, 5 * (p * (1 - p) / n) ** 0.5)
    for i, k in enumerate((1e-9, 1e-6, 0.001, 0.1, 0.3, 0.7, 1, 1.5, 2, 4, 7, 10, 30, 100, 1000, 10000, 2e6)):  # by their cosines
        i0, i1, i2 = (float(scipy.special.ive(order, k)) for order in range(3))
        cos, square = i1 / i0, (1 + i2 / i0) / 2
        for about in (0, 3):
            x = f"vonmises({i}, {about}, {k}, {n})"
            yield case("vonmises", f"mean(cos({x} - {about}))", {}, lambda: np.float64(cos), 0, 5 * (square / n) ** 0.5 if k < 10 else 5 * cos / (k * n**0.5))
            yield case("vonmises", f'mean(astype(sin({x} - {about}) < 0, "float64"))', {}, lambda: np.float64(0.5), 0, 2.5 / n**0.5)
        yield case("vonmises", f'mean(astype(abs(vonmises({i}, 3, {k}, {n})) <= pi, "float64"))', {}, lambda: np.float64(1))
    one = np.ones(3, "i8")
    for expr, want in (
        ("geometric(3, 1.0, 3)", one), ("logseries(3, 0, 3)", one), ("zipf(3, 2000, 3)", one), ("hypergeometric(3, 0, 5, 2, 3)", 0 * one), ("hypergeometric(3, 5, 0, 2, 3)", 2 * one),
        ("hypergeometric(3, 40, 60, 100, 3)", 40 * one), ("hypergeometric(3, 4, 6, 0, 3)", 0 * one), ("negative_binomial(3, 5, 1, 3)", 0 * one), ("beta(3, 1e-200, 1, 3)", np.zeros(3)),
        ("beta(3, 1, 1e-200, 3)", np.ones(3)), ("wald(3, 1, 1, 0)", np.zeros(0)), ("zipf(3, 2, 0, 2)", np.zeros((0, 2), "i8")),
    ):
        yield case(expr.split("(")[0], expr, {}, lambda: want)
    for expr in ("beta(1, 0, 1)", "beta(1, 1, -1.0)", "beta(1, 1)", "triangular(1, 0, 2, 1)", "triangular(1, 1, 1, 1)", "triangular(1, 0, 1, inf)", "vonmises(1, 0, -1)", "vonmises(1, inf, 1)", "wald(1, 0, 1)", "wald(1, 1, nan)",
                 "geometric(1, 0)", "geometric(1, 1.5)", "hypergeometric(1, 2, 3, 6)", "hypergeometric(1, 2.5, 3, 1)", "hypergeometric(1, 2000000000, 3, 1)", "hypergeometric(1, 2, -1, 1)", "logseries(1, 1)", "logseries(1, -1)",
                 "negative_binomial(1, 0, 0.5)", "negative_binomial(1, 1, 0)", "negative_binomial(1, 1000000, 1e-15)", "zipf(1, 1)", "zipf(1, nan)", "zipf(1, 2i)"):
        yield refused(expr.split("(")[0], expr, {})
    for bad in ("gamma(1, -1.0, 3)", "gamma(1, x)", "gamma(1, nan)", "poisson(1, -1.0)", "poisson(1, inf)", "poisson(1, 2i)", "poisson(1, x*0, 2)", "binomial(1, 3, 1.5)", "binomial(1, 2.5, 0.5)", "binomial(1, -1, 0.5)"):
        yield refused(bad.split("(")[0], bad, {"x": np.array([1.0, 2, -1])} if "x)" in bad or "x*" in bad else {})


def categories(rng, n):
    """The means, variances and covariances of the numbers of categories, that they sum to what is drawn, and that each row has its own parameters."""
    n //= 10
    for i in range(12):
        k, draws = int(rng.integers(2, 8)), int(rng.integers(1, 200))
        p = rng.random(k) ** 2
        p /= p.sum()
        if i % 3 == 0:
            p[0], p[1] = 0, p[0] + p[1]
        colors = rng.integers(0, 60, k) + draws // k + 1
        share = colors / colors.sum()
        left = (colors.sum() - draws) / (colors.sum() - 1)
        for name, x, q, factor in (("multinomial", f"multinomial({i}, {draws}, p, {n})", p, 1), ("multivariate_hypergeometric", f"multivariate_hypergeometric({i}, c, {draws}, {n})", share, left)):
            arrays = {"p": p} if name == "multinomial" else {"c": colors}
            cov = draws * factor * (np.diag(q) - np.outer(q, q))
            sd = np.sqrt(np.diag(cov))
            yield case(name, f"mean({x}*1.0, 0)", arrays, lambda: draws * q, 0, float(5 * (sd / n**0.5).max()) + 1e-9)
            yield case(name, f'cov({x}*1.0, "columns")', arrays, lambda: cov, 0, float(10 * (sd.max() ** 2 + 1) / n**0.5))
            yield case(name, f"sum({x}, 1)", arrays, lambda: np.full(n, draws))
            few = x.replace(f", {n})", ", 4)")
            yield case(name, f"slice({few}, \"1:3, 1:\") - slice({x}, \"1:3, 1:\")", arrays, lambda: np.zeros((2, k - 1), "i8"))  # of a box of some rows and categories
    chances = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    yield case("multinomial", "multinomial(5, t, p)", {"t": np.array([[4], [1000000]]), "p": chances}, lambda: (np.array([[[4]], [[1000000]]]) * chances).astype("i8"))
    yield case("multinomial", "multinomial(5, 3, p, 0)", {"p": chances[0]}, lambda: np.zeros((0, 3), "i8"))
    yield case("multinomial", "multinomial(5, 3, p)", {"p": np.array([0.5])}, lambda: np.array([3]))
    colors = np.array([[5, 0, 2], [0, 0, 0]])
    yield case("multivariate_hypergeometric", "multivariate_hypergeometric(5, c, t)", {"c": colors, "t": np.array([7, 0])}, lambda: colors)
    for bad in ("multinomial(1, 2.5, p)", "multinomial(1, -1, p)", "multinomial(1, 3, p*2)", "multinomial(1, 3, p - 1)", "multinomial(1, 3, 0.5)", "multinomial(1, 3, p*nan)", "multinomial(1, 3, p*1i)", "multinomial(1, t, p, 2)", "multinomial(1, 3, slice(p, \"0:0\"))"):
        yield refused("multinomial", bad, {k: v for k, v in (("p", np.array([0.4, 0.6, 0])), ("t", np.arange(3))) if k in bad.split("(", 1)[1].replace("slice", "")})
    for bad in ("multivariate_hypergeometric(1, c, 8)", "multivariate_hypergeometric(1, c, -1)", "multivariate_hypergeometric(1, c, 0.5)", "multivariate_hypergeometric(1, c*0.5, 1)", "multivariate_hypergeometric(1, c*1000000000, 1)", "multivariate_hypergeometric(1, 3, 1)"):
        yield refused("multivariate_hypergeometric", bad, {"c": np.array([5, 0, 2])} if "c" in bad.split("(", 1)[1] else {})


def cases(rng):
    for i in range(EACH):
        shape = () if i % 9 == 0 else lengths(rng, most=3, empty=0.1)
        seed = int(rng.integers(1 << 62))
        yield case("normal", f"normal({joined([seed, *shape])})", {}, lambda: drawn(seed, shape, normal, "f8"), 1e-13, 1e-14)
        low = int(rng.integers(-(2**62), 2**62)) if i % 3 == 0 else int(rng.integers(-100, 100))
        high = low + (int(rng.integers(1, 2**62)) if i % 3 == 0 else int(rng.integers(1, 50)))
        yield case("integers", f"integers({joined([seed, low, high, *shape])})", {}, lambda: drawn(seed, shape, lambda s, k: integer(s, k, low, high), "i8"))
        n = int(rng.integers(0, 300))
        order = np.argsort(words(seed, n), kind="stable")
        yield case("permutation", f"permutation({seed}, {n})", {}, lambda: order)
        x = array(rng, lengths(rng))
        axis = axis_of(rng, x.ndim)
        yield case("permuted", f"permuted(x, {seed}, {axis})", {"x": x}, lambda: np.take_along_axis(x, np.argsort(words(seed, x.size).reshape(x.shape), axis, kind="stable"), axis))
        y = array(rng, (max(n, 1), *x.shape[1:]))
        k = int(rng.integers(0, 40))
        at = drawn(seed, (k,), lambda s, i: integer(s, i, 0, len(y)), "i8")
        yield case("choice", f"choice(y, {seed}, {k})", {"y": y}, lambda: y[at])
        k = min(k, n)
        if n:
            yield case("choice", f'choice(y, {seed}, {k}, "distinct")', {"y": y}, lambda: y[order[:k]])
    # Moments of many: of the normal distribution the first four, within five of their own deviations; those of integers too.
    n = 200_000
    for expr, want, sigma in (
        (f"mean(normal(7, {n}))", 0, 1), (f"var(normal(8, {n}))", 1, 2**0.5), (f"moment(normal(9, {n}), 3)", 0, 6**0.5), (f"moment(normal(10, {n}), 4)", 3, 96**0.5),
        (f"mean(astype(normal(11, {n}) < 1.959963984540054, \"float64\"))", 0.975, 0.16), (f"mean(slice(normal(12, {n}), \":-1\")*slice(normal(12, {n}), \"1:\"))", 0, 1),
        (f"mean(normal(13, {n})*normal(14, {n}))", 0, 1), (f"mean(integers(15, 0, 100, {n})*1.0)", 49.5, 29), (f"var(integers(16, 0, 100, {n})*1.0)", 833.25, 750),
        (f"mean(permuted(arange({n}), 5)*arange({n})*1.0/{n}/{n})", 0.25, 0.2),
    ):
        name = next(f for f in ("integers", "permuted", "normal") if f in expr)
        yield case(name, expr, {}, lambda: np.float64(want), 0, 5 * sigma / n**0.5)
    yield from distributions(rng, n)
    yield from categories(rng, n)
    # Weights of four elements, and how often each is drawn.
    w = np.array([1.0, 0, 3, 6])
    x = np.arange(4)
    for i, p in enumerate(w / 10):
        yield case("choice", f'mean(astype(choice(x, 21, {n}, "weights", w) == {i}, "float64"))', {"x": x, "w": w}, lambda: np.float64(p), 0, 5 * (p * (1 - p) / n) ** 0.5)
    for bad in ("normal(-1, 3)", "normal(1, -1)", "integers(1, 3, 3, 2)", "integers(1, 4, 3, 2)", "permutation(1, -1)", "permuted(x, 1, 1)", "permuted(x, -1)", "choice(x, 1, -1)",
                'choice(x, 1, 5, "distinct")', 'choice(x, 1, 2, "weights", w - 1)', 'choice(x, 1, 2, "weights", w*0)', 'choice(x, 1, 2, "weights", slice(w, "1:"))', 'choice(x, 1, 2, "weights", w*nan)', 'choice(slice(x, "0:0"), 1, 1)'):
        yield refused(bad.split("(")[0], bad, {k: v for k, v in (("x", x), ("w", w)) if k in bad.split("(", 1)[1]})
