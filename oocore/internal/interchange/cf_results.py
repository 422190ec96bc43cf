"""Holds results of arrays that xarray has encoded to what xarray reads of them.

    python cf_results.py FOLDER

FOLDER has the stores of cf_check.py, and out.zarr with an array NAME.STEP of each, whose steps are those below.
Prints what differs.
"""
import pathlib
import sys
import warnings

import numpy as np
import xarray as xr

warnings.simplefilter("ignore")
folder = pathlib.Path(sys.argv[1])
COPIES = {  # stand for what the same step makes of the decoded numbers
    "copy": lambda x: x,
    "reversed": lambda x: x[::-1],
    "joined": lambda x: np.concatenate([x, x]),
    "taken": lambda x: x[[2, 0]],
    "doubles": lambda x: x,
    "decoded": lambda x: x,
}
COMPUTED = {"more": lambda x: x + x.dtype.type(1), "negative": np.negative}  # stand for themselves
out = xr.open_zarr(folder / "out.zarr", consolidated=False, decode_times=False)
if len(out.variables) < 128:
    print(f"{len(out.variables)} results are too few")
for v in out.variables:
    name, step = v.split(".")
    stored = xr.open_zarr(folder / f"{name}.zarr", consolidated=False, decode_times=False, mask_and_scale=step not in COMPUTED).v.values
    want = (COPIES | COMPUTED)[step](stored)
    if step == "doubles" and "unsigned" in name:
        continue  # which has no attributes any more
    got = out[v].values
    if not np.array_equal(got, want, equal_nan=True):
        print(f"{v}: {got} with {out[v].encoding}, want {want}")
