"""Writes the files of this folder by PyTorch (2.15 on CPU), and torch.json, which has what it reads in them."""
import json
import os
from collections import OrderedDict

import torch

here = os.path.dirname(os.path.abspath(__file__))
torch.manual_seed(7)
expected = {}


def save(file, value, tensors, **options):
    torch.save(value, os.path.join(here, file), **options)
    expected[file] = {
        name: {"dtype": str(x.dtype).removeprefix("torch."), "shape": list(x.shape),
               "bytes": bytes(x.detach().contiguous().reshape(-1).view(torch.uint8).tolist()).hex() if x.numel() else ""}
        for name, x in tensors.items()}


def elements(dtype, *shape):
    n = 1
    for of in shape:
        n *= of
    x = torch.arange(n, dtype=torch.float64).reshape(shape) - 5
    if dtype == torch.bool:
        return x.remainder(3) == 0
    if dtype.is_complex:
        return torch.complex(x, x * x).to(dtype)
    if dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64):
        x = x.abs()
    return x.to(dtype)


types = {str(t).removeprefix("torch."): elements(t, 2, 3) for t in (
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16,
    torch.uint32, torch.uint64, torch.bool, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2)}
save("types.pt", types, types)

base = elements(torch.float32, 4, 5, 6)
views = OrderedDict(
    base=base, tied=base, transposed=base[0].t(), permuted=base.permute(2, 0, 1), reversed_axes=base.permute(2, 1, 0), part=base[1:3, :, 2:5],
    steps=base[::2, 1::2, ::3], expanded=base[0, 0].expand(3, 6), outer=base[0, :, :1].expand(5, 4), both=base[0, 0, :1].expand(2, 3), diagonal=torch.diagonal(base[:, :4, 0]),
    windows=base.reshape(-1).unfold(0, 7, 3), scalar=base[2, 3, 4], empty=base[:0], narrow=base[3], column=base[:, 2:3, 1])
save("views.pt", views, views)

linear = torch.nn.Linear(3, 2)
nested = {"state_dict": linear.state_dict(), "epoch": 3, "loss": 0.25, "name": "ä", "large": 1 << 80, "negative": -7, "huge": -(1 << 40), "raw": b"bytes", "none": None, "flag": True,
          "optimizer": {"state": {0: {"exp_avg": torch.ones(2, 3), "step": torch.tensor(4.)}}, "groups": [{"params": [0, 1], "betas": (0.9, 0.999)}]},
          "list": [torch.zeros(1), (torch.arange(3), "x")], "parameter": torch.nn.Parameter(torch.arange(2.)), "dtype": torch.float16, "size": torch.Size([1, 2]),
          "device": torch.device("cpu"), "complex": 1j, "set": {1, 2}}
flat = {"state_dict.weight": linear.weight, "state_dict.bias": linear.bias, "optimizer.state.0.exp_avg": torch.ones(2, 3), "optimizer.state.0.step": torch.tensor(4.),
        "list.0": torch.zeros(1), "list.1.0": torch.arange(3), "parameter": torch.arange(2.)}
save("nested.pt", nested, flat)
save("protocol4.pth", nested, flat, pickle_protocol=4)
save("old.ckpt", {k: v for k, v in views.items() if k != "empty"}, {k: v for k, v in views.items() if k != "empty"}, _use_new_zipfile_serialization=False)
save("alone.pt", base[:2].t().contiguous() if base.dim() == 2 else base[0], {"": base[0]})
save("unread.pt", {"sparse": torch.eye(3).to_sparse(), "csr": torch.eye(3).to_sparse_csr(), "quantized": torch.quantize_per_tensor(torch.arange(4.), 0.5, 1, torch.qint8),
                   "conjugated": torch.ones(2, dtype=torch.complex64).conj(), "meta": torch.empty(2, device="meta"),
                   "float8_e8m0fnu": torch.ones(2).to(torch.float8_e8m0fnu), "read": torch.ones(2)}, {"read": torch.ones(2)})
torch.save(linear, os.path.join(here, "model.pt"))
json.dump(expected, open(os.path.join(here, "torch.json"), "w"), indent=1)
