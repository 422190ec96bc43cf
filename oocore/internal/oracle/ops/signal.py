"""Cases of operations of sampled signals, with what scipy.signal says of them."""
import warnings
import numpy as np
from scipy import signal

from ops.shape import array, axis_of, lengths, refused

TYPES = ["float32", "float64", "int16", "complex64", "complex128", "uint8", "float64"]
LARGE = ((40_000,), 0), ((300, 500), 0), ((300, 500), 1), ((12, 700, 9), 1), ((3, 70_000), 1)


def text(numbers):
    return '"' + ", ".join(repr(float(v)) for v in np.ravel(numbers)) + '"'


def near(x, want, rtol=1e-9):
    """To SciPy's precision, which is single where the array or the result is, of the largest element."""
    single = {x.dtype.name, want.dtype.name} & {"float32", "complex64"}
    finite = np.abs(want[np.isfinite(want)])
    return {"rtol": 0, "atol": (3e-6 if single else rtol) * float(finite.max(initial=1e-3))}


def wide(x):
    """Integers as doubles: SciPy continues signals beyond their ends in the integers' own type, in which they wrap."""
    return x.astype("f8") if x.dtype.kind in "iu" else x


def case(op, expr, arrays, want, rtol=1e-9):
    return {"op": op, "expr": expr, "in": arrays, "want": np.ascontiguousarray(want), **near(arrays["x"], want, rtol)}


def designs(rng):
    """Coefficients of common filters, which are stable, and of others."""
    kind = int(rng.integers(6))
    if kind == 0:
        return signal.butter(int(rng.integers(1, 5)), rng.uniform(0.05, 0.9))
    if kind == 1:
        return signal.cheby1(int(rng.integers(1, 4)), 1, rng.uniform(0.1, 0.9), btype="high")
    if kind == 2:
        return rng.standard_normal(int(rng.integers(1, 9))), np.array([rng.choice([1.0, 2.0, -0.5])])
    if kind == 3:
        return rng.standard_normal(int(rng.integers(1, 5))), np.r_[2.0, rng.uniform(-0.5, 0.5, int(rng.integers(1, 4)))]
    if kind == 4:
        return np.array([0.5]), np.array([1.0, 0, -0.3, 0.2])
    return signal.iirnotch(rng.uniform(0.1, 0.9), 5)


