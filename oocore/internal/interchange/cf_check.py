"""Makes stores whose arrays are encoded by the CF conventions, and what xarray decodes of them.

    python cf_check.py FOLDER

writes NAME.zarr and NAME.npy, dates as integers, and prints a line for each: name, array, unit of dates.
Those of zarr-python's dates have no unit: they are read as they are.
"""
import pathlib
import sys
import warnings

import numpy as np
import xarray as xr
import zarr

warnings.simplefilter("ignore")
folder = pathlib.Path(sys.argv[1])
HOLES = np.array([1.5, np.nan, -3.25, 100.0, np.nan, 0.0])


def times(*texts, unit="ns"):
    return np.array(texts, f"datetime64[{unit}]")


DAYS = times("2000-01-01", "NaT", "1999-12-31", "2038-07-04", "1970-01-01")
HOURS = times("2000-01-01T13:00", "1900-01-01T06:00", "1850-05-06T07:00")
OLD = times("1600-02-29", "1678-01-01", "2300-01-01T12:00:00", unit="s")
CASES = {
    "scaled": (HOLES, {"dtype": "int16", "_FillValue": -32768, "scale_factor": 0.25}),
    "packed": (HOLES, {"dtype": "int16", "_FillValue": -999, "scale_factor": 0.25, "add_offset": 10.0}),
    "offset": (HOLES[[0, 2, 3]], {"dtype": "int32", "add_offset": 0.5}),
    "bytes": (np.array([1, np.nan, 200, 3]), {"dtype": "uint8", "_FillValue": 255}),
    "ints": (np.array([1, np.nan, 70000, 3]), {"dtype": "int32", "_FillValue": -1}),
    "unsigned": (np.array([1, np.nan, 200, 3]), {"dtype": "int8", "_FillValue": np.int8(-1), "_Unsigned": "true"}),
    "singles": (HOLES.astype("f4"), {"_FillValue": np.float32(-9999)}),
    "both": (HOLES, {"_FillValue": -9999.0, "missing_value": -9999.0}),
    "days": (DAYS, {"units": "days since 2000-01-01", "dtype": "int64", "_FillValue": -99}),
    "fractions": (DAYS, {"units": "days since 1990-06-01 06:00:00", "dtype": "float64"}),
    "hours": (HOURS, {"units": "hours since 1900-01-01 00:00:00", "dtype": "int32", "calendar": "standard"}),
    "minutes": (HOURS, {"units": "minutes since 1999-12-31T23:30:00", "dtype": "int64", "calendar": "proleptic_gregorian"}),
    "old": (OLD, {"units": "days since 1500-03-01", "dtype": "float64", "calendar": "proleptic_gregorian"}),
    "seconds": (OLD, {"units": "seconds since 1601-01-01", "dtype": "int64", "calendar": "standard"}),
    "micro": (HOURS, {"units": "microseconds since 2000-01-01", "dtype": "int64"}),
}
for version in (2, 3):
    for name, (values, encoding) in CASES.items():
        path = folder / f"{name}{version}.zarr"
        d = xr.Dataset({"v": ("x", values)})
        d.v.encoding = encoding
        d.to_zarr(path, zarr_format=version, consolidated=False)
        for unit in ("ns", "s") if values.dtype.kind == "M" and name not in ("old", "seconds") else ("s",):
            decoded = xr.open_zarr(path, consolidated=False, decode_times=xr.coders.CFDatetimeCoder(time_unit=unit)).v.values
            resolution = np.datetime_data(decoded.dtype)[0] if decoded.dtype.kind == "M" else "ns"
            np.save(folder / f"{name}{version}.{unit}.npy", decoded.view("i8") if decoded.dtype.kind == "M" else decoded)
            print(f"{name}{version}.zarr/v", f"{name}{version}.{unit}.npy", unit, resolution)
    for kind in ("datetime64", "timedelta64"):
        for unit in ("D", "s", "ms", "us", "ns"):
            name = f"{kind}{unit}{version}"
            values = np.array([0, 86400, -5, np.iinfo("i8").min]).view(f"{kind}[{unit}]")
            a = zarr.create_array(folder / f"{name}.zarr", shape=values.shape, chunks=(3,), dtype=values.dtype, zarr_format=version)
            a[:] = values
            np.save(folder / f"{name}.npy", values.view("i8"))
            print(f"{name}.zarr", f"{name}.npy", "-", unit)
