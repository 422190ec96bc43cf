"""Writes NIfTI files by nibabel, and their numbers as they are stored: make.py FOLDER SEED FILES."""
import json
import sys

import nibabel
import numpy as np

out, seed, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(seed)
cases = []
for k in range(files):
    shape = tuple(int(n) for n in random.integers(1, 9, size=random.integers(1, 6)))
    dtype = np.dtype(random.choice(["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"]))
    order = random.choice(["<", ">"])
    values = (random.standard_normal(shape) * 100).astype(dtype)
    kind = (nibabel.Nifti1Image, nibabel.Nifti2Image, nibabel.Nifti1Pair, nibabel.Nifti2Pair, nibabel.AnalyzeImage)[random.integers(5)]
    if kind is nibabel.AnalyzeImage and dtype.str[1:] not in ("u1", "i2", "i4", "f4", "f8", "c8"):
        kind = nibabel.Nifti1Pair
    header = kind.header_class(endianness=order)
    header.set_data_dtype(dtype.newbyteorder(order))
    image = kind(values, np.eye(4), header)
    name = f"{k}.nii" if "Image" in kind.__name__ and kind is not nibabel.AnalyzeImage else f"{k}.{('hdr', 'img')[random.integers(2)]}"
    nibabel.save(image, f"{out}/{name}") if name.endswith("nii") else image.to_filename(f"{out}/{name}")
    stored = nibabel.load(f"{out}/{name}").dataobj.get_unscaled()
    np.save(f"{out}/{k}.npy", np.asfortranarray(stored.astype(dtype)))
    cases.append({"path": name, "want": f"{k}.npy"})
json.dump(cases, open(out + "/cases.json", "w"))
