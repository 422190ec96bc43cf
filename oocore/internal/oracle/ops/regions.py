"""Cases of connected parts, with what scipy.ndimage says of them."""

import numpy as np
from scipy import ndimage

from ops.shape import array


def case(x, connectivity, given):
    want = ndimage.label(x, ndimage.generate_binary_structure(x.ndim, connectivity))[0]
    return {"op": "label", "expr": f'label(x, "connectivity={connectivity}")' if given else "label(x)", "in": {"x": x}, "want": want}


def objects(rng):
    for i in range(110):
        dims = int(rng.integers(1, 5))
        x = rng.integers(-1, int(rng.integers(2, 9)), tuple(rng.integers(1, {1: 300, 2: 40, 3: 14, 4: 7}[dims], dims)))
        x = x * (rng.random(x.shape) < rng.choice([0.02, 0.2, 1])) * (1 if i % 5 else 3)
        x = x.astype(["int32", "int64", "int16", "uint8"][i % 4]) if i % 4 < 3 else np.abs(x).astype("uint8")
        n = int(rng.integers(1, 12)) if i % 3 else 0
        found = ndimage.find_objects(x.astype("int64"), n)
        want = np.array([[(s.start, s.stop) for s in box] if box else [(0, 0)] * dims for box in found], "int64").reshape(-1, dims, 2)
        yield {"op": "find_objects", "expr": f"find_objects(x, {n})" if n else "find_objects(x)", "in": {"x": x}, "want": want}
    for shape in ((3_000_000,), (1500, 2000), (120, 150, 200)):
        x = ndimage.label(rng.random(shape) < 0.01)[0]
        want = np.array([[(s.start, s.stop) for s in box] for box in ndimage.find_objects(x)], "int64")
        yield {"op": "find_objects", "expr": "find_objects(x)", "in": {"x": x}, "want": want}
    x = np.arange(6).reshape(2, 3)
    yield {"op": "find_objects", "expr": "find_objects(x)", "in": {"x": x[:0]}, "want": np.zeros((0, 2, 2), "int64")}
    for bad in ("find_objects(x, -1)", "find_objects(x * 0.5)", "find_objects(3)", 'find_objects(x, "3")'):
        yield {"op": "find_objects", "expr": bad, "in": {"x": x}, "error": True}


def distances(rng):
    for i in range(200):
        dims = int(rng.integers(1, 5))
        shape = tuple(rng.integers(1, {1: 300, 2: 40, 3: 14, 4: 7}[dims], dims))
        x = rng.random(shape) < rng.choice([0.2, 0.5, 0.9, 0.99])
        x.flat[int(rng.integers(x.size))] = False  # of none that is zero SciPy's have no meaning
        if i % 4 == 0:
            x = x * array(rng, shape, ["float64", "int8", "uint16", "float32"][i // 4 % 4])
            x.flat[0] = 0
        by = [None, [round(float(v), 2) for v in rng.uniform(0.1, 4, dims)], [2.5]][i % 3]
        given = "" if by is None else f', "sampling={", ".join(map(str, by))}"'
        want = ndimage.distance_transform_edt(x, by and (by if len(by) == dims else by * dims))
        yield {"op": "distance_transform_edt", "expr": f"distance_transform_edt(x{given})", "in": {"x": x}, "want": want, "rtol": 0 if by is None else 1e-14}
    for shape in ((1500, 1300), (900_000,), (120, 90, 110), (2, 70_000, 7)):
        for share in (0.5, 0.9999):
            x = rng.random(shape) < share
            x.flat[-1] = False
            yield {"op": "distance_transform_edt", "expr": "distance_transform_edt(x)", "in": {"x": x}, "want": ndimage.distance_transform_edt(x)}
    x = np.ones((3, 4))
    yield {"op": "distance_transform_edt", "expr": "distance_transform_edt(x)", "in": {"x": x}, "want": x * np.inf}
    yield {"op": "distance_transform_edt", "expr": "distance_transform_edt(x)", "in": {"x": x[:0]}, "want": x[:0]}
    for bad in ('distance_transform_edt(x, "sampling=1, 2, 3")', 'distance_transform_edt(x, "sampling=0")', 'distance_transform_edt(x, "sampling=-1")', "distance_transform_edt(x, 1)"):
        yield {"op": "distance_transform_edt", "expr": bad, "in": {"x": x}, "error": True}


def cases(rng):
    yield from objects(rng)
    yield from distances(rng)
    for i in range(240):
        dims = int(rng.integers(1, 5))
        shape = tuple(rng.integers(0 if i % 20 == 0 else 1, {1: 300, 2: 40, 3: 14, 4: 7}[dims], dims))
        x = rng.random(shape) < rng.choice([0.1, 0.3, 0.5, 0.7, 0.95])
        if i % 4 == 0:
            x = x * array(rng, shape, ["float64", "int8", "uint16", "float32"][i // 4 % 4])
        c = int(rng.integers(1, dims + 1))
        yield case(x, c, c > 1 or i % 2)
    for shape, share in (((3_000_000,), 0.5), ((1500, 2000), 0.6), ((120, 150, 200), 0.3), ((3, 1100, 1000), 0.32), ((3_000_000,), 1), ((2, 1_600_000), 0.7)):
        x = rng.random(shape) < share
        for c in (1, len(shape)):
            yield case(x, c, c > 1)
    spiral = np.zeros((2100, 1000), bool)  # one part that winds through all tiles
    spiral[:, ::2] = True
    spiral[0, 1::4] = spiral[-1, 3::4] = True
    yield case(spiral, 1, False)
    x = rng.random((5, 6)) < 0.5
    for bad in ('label(x, "connectivity=3")', 'label(x, "connectivity=-1")', "label(x * 1j)", "label(x, 1)"):
        yield {"op": "label", "expr": bad, "in": {"x": x}, "error": True}
