"""Writes FITS files by astropy, and their numbers as they are stored: make.py FOLDER SEED FILES."""
import json
import sys

import numpy as np
from astropy.io import fits

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []
for k in range(files):
    parts = []
    for i in range(random.integers(1, 5)):
        shape = tuple(int(n) for n in random.integers(1, 20, size=random.integers(1, 4)))
        values = (random.standard_normal(shape) * 100).astype(random.choice(["u1", "i2", "i4", "i8", "f4", "f8", "u2", "u4"]))
        if i > 0 and random.integers(4) == 0:
            parts.append(fits.BinTableHDU.from_columns([fits.Column("x", "E", array=np.arange(random.integers(1, 900)))]))
        elif i > 0 and random.integers(6) == 0:
            parts.append(fits.CompImageHDU(values))
        else:
            parts.append(fits.ImageHDU(values, name=f"N{i}") if i else fits.PrimaryHDU(values))
    fits.HDUList(parts).writeto(f"{out}/{k}.fits")
    with fits.open(f"{out}/{k}.fits", do_not_scale_image_data=True, disable_image_compression=True) as f:
        for i, part in enumerate(f):
            want = f"{k}.{i}.npy"
            if part.header.get("ZIMAGE"):
                want = "error: compressed images"
            elif isinstance(part, fits.BinTableHDU):
                want = "error: no image"
            else:
                np.save(f"{out}/{want}", np.ascontiguousarray(part.data.astype(part.data.dtype.newbyteorder("="))))
                if part.name and i:
                    cases.append({"path": f"{k}.fits#{part.name.lower()}", "want": want})
            cases.append({"path": f"{k}.fits#{i}", "want": want})
json.dump(cases, open(out + "/cases.json", "w"))
