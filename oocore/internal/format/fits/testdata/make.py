"""Writes FITS files by astropy, and their numbers as they are stored, of integers those that astropy has: make.py FOLDER SEED FILES."""
import json
import sys

import numpy as np
from astropy.io import fits

sys.dont_write_bytecode = True
import tiles  # noqa: E402

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []
for k in range(files):
    parts = []
    for i in range(random.integers(1, 5)):
        shape = tuple(int(n) for n in random.integers(1, 20, size=random.integers(1, 4)))
        values = (random.standard_normal(shape) * 100).astype(random.choice(["u1", "i2", "i4", "i8", "f4", "f8", "u2", "u4", "u8", "i1"]))
        if i > 0 and random.integers(4) == 0:
            parts.append(fits.BinTableHDU.from_columns([fits.Column("x", "E", array=np.arange(random.integers(1, 900)))]))
        elif i > 0 and random.integers(2) == 0:
            parts.append(tiles.image(random))
        elif i > 0 and random.integers(20) == 0:
            parts.append(fits.CompImageHDU(random.integers(0, 99, size=(9, 9), dtype="i2"), compression_type="HCOMPRESS_1"))
        else:
            parts.append(fits.ImageHDU(values, name=f"N{i}") if i else fits.PrimaryHDU(values))
            if random.integers(4) == 0 and values.dtype in ("i2", "i4"):  # scaled in the header alone: stored as they are
                parts[-1].header["BLANK"] = int(values.flat[0])
                parts[-1].header["BUNIT"] = "adu"
    fits.HDUList(parts).writeto(f"{out}/{k}.fits")
    if random.integers(4) == 0:  # two parts of one picture
        parts += [fits.ImageHDU(np.full(3, v, "u8") + np.uint64(1 << 63), name="SCI", ver=v) for v in (1, 2)]
        fits.HDUList(parts).writeto(f"{out}/{k}.fits", overwrite=True)
        cases.append({"path": f"{k}.fits#sci", "want": "error: use one of #" + str(len(parts) - 2)})
        for v in (1, 2):
            np.save(f"{out}/{k}.sci{v}.npy", np.full(3, v, "u8") + np.uint64(1 << 63))
            cases.append({"path": f"{k}.fits#sci,{v}", "want": f"{k}.sci{v}.npy"})
    with fits.open(f"{out}/{k}.fits", do_not_scale_image_data=True, disable_image_compression=True) as f, fits.open(f"{out}/{k}.fits", disable_image_compression=True) as decoded, fits.open(f"{out}/{k}.fits") as whole:
        for i, part in enumerate(f):
            want = f"{k}.{i}.npy"
            if part.header.get("ZCMPTYPE") == "HCOMPRESS_1":
                want = "error: HCOMPRESS_1"
            elif part.header.get("ZIMAGE"):
                data = whole[i].data
                np.save(f"{out}/{want}", np.ascontiguousarray(data.astype(data.dtype.newbyteorder("="))))
            elif isinstance(part, fits.BinTableHDU):
                want = "error: no image"
            else:
                stored = part.data if "BLANK" in part.header else decoded[i].data
                np.save(f"{out}/{want}", np.ascontiguousarray(stored.astype(stored.dtype.newbyteorder("="))))
                if part.name and i and part.name != "SCI":
                    cases.append({"path": f"{k}.fits#{part.name.lower()}", "want": want})
            cases.append({"path": f"{k}.fits#{i}", "want": want})
json.dump(cases, open(out + "/cases.json", "w"))
