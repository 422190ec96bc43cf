# Prints the polynomials of functions.go: Chebyshev interpolation of each
# function's tail, which is within a factor of two of the best polynomial, and
# the greatest relative error, as a power of two. Needs NumPy.
import math
import numpy as np
from numpy.polynomial import Polynomial, chebyshev


def fit(tail, degree, low, high):
    middle, half = (low + high) / 2, (high - low) / 2
    c = chebyshev.chebinterpolate(lambda t: np.array([float(tail(np.longdouble(middle + half * v))) for v in t]), degree)
    return Polynomial(chebyshev.cheb2poly(c))(Polynomial([-middle / half, 1 / half]))


def series(coefficient):
    def tail(x):
        s = np.longdouble(0)
        for k in reversed(range(25)):
            s = s * x + coefficient(k)
        return s
    return tail


def log_tail(x):
    if abs(x) < 1e-3:
        return series(lambda k: np.longdouble((-1) ** (k + 1)) / (k + 2))(x)
    return (np.log1p(x) - x) / (x * x)


def show(name, p, approximation, exact, low, high):
    x = np.linspace(low, high, 20001)
    x = x[x != 0]
    error = np.max(np.abs(approximation(x) / exact(x) - 1))
    print(name, p.coef.tolist(), "2^%.1f" % math.log2(error))


inverse = lambda n: np.longdouble(1) / math.factorial(n)
h = math.log(2) / 2 * 1.0001
p = fit(series(lambda k: inverse(k + 2)), 5, -h, h)
show("exp", p, lambda x: x + x * x * p(x), np.expm1, -h, h)
low, high = math.sqrt(0.5) - 1, math.sqrt(2) - 1
q = fit(log_tail, 10, low, high)
show("log", q, lambda x: x + x * x * q(x), np.log1p, low, high)
z = (math.pi / 4 * 1.001) ** 2
s = fit(series(lambda k: (-1) ** (k + 1) * inverse(2 * k + 3)), 3, 0, z)
show("sin", s, lambda x: x * (1 + x * x * s(x * x)), np.sin, 0, math.pi / 4)
c = fit(series(lambda k: (-1) ** k * inverse(2 * k + 4)), 3, 0, z)
show("cos", c, lambda x: 1 - x * x / 2 + x**4 * c(x * x), np.cos, 0, math.pi / 4)


def tanh_tail(x):  # of x²; tanh(x)/x is 1 - x²/3 + 2x⁴/15 - 17x⁶/315 + 62x⁸/2835 - …
    if x < 1e-4:
        return series(lambda k: [-1 / np.longdouble(3), 2 / np.longdouble(15), -17 / np.longdouble(315)][k] if k < 3 else 0)(x)
    r = np.sqrt(x)
    return (np.tanh(r) / r - 1) / x


t = fit(tanh_tail, 4, 0, 0.551**2)
show("tanh", t, lambda x: x * (1 + x * x * t(x * x)), np.tanh, 0, 0.55)
