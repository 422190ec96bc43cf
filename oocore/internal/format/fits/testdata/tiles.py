"""Makes compressed images by astropy; tiles.py tiles.fits.gz writes some, each followed by what astropy reads of it as a plain image."""
import gzip
import io
import sys

import numpy as np
from astropy.io import fits

CODINGS = ["RICE_1", "GZIP_1", "GZIP_2", "NOCOMPRESS", "PLIO_1"]


def image(random, coding=None, dtype=None, dither=None, shape=None):
    """One of any type, shape, tiles and quantization."""
    coding = coding or str(random.choice(CODINGS))
    types = ["u1", "i2", "i4", "f4", "f8", "i1", "u2", "u4"]
    if coding == "PLIO_1":
        types = ["u1", "i2", "i4"]
    elif coding != "RICE_1":
        types += ["i8", "u8"]
    dtype = np.dtype(dtype or random.choice(types))
    shape = shape or tuple(int(n) for n in random.integers(1, 40, size=random.integers(1, 4)))
    tile = tuple(int(random.integers(1, n + 3)) for n in shape)
    if random.integers(3) == 0:
        tile = None
    kwargs = {"compression_type": coding, "tile_shape": tile}
    if dtype.kind == "f":
        values = (random.standard_normal(shape) * 100 + 7).astype(dtype)
        level = float(random.choice([0, 16, 4, -0.5]))
        if coding in ("RICE_1", "PLIO_1") and level == 0:
            level = 4.0
        if coding == "NOCOMPRESS":
            level = 0.0
        dither = dither or int(random.choice([-1, 1, 2]))
        if random.integers(2):
            values[random.random(shape) < 0.1] = np.nan
        if random.integers(2):
            values[random.random(shape) < 0.2] = 0
        if random.integers(3) == 0:
            values[...] = 3.7  # which is not quantized
        kwargs |= {"quantize_level": level, "quantize_method": dither, "dither_seed": int(random.integers(1, 10001))}
    else:
        spread = random.choice([1, 30, 3000, 1e9, 0])
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        values = np.clip(random.standard_normal(shape) * spread + (low / 2 + high / 2), low, high - 2048 if high > 2**31 else high)
        if random.integers(3) == 0:
            values[random.random(shape) < 0.8] = low
        if random.integers(3) == 0 and dtype.itemsize < 8:
            values = random.integers(low, high, size=shape, endpoint=True)
        if coding == "PLIO_1":  # a mask, as astropy's compressor writes beyond its memory elsewhere
            palette = [[0, 0, 1, 7, 200], [0, 0, high % 2**24]][random.integers(2)]
            values = np.resize(np.repeat(random.choice(palette, size=2000), 6), shape)
            kwargs["tile_shape"] = [None, shape][random.integers(2)]
        values = values.astype(dtype)
    return fits.CompImageHDU(values, **kwargs)


def stored(part):
    """The bytes of a part of a file."""
    out = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), part]).writeto(out)
    return out.getvalue()[2880:]


if __name__ == "__main__":
    random, out = np.random.default_rng(12), io.BytesIO()
    fits.PrimaryHDU().writeto(out)
    for coding, dtype, dither in [("RICE_1", "u1", 0), ("RICE_1", "u2", 0), ("RICE_1", "i4", 0), ("GZIP_1", "i1", 0), ("GZIP_2", "u8", 0), ("NOCOMPRESS", "f8", 0), ("PLIO_1", "i2", 0),
                                  ("RICE_1", "f4", -1), ("RICE_1", "f8", 1), ("GZIP_2", "f4", 2), ("RICE_1", "f4", 2), ("GZIP_1", "f4", 1)]:
        packed = stored(image(random, coding, dtype, dither, (7, 31)))
        out.write(packed)
        with fits.open(io.BytesIO(out.getvalue()[:2880] + packed)) as f:
            out.write(stored(fits.ImageHDU(np.array(f[1].data))))
    with open(sys.argv[1], "wb") as f:
        f.write(gzip.compress(out.getvalue(), 9, mtime=0))
