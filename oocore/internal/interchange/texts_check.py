"""Labels that are text: what xarray and h5py write of them to files and Zarr, expressions, and what xarray makes of the same."""
import json, os, sys, warnings
import h5py
import numcodecs
import numpy as np
import xarray as xr
import zarr

warnings.simplefilter("ignore")
os.chdir(sys.argv[1])
NAMES = ["Oslo", "Bergen", "Tromsø", "Ålesund", "New York", "São Paulo", "東京", "a/b", "x, y", "10", "Bodø", "K2", "Łódź", "St. John's", "🌍", "Ny-Ålesund"]

rng = np.random.default_rng(int(sys.argv[2]))
ascii_only = [n for n in NAMES if n.isascii()]


COMPRESSORS = {
    2: [{}, {"compressors": None}, {"compressors": numcodecs.Blosc("zstd")}, {"compressors": numcodecs.GZip(3)}],
    3: [{}, {"compressors": None}, {"compressors": zarr.codecs.BloscCodec(cname="lz4")}, {"compressors": [zarr.codecs.GzipCodec(level=3)]}],
}


def write(x, how, k):
    path = f"{k}.nc"
    if how == "h5py":
        fixed = bool(rng.integers(2))
        with h5py.File(path, "w") as f:
            texts = [t.encode() for t in x.station.values] if fixed else list(x.station.values)
            kind = f"S{max(map(len, texts)) + 1}" if fixed else h5py.string_dtype()
            more = [{}, {"chunks": (3,)}, {"chunks": (4,), "compression": "gzip", "shuffle": True}][rng.integers(3)]
            s = f.create_dataset("station", data=np.array(texts, dtype=kind if fixed else object), dtype=kind, **more)
            s.make_scale("station")
            for name, value in x.station.attrs.items():
                s.attrs[name] = value
            v = f.create_dataset("v", data=x.v.values)
            v.dims[0].label = "time"
            v.dims[1].attach_scale(s)
        return path + "#v"
    if how.startswith("zarr"):
        version, chunk = int(how[4]), int(rng.integers(2, 8))
        x.to_zarr(f"{k}.zarr", zarr_format=version, consolidated=bool(rng.integers(2)), encoding={"station": {"chunks": (chunk,)} | COMPRESSORS[version][rng.integers(4)]})
        return f"{k}.zarr/v"
    x.to_netcdf(path, format=how.removesuffix("-chunks"), encoding={"station": {"chunksizes": (3,)}} if how.endswith("-chunks") else {})
    return path + "#v"


cases = []
kinds = [(f, t) for f in ("NETCDF4", "NETCDF4-chunks", "NETCDF3_64BIT", "zarr2", "zarr3") for t in "OUS" * 2] + [("h5py", "O"), ("h5py", "O"), ("h5py", "O")]
for how, kind in kinds:
    if how == "NETCDF4-chunks" and kind == "S":  # where chunks of characters need two lengths
        continue
    known = ascii_only if kind == "S" else NAMES
    n = int(rng.integers(5, len(known) + 1))
    texts = list(rng.choice(known, n, replace=False))
    station = np.array([t.encode() for t in texts]) if kind == "S" else np.array(texts, dtype=object if kind == "O" else None)
    x = xr.Dataset({"v": (("time", "station"), rng.random((6, n)).astype("f4"))}, {"station": station})
    x.station.attrs = {"long_name": "where"} if rng.integers(2) else {}
    path = write(x, how, f"{how}{kind}{len(cases)}")
    x = x.v.assign_coords(station=("station", np.array(texts, dtype=object), x.station.attrs))
    one, some = texts[int(rng.integers(n))], list(rng.choice([t for t in texts if "," not in t], 3, replace=False))
    first, last = sorted(rng.choice(texts, 2, replace=False))
    fewer = [t for t in texts if t != one]
    twice = sorted(texts)
    here = [
        (f"sel(x, \"station\", \"{one}\")", x.sel(station=one, drop=True)),
        (f"sel(x, \"station\", \"{', '.join(some)}\")", x.sel(station=some)),
        (f"sel(x, \"station\", \"{some[0]},\") * 2", x.sel(station=some[:1]) * 2),
        ('slice(x, "1:4, ::-2")', x.isel(time=slice(1, 4), station=slice(None, None, -2))),
        ('sortby(x, "station")', x.sortby("station")),
        ('groupby(x, "station", "mean")', x.groupby("station").mean()),
        (f'groupby(concatenate(x, slice(x, ":, 1:4"), 1), "station", "sum")', xr.concat([x, x.isel(station=slice(1, 4))], "station").groupby("station").sum()),
        ('concatenate(slice(x, ":, :2"), slice(x, ":, 3:"), 1)', xr.concat([x.isel(station=slice(0, 2)), x.isel(station=slice(3, None))], "station")),
        ('mean(x, "time") + slice(x, "2")', x.mean("time") + x.isel(time=2)),
        ('reindex(slice(x, ":, :3"), "station", coord(x, "station"))', x.isel(station=slice(0, 3)).reindex(station=x.station)),
        ('sel(x, "station", coord(slice(x, ":, 1:3"), "station"))', x.isel(station=slice(1, 3))),
    ]
    if not any(c in first + last for c in "/,"):
        here.append((f'sel(sortby(x, "station"), "station", "{first}/{last}")', x.sortby("station").sel(station=slice(first, last))))
    for expression, want in here:
        want = want.transpose(*[d for d in ("time", "station") if d in want.dims]).rename("v")
        cases.append({"Expression": expression, "Path": path, "Want": want.values.ravel().astype("f8").tolist(), "Labels": list(want.station.values) if "station" in want.coords else None})
        for i, v in enumerate(cases[-1]["Want"]):
            if v != v:
                cases[-1]["Want"][i] = 1e300
json.dump(cases, sys.stdout)
