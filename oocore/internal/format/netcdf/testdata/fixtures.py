"""Writes the small file that plain tests read: a record dimension, two variables of records, of 6 and 8 bytes, and a plain one."""
import netCDF4
import numpy as np

with netCDF4.Dataset("small.nc", "w", format="NETCDF3_CLASSIC") as f:
    f.title, f.version = "small", np.int32(3)
    f.createDimension("time", None)
    f.createDimension("x", 3)
    a = f.createVariable("a", "i2", ("time", "x"), fill_value=-1)
    a.set_auto_maskandscale(False)
    a.scale_factor, a.nan, a.list = 0.5, np.float32("nan"), np.array([1, 2], "i2")
    f.createVariable("time", "f8", ("time",))[:] = np.arange(4) * 10
    a[:] = np.arange(12).reshape(4, 3)
    f.createVariable("name", "S1", ("x",))[:] = np.array([b"a", b"b", b"c"])
    f.createVariable("x", "f4", ("x",))[:] = [1, 2, 3]
