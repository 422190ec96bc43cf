"""Random work by label: expressions, and what xarray makes of the same, with the labels of the result."""
import json, os, sys, warnings
import numpy as np
import pandas as pd
import xarray as xr

warnings.simplefilter("ignore")
os.chdir(sys.argv[1])
rng = np.random.default_rng(int(sys.argv[2]))


def dataset(calendar, freq, start, n):
    time = xr.date_range(start, periods=n, freq=freq, calendar=calendar, use_cftime=calendar != "proleptic_gregorian")
    lat = np.sort(rng.choice(np.arange(-90, 90, 2.5), 7, replace=False))[:: rng.choice([1, -1])]
    lon = np.sort(rng.choice(360, 9, replace=False)).astype(rng.choice(["f4", "f8", "i4"]))
    values = rng.random((n, 7, 9)).astype("f4")
    values[rng.random(values.shape) < 0.1] = np.nan
    return xr.Dataset({"v": (("time", "lat", "lon"), values)}, {"time": time, "lat": lat, "lon": lon})


def text(time):
    return (time if hasattr(time, "calendar") else pd.Timestamp(time)).strftime("%Y-%m-%dT%H:%M:%S")


def numbers(coord):
    """Labels as numbers: of dates their fields, since calendars differ."""
    if coord.dtype == object or coord.dtype.kind == "M":
        fields = [getattr(coord.dt, f).values for f in ("year", "month", "day", "hour")]
        return [[int(f[i]) for f in fields] for i in range(coord.size)]
    return [float(x) for x in coord.values]


def of(grouped, name):
    return getattr(grouped, name.removeprefix("nan"))(skipna=name.startswith("nan"))


