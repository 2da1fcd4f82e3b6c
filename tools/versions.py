"""Test the golden results with the oldest and newest NumPy, SciPy and scikit-learn, for each Python on this machine.

Build a wheel for each ABI, install it into an environment of its own, and print a table of what passed.

    python tools/versions.py --work build/versions
"""

import argparse
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
PACKAGES = ("numpy", "scipy", "scikit-learn")
OLDER_NUMPY = {"3.13": "2.1"}  # the first with a wheel for this Python
OLDER_SCIPY = {"3.13": "1.14.1"}


class Outcome(NamedTuple):
    python: str
    which: str
    versions: str
    passed: str


def lower_bounds(python: str) -> list[str]:
    """Return the oldest versions that pyproject.toml allows and that have wheels for this Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    here = [needed for needed in project["dependencies"] if ";" not in needed]  # others are for Windows
    oldest = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", needed).groups() for needed in here)
    oldest["numpy"] = OLDER_NUMPY.get(python, oldest["numpy"])
    oldest["scipy"] = OLDER_SCIPY.get(python, oldest["scipy"])
    return [f"{name}~={oldest[name] if oldest[name].count('.') > 1 else oldest[name] + '.0'}" for name in PACKAGES]


def find_python(version: str) -> str | None:
    """Find a Python on the path, or where pyenv keeps them."""
    homes = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python"))
    for candidate in (f"python{version}", *map(str, homes)):
        try:
            asked = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
            if subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
                return candidate
        except FileNotFoundError:
            continue
    return None


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def environment(python: str, folder: Path) -> Path:
    """Return the Python of the environment in that folder, creating it if necessary."""
    if not (folder / "bin/python").exists():
        run(python, "-m", "venv", folder)
    return folder / "bin/python"


def build_wheel(python: str, into: Path) -> Path:
    build = [environment(python, into / "environment"), "-m", "pip", "wheel", "-q", "--no-deps", "-w", into]
    run(*build, f"-Cbuild-dir={into / 'build'}", ROOT)
    return max(into.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime)


def check(python: str, version: str, which: str, wheel: Path, work: Path) -> Outcome:
    """Install the wheel with the oldest or the newest packages and run the golden tests with them."""
    inside = environment(python, work / f"{version}-{which}")
    wanted = lower_bounds(version) if which == "oldest" else PACKAGES
    run(inside, "-m", "pip", "install", "-q", "--upgrade", "pytest", *wanted)
    run(inside, "-m", "pip", "install", "-q", "--force-reinstall", "--no-deps", wheel)
    listed = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]), sep=', ')"
    versions = run(inside, "-c", listed, *PACKAGES).strip()
    tests = [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", "--tb=short"]
    # The plugins and fixtures of the other tests are not installed here.
    tests += ["tests/contract/test_golden.py", "-k", "test_results or test_processors or test_every_case"]
    done = subprocess.run(tests, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
    return Outcome(version, which, versions, done.stdout.strip().splitlines()[-1].strip("= "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=ROOT / "build/versions", help="folder for environments and wheels")
    work = parser.parse_args().work.resolve()
    wheels: dict[str, Path] = {}
    failed = False
    print("| Python | packages | NumPy, SciPy, scikit-learn | golden tests |\n|---|---|---|---|", flush=True)
    for version in PYTHONS:
        python = find_python(version)
        if python is None:
            print(f"| {version} | not on this machine | | not run |")
            continue
        kind = "cp311" if version == "3.11" else "abi3"
        if kind not in wheels:
            wheels[kind] = build_wheel(python, work / kind)
        for which in ("oldest", "newest"):
            outcome = check(python, version, which, wheels[kind], work)
            print(f"| {' | '.join(outcome)} |", flush=True)
            failed = failed or "failed" in outcome.passed or "error" in outcome.passed
    sys.exit(failed)


if __name__ == "__main__":
    main()
