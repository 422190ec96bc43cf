"""Writes arrays of records with zarr-python: python fields.py NAME [2] makes fields/NAME.zarr and fields/NAME.npy, whose
fields have the names of the paths. structured is of zarr-python 3.1, struct of 3.2; with 2 behind it, version 2."""
import pathlib
import sys
import warnings

import numpy as np
import zarr

warnings.simplefilter("ignore")
name, version = sys.argv[1], int((sys.argv + ["3"])[2])
folder = pathlib.Path(__file__).parent / "fields"
times = [] if version == 2 else [("t", "<M8[s]")]
nested = [("x", "<f8"), ("y", "<i2")]
flat = [("e", "<f4" if version == 3 else ">f4"), ("id", "<i8"), ("b", "?"), ("s", "S3"), ("z", "<c8"), ("h", "<f2")] + times
a = np.zeros(11, flat + [("in", nested)])
a["e"], a["id"], a["b"] = np.arange(11) / 4, np.arange(11) * 1234567890123, np.arange(11) % 3 == 0
a["z"], a["h"], a["s"] = np.arange(11) * (2 - 1j), np.arange(11) / 2, b"ab"
a["in"]["x"], a["in"]["y"] = np.arange(11) / 3, -np.arange(11)
if times:
    a["t"] = np.arange(11).astype("M8[s]")
a[8:] = a[5]  # the last chunk is missing
z = zarr.create_array(folder / f"{name}.zarr", shape=a.shape, dtype=a.dtype, chunks=4, zarr_format=version, fill_value=a[5], overwrite=True)
z[:8] = a[:8]
named = np.zeros(11, [(n, d) for n, d in flat] + [("in." + n, d) for n, d in nested])
for n in named.dtype.names:
    named[n] = a["in"][n[3:]] if n.startswith("in.") else a[n]
np.save(folder / f"{name}.npy", named)
