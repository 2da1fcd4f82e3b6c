"""Say what made a figure: the commit, the golden results at it, and the versions of the libraries.

The golden results (tests/contract/golden/results.json) are fits with fixed seeds. Those at the commit of a figure tell
whether it comes from the algorithm as it is now: a change of the documents leaves them alone. Only cases count that
the figure depends on and that both commits have, so that a case may be added.

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
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GOLDEN = "tests/contract/golden/results.json"
CHOSEN = ("number of clusters", "levels of a category")  # cases in which the number of clusters is chosen
CHOOSING = ("benchmarks/how_many/RESULTS.md", "benchmarks/ANNDATA.md")  # pages of which some figures are
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
DEPENDS: dict[str, Callable[[str], bool]] = {  # the cases that figures of a kind depend on
    "given": lambda case: case not in CHOSEN,
    "chosen": lambda case: True,
    "paper": lambda case: case in PAPER,
}
MADE_AT = re.compile(r"\bcommit ([0-9a-f]{9})\+? \(golden results [0-9a-f]{12}\)")
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
def golden_results(commit: str = "") -> dict[str, Any]:
    """Return the golden results, now or at a commit, by their cases; none if it had none."""
    try:
        text = _git("show", f"{commit}:{GOLDEN}") if commit else (ROOT / GOLDEN).read_text(encoding="utf-8")
    except ValueError:
        return {}
    found: dict[str, Any] = json.loads(text)
    return found


def golden_digest(commit: str = "") -> str:
    """Return a digest of the golden results, now or at a commit; "" if it had none."""
    found = golden_results(commit)
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12] if found else ""


def is_current(commit: str, kind: str = "given") -> bool:
    """Tell whether the algorithm gave the same at a commit as now, in all cases that figures of a kind depend on.

    It is not known for a commit that was not recorded, or that had no golden results.
    """
    then, now = golden_results(commit.rstrip("+")) if commit else {}, golden_results()
    both = [case for case in now if case in then and DEPENDS[kind](case)]
    return bool(both) and all(then[case] == now[case] for case in both)


def named(commit: str) -> str:
    """Name a commit with its golden results."""
    return f"commit {commit} (golden results {golden_digest(commit.rstrip('+')) or 'not there yet'})"


def stamp(*packages: str) -> str:
    """Return the sentence that a file of figures begins with, or each of its sections ends with."""
    return f"Made at commit {current_commit()} (golden results {golden_digest()}) with {versions(*packages)}."


def versions(*packages: str) -> str:
    """List the versions of Python and of packages."""
    named = (f"{package} {version(package)}" for package in packages or PACKAGES)
    return ", ".join([f"Python {platform.python_version()}", *named])


def _git(*command: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"git {command[0]}: {done.stderr.strip()}. Figures need a git checkout, to name its commit.")
    return done.stdout


def split_sections(page: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the first section of a page, and the sections by their titles."""
    head, *parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    return head, dict(zip(parts[::2], parts[1::2], strict=True))


def is_of_today(text: str, kind: str = "given") -> bool:
    """Tell whether a text names commits with their golden results, and all of them had the algorithm as it is now."""
    commits = set(MADE_AT.findall(text))
    return bool(commits) and all(is_current(commit, kind) for commit in commits)


def shows_today(file: Path) -> bool:
    """Tell whether all figures of a page come from the algorithm as it is now.

    A stamp before the first section is for the whole page. Without one, each section needs its own.
    """
    page = file.read_text(encoding="utf-8") if file.exists() else ""
    head, sections = split_sections(page)
    parts = [page] if MADE_AT.search(head) or not sections else sections.values()
    return all(is_of_today(part, kind_of(file)) for part in parts)


def kind_of(file: Path) -> str:
    """Say what the figures of a page depend on."""
    page = file.resolve().relative_to(ROOT).as_posix()
    return "paper" if page.startswith("results/") else "chosen" if page in CHOOSING else "given"


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
            file.write_text(stamp() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