def filters(rng):
    for i in range(220):
        shape, x = lengths(rng, empty=0, high=30, most=3), None
        x = array(rng, shape, TYPES[i % len(TYPES)], special=False)
        axis = axis_of(rng, len(shape))
        b, a = designs(rng)
        want = signal.lfilter(b, a, x, axis)
        if i % 2:
            yield case("lfilter", f"lfilter(b, a, x, {axis})", {"x": x, "b": b, "a": a}, want)
        elif axis == len(shape) - 1:
            yield case("lfilter", f"lfilter({text(b)}, {text(a)}, x)", {"x": x}, want)
        else:
            yield case("lfilter", f"lfilter({text(b)}, {text(a)}, x, {axis})", {"x": x}, want)
        sos = signal.butter(int(rng.integers(1, 7)), rng.uniform(0.1, 0.9), output="sos")
        yield case("sosfilt", f"sosfilt(c, x, {axis})", {"x": x, "c": sos}, signal.sosfilt(sos, x, axis))
        if shape[axis] > 1:
            kind = ["odd", "even", "constant", "none"][int(rng.integers(4))]
            n = int(rng.integers(0, shape[axis]))
            want = signal.sosfiltfilt(sos, wide(x), axis, None if kind == "none" else kind, n)
            yield case("sosfiltfilt", f'sosfiltfilt(c, x, {axis}, "padtype={kind}", "padlen={n}")', {"x": x, "c": sos}, want, 1e-8)
    for shape, axis in LARGE:
        for dtype in ("float32", "float64", "complex128"):
            x = array(rng, shape, dtype, special=False)
            b, a = signal.butter(3, 0.02)
            yield case("lfilter", f"lfilter(b, a, x, {axis})", {"x": x, "b": b, "a": a}, signal.lfilter(b, a, x, axis))
            b = signal.firwin(1500, 0.1)
            yield case("lfilter", f"lfilter(b, 1, x, {axis})", {"x": x, "b": b}, signal.lfilter(b, [1.0], x, axis))
            sos = signal.ellip(7, 0.5, 60, [0.1, 0.3], "band", output="sos")
            yield case("sosfilt", f"sosfilt(c, x, {axis})", {"x": x, "c": sos}, signal.sosfilt(sos, x, axis), 1e-8)
            yield case("sosfiltfilt", f"sosfiltfilt(c, x, {axis})", {"x": x, "c": sos}, signal.sosfiltfilt(sos, x, axis), 1e-7)
    x = array(rng, (2, 50_000), "float64", special=False)
    yield case("lfilter", 'lfilter(1, "1, -1", x, 1)', {"x": x}, signal.lfilter([1], [1, -1], x, 1))
    yield case("lfilter", 'lfilter(1, "1, -0.99999", x, 1)', {"x": x}, signal.lfilter([1], [1, -0.99999], x, 1))
    x[0, 40_000], x[1, 100] = np.nan, np.inf
    yield case("lfilter", 'lfilter("1, 1", "1, -0.5", x, 1)', {"x": x}, signal.lfilter([1, 1], [1, -0.5], x, 1))
    x = array(rng, (3, 40), "float32", special=False)
    single = {"b": np.array([1, 0.5], "f4"), "a": np.array([1, -0.5], "f4")}
    yield case("lfilter", "lfilter(b, a, x)", {"x": x, **single}, signal.lfilter(single["b"], single["a"], x))
    for bad in ('lfilter("1", "0, 1", x)', 'lfilter("1", "1, z", x)', 'lfilter("1", "1, 2", x, 2)', "lfilter(x, x, x)", "lfilter(b * 1j, a, x)", 'sosfilt("1, 2, 3", x)', "sosfilt(b, x)", 'sosfilt("1, 2, 3, 2, 0, 0", x)',
                'sosfilt("1, 2, 3, 1, 0, 0", x, -3)', 'sosfiltfilt("1, 2, 3, 1, 0, 0", x, 0)', 'sosfiltfilt("1, 2, 3, 1, -1, 0", x)', 'sosfiltfilt("1, 2, 3, 1, 0, 0", x, "padtype=x")'):
        yield refused(bad[: bad.index("(")], bad, {"x": x, **single})


def resampled(rng):
    for i in range(220):
        shape = lengths(rng, empty=0, high=40, most=3)
        x = array(rng, shape, TYPES[i % len(TYPES)], special=False)
        axis, up, down = axis_of(rng, len(shape)), int(rng.integers(1, 9)), int(rng.integers(1, 9))
        if i % 3 == 0:
            want = signal.resample_poly(x, up, down, axis)
            yield case("resample_poly", f"resample_poly(x, {up}, {down}, {axis})", {"x": x}, want if x.dtype.kind in "fc" else want.astype("f8"))
            continue
        kind = ["constant", "edge", "reflect", "symmetric", "wrap", "mean", "minimum", "maximum", "median"][i % 9]
        if kind == "reflect" and shape[axis] == 1:  # where SciPy divides by zero
            kind = "edge"
        if x.dtype.kind == "c" and kind in ("minimum", "maximum", "median"):
            x = x.real
        name = ["hamming", ("kaiser", 8.5), "boxcar", "blackman", "hann"][i % 5]
        more, kwargs = "", {}
        if kind == "constant":
            more, kwargs = ', "cval=2.5"', {"cval": 2.5}
        want = signal.resample_poly(wide(x), up, down, axis, name, kind, **kwargs)
        name = name if isinstance(name, str) else "kaiser,8.5"
        yield case("resample_poly", f'resample_poly(x, {up}, {down}, {axis}, "window={name}", "padtype={kind}"{more})', {"x": x}, want if x.dtype.kind in "fc" else want.astype("f8"))
    for shape, axis in LARGE:
        x = array(rng, shape, "float64", special=False)
        for up, down in ((160, 147), (1, 10), (7, 2)):
            yield case("resample_poly", f"resample_poly(x, {up}, {down}, {axis})", {"x": x}, signal.resample_poly(x, up, down, axis))
    x = array(rng, (3, 4), "float32")
    for bad in ("resample_poly(x, 0, 1)", "resample_poly(x, 1, -1)", "resample_poly(x, 2, 3, 2)", 'resample_poly(x, 2, 3, 0, "window=x")', 'resample_poly(x, 2, 3, 0, "padtype=x")', 'resample_poly(x, 2, 3, 0, "padtype=wrap", "cval=1")', "resample_poly(x, 100003, 2)"):
        yield refused("resample_poly", bad, {"x": x})