cases = []
for made, (calendar, freq, n) in enumerate((c, *f) for c in ["proleptic_gregorian", "standard", "noleap", "360_day", "julian", "all_leap"] for f in (("D", 900), ("6h", 400), ("36h", 300))):
    x = dataset(calendar, freq, f"{rng.integers(1850, 2090)}-{rng.integers(1, 13):02d}-{rng.integers(1, 28):02d}", n)
    if made % 2:
        x.to_netcdf(f"{made}.nc")
        path = f"{made}.nc#v"
    else:
        x.to_zarr(f"{made}.zarr", zarr_format=int(rng.choice([2, 3])), consolidated=False)
        path = f"{made}.zarr/v"
    x = x.v
    a, b = sorted(int(i) for i in rng.choice(n, 2, replace=False))
    months, days = [text(x.time.values[i])[:7] for i in (a, b)], [text(x.time.values[i])[:10] for i in (a, b)]
    low, high = (float(x.lat[i]) for i in sorted(rng.choice(7, 2, replace=False)))
    lon, near, w = float(x.lon[3]), float(rng.uniform(-95, 95)), int(rng.integers(2, 7))
    r = str(rng.choice(["mean", "sum", "min", "max", "median", "std", "var", "prod"]))
    periods = [("1M", "ME"), ("MS", "MS"), ("2MS", "2MS"), ("QS", "QS"), ("YS", "YS"), ("Y", "YE"), ("10D", "10D"), ("48h", "48h")]
    ours, theirs = (periods + [("W", "W")] * (calendar == "proleptic_gregorian"))[rng.integers(8 + (calendar == "proleptic_gregorian"))]
    field = str(rng.choice(["month", "year", "day", "hour", "dayofyear", "dayofweek", "quarter", "season"]))
    if field in ("quarter", "dayofweek") and calendar != "proleptic_gregorian":  # which cftime lacks, or counts otherwise
        field = "month"
    groups = x.groupby(f"time.{field}")
    here = [
        (f'sel(x, "time", "{months[0]}/{months[1]}", "lat", "{low}/{high}")', x.sel(time=slice(*months), lat=slice(low, high))),
        (f'sel(x, "time", "{days[0]}/")', x.sel(time=slice(days[0], None))),
        (f'sel(x, "time", "{months[0]}", "lon", {lon})', x.sel(time=months[0], lon=lon)),
        (f'sel(x, "lat", near({near}), "lon", {lon})', x.sel(lat=near, method="nearest").sel(lon=lon)),
        (f'sel(x, "time", "{text(x.time.values[a])}")', x.isel(time=a)),  # of cftime xarray keeps the dimension
        (f'sel(x, "lat", {low})', x.sel(lat=low)),
        (f'groupby(x, "time.{field}", "{r}")', of(groups, r)),
        (f'groupby(x, "time.{field}", "nan{r}")', of(groups, "nan" + r)),
        (f'x - groupby(x, "time.{field}", "nanmean", "broadcast")', groups - groups.mean()),
        (f'resample(x, "time", "{ours}", "nan{r}")', of(x.resample(time=theirs), "nan" + r)),
        (f'rolling(x, "nanmedian", {w}, 0)', x.rolling(time=w, min_periods=1).median().isel(time=slice(w - 1, None))),
        (f'rolling(x, "nanmean", {w}, "lat")', x.rolling(lat=w, min_periods=1).mean().isel(lat=slice(w - 1, None))),
        (f'coarsen(x, "nanmedian", {w}, 1, 3, "trim")', x.coarsen(time=w, lon=3, boundary="trim").median().drop_vars(["time", "lon"])),
        ("diff(x, 1, 0)", x.diff("time")),
        ('slice(x, "::-3, ::2")', x.isel(time=slice(None, None, -3), lat=slice(None, None, 2))),
        ('nanmean(x, "lat")', x.mean("lat")),
        ("transpose(x, 2, 0, 1) * 2", x.transpose("lon", "time", "lat") * 2),
        ("sort(x, 1)", x.copy(data=np.sort(x.values, 1)).drop_vars("lat")),
    ]
    wanted = np.unique(np.concatenate([rng.choice(x.lat.values, 3, replace=False), rng.uniform(-90, 90, 2)]))[::-1]
    np.save("wanted%d.npy" % made, wanted)
    filled = x.fillna(0.5)
    here += [
        ('sortby(x, "lat")', x.sortby("lat")),
        ('sortby(x, "lon", "descending")', x.sortby("lon", ascending=False)),
        ('reindex(x, "lat", w)', x.reindex(lat=wanted)),
        ('reindex(x, "lat", w, "near")', x.reindex(lat=wanted, method="nearest")),
        (f'shift(x, "time", {w})', x.shift(time=w)),
        (f'shift(x, "lat", -1)', x.shift(lat=-1)),
        ('idxmax(x, "lat")', x.idxmax("lat")),
        ('idxmin(nan_to_num(x, 0.5), "lon")', filled.idxmin("lon").astype("f8")),
    ]
    q, value = float(rng.uniform(0, 1)), float(rng.uniform(0, 1))
    bins = np.array([-91.0, -45.0, 0.0, 45.0, 91.0])
    np.save(f"bins{made}.npy", bins)
    at = np.sort(rng.uniform(float(x.lon.min()), float(x.lon.max()), 5))
    np.save(f"at{made}.npy", at)
    one = filled.isel(time=0, lat=0)
    here += [  # methods of xarray whose place here is NumPy's function
        ('groupby(x, digitize(coord(x, "lat"), bins, "right") - 1, "nanmean", 1)', x.groupby_bins("lat", bins[: 2 + int(np.searchsorted(bins[1:], float(x.lat.max())))]).mean().transpose("time", "lat_bins", "lon").drop_vars("lat_bins")),
        ('polyfit(astype(coord(x, "lat"), "float64"), slice(astype(nan_to_num(x, 0.5), "float64"), "0"), 2)', filled.isel(time=0).astype("f8").polyfit("lat", 2).polyfit_coefficients.drop_vars(["degree", "lon"])),
        ('interp(at, astype(coord(x, "lon"), "float64"), slice(nan_to_num(x, 0.5), "0, 0"))', one.interp(lon=at).drop_vars("lon")),
    ]
    here += [  # with labels of what stays
        (f'slice(x, "{min(a, 5)}, ::2")', x.isel(time=min(a, 5), lat=slice(None, None, 2))),
        (f'where(x > {value}, x, nan)', x.where(x > value)),
        (f'where(isnan(x), {value}, x)', x.fillna(value)),
        (f'quantile(x, {q}, "lat")', x.quantile(q, "lat", skipna=False).drop_vars("quantile")),
        (f'nanquantile(x, {q}, "time")', x.quantile(q, "time").drop_vars("quantile")),
        ('cumsum(nan_to_num(x, 0.0), "time")', x.cumsum("time").assign_coords(time=x.time)),
        ('ffill(x, "time")', x.ffill("time")),
        ('bfill(x, "lat")', x.bfill("lat")),
        ('interpolate_na(x, "lon")', x.interpolate_na("lon", use_coordinate=False)),
        ('rankdata(nan_to_num(x, 0.5), "lat")', filled.rank("lat")),
        ('trapezoid(nan_to_num(x, 0.5), "lon", "x", astype(coord(x, "lon"), "float64"))', filled.integrate("lon")),
        ('gradient(nan_to_num(x, 0.5), astype(coord(x, "lon"), "float64"), "lon")', filled.differentiate("lon")),
        (f'sel(groupby(x, "time.season", "nanmean"), "season", "{str(x.time.dt.season.values[a])}")', x.groupby("time.season").mean().sel(season=str(x.time.dt.season.values[a])).drop_vars("season")),
    ]
    areas = np.cos(np.deg2rad(x.lat))
    weight = 'cos(deg2rad(astype(coord(x, "lat"), "float64")))'
    here += [
        (f'nanaverage(x, {weight}, "lat")', x.weighted(areas).mean("lat")),
        (f'nansum(x * expand_dims({weight}, 1), "lat")', x.weighted(areas).sum("lat")),
        ('nanaverage(x, astype(nan_to_num(x, 0.0), "float64"), "lon")', x.weighted(x.fillna(0).astype("f8")).mean("lon")),
        # in groups: of sums, as x.groupby(...) has no weights
        ('groupby(x * nan_to_num(x, 0.5), "time.month", "nansum") / groupby(where(isnan(x), 0, x), "time.month", "sum")', (x * filled).groupby("time.month").sum() / filled.where(x.notnull()).groupby("time.month").sum()),
    ]
    for dim, most in (("time", 9), ("lat", 9), ("lon", 12)):  # windows also of more than there is
        w = int(rng.integers(1, most))
        least, reduction, alpha = int(rng.integers(1, w + 1)), str(rng.choice(["mean", "sum", "min", "max", "std", "var", "median"])), float(rng.uniform(0.01, 1))
        windows = x.astype("f8").rolling({dim: w}, min_periods=least)
        here.append((f'rolling(x, "nan{reduction}", {w}, "{dim}", "min_periods={least}")', getattr(windows, reduction)()))
        last = x.transpose(..., dim)
        means = pd.DataFrame(last.values.reshape(-1, x.sizes[dim]).T.astype("f8")).ewm(alpha=alpha, adjust=False).mean().values.T
        here.append((f'ewm_mean(x, {alpha}, "{dim}", "adjust=false")', last.copy(data=means.reshape(last.shape)).transpose(*x.dims)))
    if field != "season":
        here.append((f'{field}(coord(x, "time"))', getattr(x.time.dt, field)))
    for expression, want in here:
        k = len(cases)
        np.save(f"want{k}.npy", want.values)
        labels = {d: numbers(want[d]) for d in want.dims if d in want.coords and d != "season"}
        cases.append({"Expression": expression, "Path": path, "Want": f"want{k}.npy", "Labels": labels, "Calendar": calendar, "Wanted": "wanted%d.npy" % made, "Bins": f"bins{made}.npy", "At": f"at{made}.npy"})
json.dump(cases, sys.stdout)
