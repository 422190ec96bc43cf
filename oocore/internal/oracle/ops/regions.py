"""Cases of connected parts, with what scipy.ndimage says of them."""

import numpy as np
from scipy import ndimage

from ops.shape import array


def case(x, connectivity, given):
    want = ndimage.label(x, ndimage.generate_binary_structure(x.ndim, connectivity))[0]
    return {"op": "label", "expr": f'label(x, "connectivity={connectivity}")' if given else "label(x)", "in": {"x": x}, "want": want}


def cases(rng):
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
