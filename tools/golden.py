"""Compare the golden cases with their recorded results, on whatever machine this runs; needs no test framework."""

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

# The cases are not part of the package, and neither are the paper's methods that are among them.
sys.path.append(str(Path(__file__).parent.parent))
sys.path.append(str(Path(__file__).parent.parent / "tests/contract"))
import golden_cases

from clusterforests import _core

PACKAGES = ("numpy", "scipy", "scikit-learn")


def main() -> int:
    """Print a line for each case, then how many are the same; return 1 unless all are."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    print(f"{system}, {versions}, instruction set {_core.instruction_set()}", flush=True)
    golden = json.loads(golden_cases.FILE.read_text(encoding="utf-8"))
    same = 0
    for name, recorded in golden.items():
        equal = golden_cases.result(name) == recorded
        same += equal
        print(f"  {'same' if equal else 'DIFFERENT'}  {name}", flush=True)
    print(f"{same} of {len(golden)} golden cases are the same, bit for bit", flush=True)
    return int(same != len(golden))


if __name__ == "__main__":
    sys.exit(main())
