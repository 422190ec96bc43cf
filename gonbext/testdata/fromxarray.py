"""Makes x.zarr in the folder that is named, and prints what expressions of xarray give of it, as JSON."""
import json
import sys

import numpy as np
import xarray as xr

folder, expressions = sys.argv[1], json.loads(sys.argv[2])
rng = np.random.default_rng(1)
time = np.arange("2001-01-01", "2002-07-01", dtype="datetime64[D]").astype("datetime64[ns]")
values = np.round(rng.normal(5, 10, (len(time), 4, 3)), 3)
coords = {"time": time, "lat": [60.0, 45.0, 30.0, 15.0], "lon": [0, 10, 20]}
y = xr.DataArray(values, coords, ("time", "lat", "lon"), "y")
x = y.where(rng.random(values.shape) > 0.1).rename("t")
w = np.cos(np.radians(y.lat)).rename("w").drop_vars("lat")
day = {"units": "days since 1970-01-01", "dtype": "int64"}
xr.Dataset({"t": x, "y": y, "w": w}).to_zarr(f"{folder}/x.zarr", zarr_format=3, consolidated=False, encoding={"time": day})
usual = x.groupby("time.month").mean("time")


def labels(c):
    """Dates as they are stored."""
    return ((c.values - np.datetime64(0, "D")) / np.timedelta64(1, "D") if c.dtype.kind == "M" else c.values.astype("f8")).tolist()


def show(e):
    r = eval(e.replace('"x.zarr"', f'"{folder}/x.zarr", consolidated=False').replace('"y.zarr"', f'"{folder}/z.zarr"'))
    if not isinstance(r, xr.DataArray):  # what was written
        r = x
    r = r.transpose(*(d for d in ("degree", "month", "time") if d in r.dims), ...)
    v = np.array(labels(r)) if r.dtype.kind == "M" else r.values.astype("f8")
    return {"Shape": v.shape, "Values": [None if np.isnan(n) else n for n in v.ravel().tolist()],
            "Labels": {d: labels(r[d]) for d in r.dims if d in r.coords and d != "degree"}}  # which is numbered here


print(json.dumps([show(e) for e in expressions]))
