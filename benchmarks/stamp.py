"""Say what made a figure: the commit, the golden results at it, and the versions of the libraries.

The golden results (tests/contract/golden/results.json) are fits with fixed seeds. Their digest tells whether a figure
comes from the algorithm as it is now: a change of the documents leaves it alone, a change of the results does not.

    python benchmarks/stamp.py benchmarks/SCALE.md         # succeeds if the figures are of the algorithm as it is now
    python benchmarks/stamp.py --begin results/STAMP.md    # stamps a folder before its first results are computed
"""

import argparse
import functools
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOLDEN = "tests/contract/golden/results.json"
PAPER = (  # cases that the paper's tables depend on
    "paper",
    "pairwise kappa",
    "many features",
    "BaggedClustering",
    "EvidenceAccumulation",
    "HartiganWongKMeans",
    "NJWSpectralClustering",
    "RandomProjectionEnsemble",
)
DIGEST = re.compile(r"\(golden results ([0-9a-f]{12})\)")
PACKAGES = ("clusterforests", "numpy", "scipy", "scikit-learn")
CODE = ("src", "core", "benchmarks/*.py", "benchmarks/*.R")


def current_commit() -> str:
    """Return the commit of this checkout, with a plus sign if code was changed since.

    Where the history is not there, as on a machine that was given the files alone, $CLUSTERFORESTS_COMMIT names it.
    """
    if given := os.environ.get("CLUSTERFORESTS_COMMIT"):
        return given
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *CODE)
    return _git("rev-parse", "--short=9", "HEAD").strip() + ("+" if changed.strip() else "")


@functools.cache
def golden_digest(commit: str = "", cases: tuple[str, ...] = ()) -> str:
    """Return a digest of the golden results, of some cases if named, now or at a commit; "" if it had none."""
    try:
        text = _git("show", f"{commit}:{GOLDEN}") if commit else (ROOT / GOLDEN).read_text(encoding="utf-8")
    except ValueError:
        return ""
    found = json.loads(text)
    chosen = {case: found.get(case) for case in cases or sorted(found)}
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:12]


def is_current(commit: str) -> bool:
    """Tell whether the algorithm gave the same at a commit as now; not known for one that was not recorded."""
    return bool(commit) and golden_digest(commit.rstrip("+")) == golden_digest()


def named(commit: str) -> str:
    """Name a commit with its golden results."""
    return f"commit {commit} (golden results {golden_digest(commit.rstrip('+')) or 'not there yet'})"


def stamp(*packages: str, cases: tuple[str, ...] = ()) -> str:
    """Return the sentence that a file of figures begins with."""
    made = f"commit {current_commit()} (golden results {golden_digest(cases=cases)})"
    return f"Made at {made} with {versions(*packages)}."


def versions(*packages: str) -> str:
    """List the versions of Python and of packages."""
    named = (f"{package} {version(package)}" for package in packages or PACKAGES)
    return ", ".join([f"Python {platform.python_version()}", *named])


def _git(*command: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"git {command[0]}: {done.stderr.strip()}. Figures need a git checkout, to name its commit.")
    return done.stdout


def shows_today(file: Path) -> bool:
    """Tell whether all figures of a page come from the algorithm as it is now."""
    cases = PAPER if file.parent.name == "results" else ()
    named = set(DIGEST.findall(file.read_text(encoding="utf-8"))) if file.exists() else set()
    return named == {golden_digest(cases=cases)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="+", help="pages of figures")
    parser.add_argument("--begin", action="store_true", help="stamp a folder of the paper's figures, unless it has one")
    given = parser.parse_args()
    if not given.begin:
        sys.exit(0 if all(map(shows_today, given.file)) else f"{' '.join(map(str, given.file))}: to be made anew")
    for file in given.file:
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(stamp(cases=PAPER) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
