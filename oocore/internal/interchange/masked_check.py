"""What numpy.ma makes of expressions, one a line on the command line, with NaN for the mask."""
import os, sys
import numpy as np

os.chdir(sys.argv[1])
rng = np.random.default_rng(int(sys.argv[2]))
x, i = rng.standard_normal((40, 9)), rng.integers(-3, 4, (40, 9))
m = rng.random(x.shape) < 0.3
m[::7] = False  # each column has some
w = rng.integers(0, 4, x.shape).astype("f8")
a = np.ma.array(x, mask=m)
for name, of in {"x": x, "i": i, "m": m, "w": w}.items():
    np.save(f"{name}.npy", of)
with np.errstate(all="ignore"):
    for k, text in enumerate(sys.argv[3:]):
        made = eval(text)
        np.save(f"want{k}.npy", np.ma.filled(made.astype("f8"), np.nan))
