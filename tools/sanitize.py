"""Build the C++ core with sanitizers and run the tests that reach it, then hostile calls.

python tools/sanitize.py address     AddressSanitizer and UndefinedBehaviorSanitizer
python tools/sanitize.py thread      ThreadSanitizer: Python is not built with it, but all threads of the core are ours

Exit with 1 if a test fails or a sanitizer reports anything. The last line is a summary as JSON.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "tests/core/test_columns.py",
    "tests/core/test_core.py",
    "tests/core/test_group_votes.py",
    "tests/core/test_label_tables.py",
    "tests/core/test_table_fit.py",
    "tests/test_kmeans.py",
    "tests/trees/test_growth.py",
    "tests/consensus/test_consensus_clustering.py",
    "tests/contract/test_invariance.py",
    "tests/consensus/test_graph_products.py",
    "tests/table/test_scaling.py",
    "tests/table/test_imputation.py",
    "tests/rows/test_projected_rows.py",
)
FAULTS = ("ERROR: AddressSanitizer", "runtime error", "WARNING: ThreadSanitizer: ")  # failed allocations do not count
# OpenBLAS is not built with ThreadSanitizer, which cannot see how its threads wait for each other.
NOT_OURS = ("libscipy_openblas64_", "libscipy_openblas-")
LIBRARIES = {"address": ("libasan.so", "libubsan.so"), "thread": ("libtsan.so",)}


def build(kind: str) -> Path:
    target = ROOT / "build" / f"sanitized-{kind}"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--upgrade", "--target", str(target), "."]
    options = ["-C", f"cmake.define.CF_SANITIZE={kind}", "-C", f"build-dir=build/sanitize-{kind}"]
    subprocess.run([*install, *options], cwd=ROOT, check=True)
    return target


def environment(kind: str, package: Path, reports: Path) -> dict[str, str]:
    """Return the variables of a Python that loads the core; what a sanitizer says goes to files."""
    found = [subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True) for name in LIBRARIES[kind]]
    common = f"log_path={reports}/said:exitcode=66"
    ignored = reports / "not-ours.txt"
    ignored.write_text("".join(f"called_from_lib:{library}\n" for library in NOT_OURS))
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(path.strip() for path in found),
        "PYTHONPATH": str(package),
        "ASAN_OPTIONS": f"{common}:detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4096",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1",
        "TSAN_OPTIONS": f"{common}:allocator_may_return_null=1:suppressions={ignored}",
        "OPENBLAS_NUM_THREADS": "1",  # its threads are not under test
    }


def check_core(settings: dict[str, str], package: Path) -> None:
    """Make sure that the tests load the core that was built, not the one that is installed."""
    script = "from clusterforests import _core; print(_core.__file__)"
    core = subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, env=settings, text=True).strip()
    if not Path(core).is_relative_to(package):
        raise SystemExit(f"The tests would load {core}, which has no sanitizer. Remove it from PYTHONPATH.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=LIBRARIES)
    parser.add_argument("--seconds", type=int, default=120, help="of hostile calls")
    given = parser.parse_args()
    package = build(given.kind)
    reports = ROOT / "build" / f"reports-{given.kind}"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    results = reports / "tests.xml"
    settings = environment(given.kind, package, reports)
    check_core(settings, package)
    pytest = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-o", "junit_family=xunit1"]
    status = [subprocess.run([*pytest, f"--junitxml={results}", *TESTS], cwd=ROOT, env=settings).returncode]
    fuzz = [sys.executable, "tests/robustness/fuzz_core.py", "--seconds", str(given.seconds)]
    calls = subprocess.run(fuzz, cwd=ROOT, env=settings, stdout=subprocess.PIPE, text=True)
    status.append(calls.returncode)
    said = [path for path in sorted(reports.glob("said*")) if any(word in path.read_text() for word in FAULTS)]
    ended = sum(code not in (0, 1) for code in status)  # a sanitizer that ends the process may not get to write
    for path in said:
        print(path.read_text())
    summary = {
        "sanitizer": given.kind,
        "tests": int(next(ET.parse(results).iter("testsuite")).get("tests", 0)) if results.exists() else 0,
        "calls": json.loads(calls.stdout)["calls"] if calls.stdout else 0,
        "faults": max(len(said), ended),
    }
    print(json.dumps(summary))
    return 1 if said or any(status) else 0


if __name__ == "__main__":
    sys.exit(main())
