"""Holds the levels of a pyramid at a path to what NumPy makes of its first."""
import sys

import numpy as np
import zarr

group = zarr.open_group(sys.argv[1], mode="r")
(image,) = group.attrs["ome"]["multiscales"]
assert [a["name"] for a in image["axes"]] == ["c", "z", "y", "x"], image
levels = [group[d["path"]] for d in image["datasets"]]
assert len(levels) == 4 and levels[0].shape == (2, 3, 301, 258) and levels[0].chunks == (1, 2, 64, 64)
want = levels[0][:]
assert want.std() > 10000
for i, level in enumerate(levels):
    np.testing.assert_array_equal(level[:], want, f"level {i}")
    assert level.metadata.dimension_names == ("c", "z", "y", "x")
    assert image["datasets"][i]["coordinateTransformations"] == [{"type": "scale", "scale": [1, 1, 2**i, 2**i]}]
    height, width = want.shape[2:]
    even = np.pad(want.astype("f8"), ((0, 0), (0, 0), (0, height % 2), (0, width % 2)), constant_values=np.nan)
    even = even.reshape(2, 3, (height + 1) // 2, 2, (width + 1) // 2, 2)
    want = np.rint(np.nanmean(even, axis=(3, 5))).astype(want.dtype)
