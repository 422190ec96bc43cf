"""Writes power.json.gz: NumPy's complex powers of edge values, six hexadecimal floats each.

python3 make_power.py, with NumPy 2 on glibc.
"""
import gzip
import json
import numpy as np

np.seterr(all="ignore")
inf, nan = np.inf, np.nan
parts = [0.0, -0.0, 1.0, -2.5, inf, -inf, nan, 5e-324, 1e-310, 1e300]
exponents = [complex(a, b) for a in [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5, 2.5, 99.0, 100.0, inf, -inf, nan] for b in [0.0, 1.0, -2.0, inf, nan]]
rows = []
for z in [complex(a, b) for a in parts for b in parts]:
    for w in exponents:
        r = np.power(np.array([z]), np.array([w]))[0]
        rows.append([x.hex() if x == x else "nan" for x in (z.real, z.imag, w.real, w.imag, float(r.real), float(r.imag))])
with gzip.GzipFile("power.json.gz", "wb", mtime=0) as f:
    f.write(json.dumps(rows).encode())
