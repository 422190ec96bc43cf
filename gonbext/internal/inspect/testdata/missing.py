"""Writes missing.zip, a folder of arrays of which chunks are missing: python3 missing.py, with zarr 3 and TensorStore."""
import os
import shutil
import tempfile

import numpy as np
import tensorstore
import zarr

x = np.arange(1, 49, dtype="i4").reshape(6, 8)  # in 2 × 2 chunks there are 12
folder = tempfile.mkdtemp()
for name, more in {
    "v2.zarr": {"zarr_format": 2, "chunks": (2, 2), "fill_value": 7},
    "none.zarr": {"zarr_format": 2, "chunks": (2, 2), "fill_value": None},
    "v3.zarr": {"zarr_format": 3, "chunks": (2, 2), "fill_value": 0},
    "sharded.zarr": {"zarr_format": 3, "chunks": (2, 2), "shards": (2, 4), "fill_value": -1},
    "left.zarr": {"zarr_format": 3, "chunks": (2, 2), "shards": (6, 8), "fill_value": -1},
    "whole.zarr": {"zarr_format": 3, "chunks": (2, 2), "fill_value": 0},
}.items():
    a = zarr.create_array(f"{folder}/{name}", shape=x.shape, dtype=x.dtype, **more)
    if name == "left.zarr":  # zarr-python leaves out what is not written
        a[0:2, 0:6] = x[0:2, 0:6]
    else:
        a[...] = x
tensorstore.open({
    "driver": "n5", "kvstore": f"file://{folder}/x.n5/", "metadata": {
        "dimensions": [6, 8], "blockSize": [2, 2], "dataType": "int32", "compression": {"type": "raw"}},
}, create=True).result()[...] = x

for name in ("v2.zarr", "none.zarr"):
    for i in range(9):
        os.remove(f"{folder}/{name}/{i // 4}.{i % 4}")
for i in range(11):
    os.remove(f"{folder}/v3.zarr/c/{i // 4}/{i % 4}")
os.remove(f"{folder}/sharded.zarr/c/1/0")
for i in range(9):
    os.remove(f"{folder}/x.n5/{i // 4}/{i % 4}")
shutil.make_archive(os.path.join(os.path.dirname(os.path.abspath(__file__)), "missing"), "zip", folder)
shutil.rmtree(folder)
