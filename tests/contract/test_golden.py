"""The same random_state, the same answer: on every processor, with every version of Python, NumPy and SciPy.

Trees and kappas must agree to the last bit. Labels must agree as well; where the cut goes through LAPACK (normalised
cuts, "kway", "hbgf") they are promised only up to rounding, which these tables are far from.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import golden_cases
import numpy as np
import pytest

from clusterforests import _core

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads(golden_cases.FILE.read_text())
QUICK = ("default", "mixed table", "many rows", "HartiganWongKMeans")


def test_every_case_is_written_down():
    assert list(GOLDEN) == [*golden_cases.FORESTS, *golden_cases.OTHERS]


def test_file_is_named_in_the_changelog():
    assert golden_cases.file_digest() in (ROOT / "CHANGELOG.md").read_text(), (
        "tests/contract/golden/results.json has changed: say in CHANGELOG.md which results changed and why, and name "
        f"its digest there, {golden_cases.file_digest()}."
    )


@pytest.mark.parametrize("name", GOLDEN)
def test_results(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # not there on the other machines that run these cases
    assert golden_cases.result(name) == GOLDEN[name]


@pytest.mark.parametrize("instruction_set", _core.instruction_sets(), indirect=True)
def test_instruction_sets(instruction_set):
    for name in QUICK:
        assert golden_cases.result(name) == GOLDEN[name]


def features_off(keep=()):
    """List the processor features that NumPy would use here, except some."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return " ".join(feature for feature in found if feature not in keep)


# Other processors, as far as this one can imitate them: NumPy's loops, OpenBLAS, the C library.
PROCESSORS = {
    "AVX2": {
        "NPY_DISABLE_CPU_FEATURES": features_off(
            ("SSSE3", "SSE41", "POPCNT", "SSE42", "AVX", "F16C", "FMA3", "AVX2", "X86_V3")
        ),
        "OPENBLAS_CORETYPE": "Haswell",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD",
    },
    "SSE": {
        "NPY_DISABLE_CPU_FEATURES": features_off(),
        "OPENBLAS_CORETYPE": "Prescott",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4",
    },
    "Zen": {"OPENBLAS_CORETYPE": "Zen"},
}
if "avx512" in _core.instruction_sets():  # others cannot imitate it
    PROCESSORS["SkylakeX"] = {"OPENBLAS_CORETYPE": "SkylakeX"}
LATER = [pytest.param(name, marks=pytest.mark.slow) for name in PROCESSORS if name != "SSE"]


@pytest.mark.parametrize("processor", ["SSE", *LATER])
def test_processors(processor):
    command = "import json, golden_cases; print(json.dumps(golden_cases.every_result()))"
    environment = os.environ | PROCESSORS[processor] | {"PYTHONPATH": str(Path(__file__).parent)}
    run = subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == GOLDEN
