// Package interchange holds the stored formats to the libraries that others use
// for them: zarr-python, TensorStore, NumPy and safetensors. What these write is
// read here with equal bytes, and what is written here is read by them.
package interchange
