#!/usr/bin/env bash
# On a machine with an NVIDIA GPU, CuPy and torch: build, test, check memory accesses, measure. About ten minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
site=${SITE:-$(mktemp -d)}
"$python" -m pip install -q --no-build-isolation --no-deps --upgrade --target "$site" .
export PYTHONPATH="$site:tests${PYTHONPATH:+:$PYTHONPATH}"
"$python" -m pytest -q -m gpu --noconftest tests/test_gpu.py
for tool in memcheck racecheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 1 "$python" benchmarks/gpu_small.py
done
"$python" benchmarks/gpu.py --out benchmarks/GPU.md
