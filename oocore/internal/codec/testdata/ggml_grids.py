"""Writes ggml_grids.bin, the grids of ggml's IQ types as gguf-py 0.19 has them packed: python ggml_grids.py."""
from gguf import quants

with open("ggml_grids.bin", "wb") as f:
    for name in ("IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ1_S"):
        f.write(bytes.fromhex(getattr(quants, name).grid_hex.decode()))
