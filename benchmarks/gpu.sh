#!/usr/bin/env bash
# On a machine with an NVIDIA GPU, CuPy and torch: build, test, check memory accesses, measure. About ten minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
site=${SITE:-$(mktemp -d)}
"$python" tools/compile_kernels.py
"$python" -m pip install -q --no-build-isolation --no-deps --upgrade --target "$site" .
export PYTHONPATH="$site:tests${PYTHONPATH:+:$PYTHONPATH}"
"$python" -c "from clusterforests._utils.devices import need_cupy; need_cupy()" # without it the tests would run emulated
"$python" -m pytest -q -m gpu tests/gpu/test_gpu.py tests/gpu/test_device_rows.py tests/rows/test_paths.py
compute-sanitizer --tool memcheck --error-exitcode 1 "$python" -m benchmarks gpu --only small-fits
# Warnings about CuPy's own kernels are not ours.
compute-sanitizer --tool racecheck "$python" -m benchmarks gpu --only small-fits | tee "$site/races.log"
if grep -E '(_rows|votes_[1-8]|project|_keys|_chances|_cells|_lines|_companions|find_unequal)[+(]' "$site/races.log"; then exit 1; fi
"$python" -m benchmarks gpu
