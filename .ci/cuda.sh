#!/usr/bin/env bash
# The build with the tag cuda, and its tests against a double of NVIDIA's driver:
# no GPU is needed. It takes Go, Python with pip, and a C compiler; the headers of
# CUDA stay in .artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."
headers=$PWD/.artifacts/cuda
fail() { printf 'CUDA build: %s\n' "$*" >&2; exit 1; }

command -v cc >/dev/null && command -v nm >/dev/null || fail "there is no C compiler: install gcc"
include=$headers/nvidia/cuda_runtime/include
if [ ! -f "$include/cuda.h" ]; then
  python=python3
  [ ! -x .venv/bin/python ] || python=.venv/bin/python
  rm -rf "$headers" && mkdir -p "$headers"
  "$python" -m pip download -q --disable-pip-version-check --no-deps -d "$headers" nvidia-cuda-runtime-cu12==12.9.79 ||
    fail "the headers of CUDA could not be downloaded"
  "$python" -m zipfile -e "$headers"/*.whl "$headers" && rm "$headers"/*.whl
  [ -f "$include/cuda.h" ] || fail "the package of headers has no cuda.h"
fi
export CGO_ENABLED=1 CGO_CFLAGS="-O2 -g -Wno-deprecated-declarations '-I$include'"

entries=$(mktemp)
trap 'rm -f "$entries"' EXIT
(cd cuda/internal/driver/gorgonia && sh entries.sh "$entries") || fail "the driver's functions could not be listed"
diff cuda/internal/driver/gorgonia/entries.h "$entries" || fail "entries.h is stale: run go generate -tags cuda ./cuda/internal/driver/gorgonia"
go vet -tags cuda ./cuda/... || fail "go vet found the above"
go test -count=1 -vet=off -tags cuda ./cuda ./cuda/internal/driver/gorgonia || fail "a test failed"
