"""Makes a consolidated store with xarray, and reads it in all the states of a save.

    python consolidated.py make FOLDER
    python consolidated.py check FOLDER

check reads FOLDER/*/x.zarr by zarr-python and xarray, with consolidated metadata and
without. An array is as it was made, or full of 85, or missing; in the last state none
is missing. It prints the number of states.
"""
import pathlib
import sys
import warnings

import numpy as np
import xarray
import zarr

warnings.simplefilter("ignore")
OLD = np.arange(12, dtype="int32").reshape(3, 4)
GROUPS = {"": ["t", "same", "new"], "g": ["u"]}


def make(root):
    top = xarray.Dataset({"t": (("time", "x"), OLD), "same": (("time", "x"), OLD)}, coords={"x": np.arange(4)})
    top.to_zarr(root, zarr_format=3, consolidated=False)
    xarray.Dataset({"u": (("time", "x"), OLD)}).to_zarr(root, group="g", zarr_format=3, consolidated=False)
    zarr.consolidate_metadata(root)
    zarr.consolidate_metadata(root, path="g")
    zarr.consolidate_metadata(root)


def arrays(state, group):
    """All readers of a group: name and a mapping of arrays."""
    where = str(state / group) if group else str(state)
    for consolidated in (True, False):
        g = zarr.open_group(where, mode="r", use_consolidated=consolidated)
        yield f"zarr {consolidated}", {k: np.asarray(a[...]) for k, a in g.arrays()}
        d = xarray.open_zarr(where, consolidated=consolidated)
        yield f"xarray {consolidated}", {k: v.values for k, v in d.variables.items()}
    if group:
        g = zarr.open_group(str(state), mode="r", use_consolidated=True)
        yield "zarr from the root", {k: np.asarray(a[...]) for k, a in g[group].arrays()}
        d = xarray.open_zarr(str(state), group=group, consolidated=False)
        yield "xarray from the root", {k: v.values for k, v in d.variables.items()}


def check(states):
    for state in states:
        for group, names in GROUPS.items():
            for reader, found in arrays(state / "x.zarr", group):
                for name in names:
                    a = found.get(name)
                    last = state == states[-1] and name != "same"
                    if a is None:
                        assert not last and name != "same", (state, reader, group, name)
                    elif last:
                        assert (a == 85).all() and a.dtype == "float32", (state, reader, group, name, a)
                    else:
                        assert (a == OLD).all() or (a == 85).all(), (state, reader, group, name, a)
    print(len(states))


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    check(sorted(pathlib.Path(sys.argv[2]).iterdir()))