WINDOWS = ["hann", "hamming", "blackman", "boxcar", "nuttall", "blackmanharris", "flattop", ("kaiser", 3.5)]


def spectra(rng):
    for i in range(230):
        shape = lengths(rng, empty=0, high=9, most=2)
        n = int(rng.integers(1, 700 if i % 3 else 60))
        axis = axis_of(rng, len(shape) + 1)
        shape = [min(length, 9) for length in shape]  # a spectrum of every element has hundreds of times as many
        shape.insert(axis % (len(shape) + 1), n)
        x = array(rng, shape, TYPES[i % len(TYPES)], special=False)
        args, words = {}, []

        def give(name, value, word=None):
            args[name] = value
            words.append(f'"{name}={value if word is None else word}"')

        per = min(256, n)
        if rng.random() < 0.7:
            per = int(rng.integers(1, n + 1))
            give("nperseg", per)
        if rng.random() < 0.4:
            give("noverlap", int(rng.integers(0, per)))
        if rng.random() < 0.3:
            give("nfft", per + int(rng.integers(0, 20)))
        if rng.random() < 0.5:
            give("fs", round(float(rng.uniform(0.5, 100)), 2))
        name = WINDOWS[int(rng.integers(len(WINDOWS)))]
        if rng.random() < 0.6:
            give("window", name, "kaiser,3.5" if isinstance(name, tuple) else None)
        if rng.random() < 0.2:
            give("return_onesided", False, "false")
        detrend = [None, "linear", "constant", False][int(rng.integers(4))]
        if detrend is not None:
            give("detrend", detrend, detrend or "false")
        for op in ("welch", "stft"):
            kwargs, said = dict(args), list(words)
            if rng.random() < 0.3:
                value = "spectrum" if rng.random() < 0.5 else {"welch": "density", "stft": "psd"}[op]
                kwargs["scaling"] = value
                said.append(f'"scaling={value}"')
            if op == "welch" and rng.random() < 0.3:
                kwargs["average"] = "median"
                said.append('"average=median"')
            if op == "stft" and rng.random() < 0.5:
                border = [None, "even", "odd", "constant"][int(rng.integers(4))]
                kwargs["boundary"], kwargs["padded"] = border, bool(rng.random() < 0.5)
                said += [f'"boundary={border or "none"}"', *([] if kwargs["padded"] else ['"padded=false"'])]
            if x.dtype.kind == "c":
                kwargs["return_onesided"] = False
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                f = getattr(signal, op)
                want = f(wide(x), axis=axis, **kwargs)[-1].astype(f(x, axis=axis, **kwargs)[-1].dtype)
            yield case(op, f"{op}(x, {', '.join([str(axis), *said])})", {"x": x}, want)
    for shape, axis in LARGE:
        for dtype in ("float32", "float64"):
            x = array(rng, shape, dtype, special=False)
            yield case("welch", f"welch(x, {axis})", {"x": x}, signal.welch(x, axis=axis)[-1])
            yield case("stft", f"stft(x, {axis})", {"x": x}, signal.stft(x, axis=axis)[-1])
    x = array(rng, (3, 40), "float32")
    for op in ("welch", "stft"):
        for bad in ("2", '1, "nperseg=-1"', '1, "nperseg=8", "noverlap=8"', '1, "nperseg=8", "nfft=7"', '1, "window=x"', '1, "detrend=x"', '1, "scaling=x"', '1, "fs=0"', '1, "return_onesided=x"', {"welch": '1, "average=x"', "stft": '1, "boundary=x"'}[op]):
            yield refused(op, f"{op}(x, {bad})", {"x": x})
        yield refused(op, f"{op}(x, 1)", {"x": x[:, :0]})


def cases(rng):
    yield from filters(rng)
    yield from resampled(rng)
    yield from spectra(rng)
