"""Build the sdist and the wheel, inspect them, install each into an empty environment and run smoke.py there.

    python3.12 tools/dist_check.py --out dist --other python3.13

The files to publish are then in `--out`.
"""

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
LICENCES = ("LICENSE", "licences/nanobind.txt", "licences/robin-map.txt")
NEEDED_TO_BUILD = ("CMakeLists.txt", "pyproject.toml", "core/bindings/module.cpp", "README.md", "LICENSE", "PKG-INFO")
NOT_PUBLISHED = ("paper/results/", "benchmarks/results/", "build/", "out/", ".github/", ".ci/", ".venv/", "dist/")
COMPILED = "clusterforests/gpu/cuda/compiled/"  # what `make kernels` makes, which is not in the repository
JUNK = (".pyc", ".so", ".o", ".orig", ".npy", ".parquet")
LARGEST = {"wheel": 5, "sdist": 5}  # MB


def run(*command: object, cwd: Path = ROOT) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def package_files() -> set[str]:
    """List what an installation must have: every file of the package under version control."""
    listed = run("git", "ls-files", "src/clusterforests").split()
    return {name.removeprefix("src/") for name in listed}


def wheel_faults(names: set[str]) -> list[str]:
    """List what is wrong with the contents of a wheel."""
    info = next((name.split("/")[0] for name in names if ".dist-info/" in name), "")
    wanted = package_files() | {f"{info}/licenses/{name}" for name in LICENCES}
    faults = [f"lacks {name}" for name in sorted(wanted - names)]
    extra = {name for name in names - wanted if not name.startswith((f"{info}/", COMPILED))}
    cores = {name for name in extra if name.startswith("clusterforests/_core.") and name.endswith(".so")}
    faults += [] if len(cores) == 1 else [f"has {len(cores)} compiled modules"]
    return faults + [f"has {name}, which is not in the repository" for name in sorted(extra - cores)]


def sdist_faults(names: set[str]) -> list[str]:
    wanted = {f"src/{name}" for name in package_files()} | {*NEEDED_TO_BUILD, *LICENCES}
    faults = [f"lacks {name}" for name in sorted(wanted - names)]
    tracked = set(run("git", "ls-files").split()) | {"PKG-INFO"}
    for name in sorted(names):
        if name.startswith(NOT_PUBLISHED) or name.endswith(JUNK):
            faults.append(f"has {name}, which is not for publication")
        elif name not in tracked and not name.startswith(f"src/{COMPILED}"):
            faults.append(f"has {name}, which is not in the repository")
    return faults


def look_into(kind: str, archive: Path) -> None:
    if kind == "wheel":
        faults = wheel_faults({name for name in zipfile.ZipFile(archive).namelist() if not name.endswith("/")})
    else:
        with tarfile.open(archive) as opened:
            faults = sdist_faults({m.name.split("/", 1)[1] for m in opened if m.isfile()})
    size = archive.stat().st_size / 1e6
    if size > LARGEST[kind]:
        faults.append(f"is {size:.1f} MB, more than {LARGEST[kind]}")
    if faults:
        sys.exit(f"{archive.name}\n  " + "\n  ".join(faults))
    print(f"{archive.name}: {size:.1f} MB, contents as they should be")


def try_out(python: str, archive: Path) -> None:
    """Install into an empty environment with base dependencies only, and run the smoke test outside the repository."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        run(python, "-m", "venv", place / "environment")
        inside = place / "environment/bin/python"
        run(inside, "-m", "pip", "install", "-q", archive)
        shutil.copy(ROOT / "tools/smoke.py", place / "smoke.py")
        print(f"{archive.name} in {run(inside, '-V').strip()}")
        print("  " + run(inside, "smoke.py", cwd=place).strip().replace("\n", "\n  "))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--other", nargs="*", default=[], help="later Pythons that must take the same wheel")
    given = parser.parse_args()
    if given.other and sys.version_info < (3, 12):  # from 3.12 on one wheel is for all
        parser.error("the wheel of Python 3.11 is for 3.11 alone: run this with Python 3.12 to try it on later ones")
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        run(sys.executable, "-m", "build", "-q", "--sdist", "--wheel", "--outdir", fresh, ROOT)
        wheel, sdist = next(fresh.glob("*.whl")), next(fresh.glob("*.tar.gz"))
        look_into("wheel", wheel)
        look_into("sdist", sdist)
        for python in (sys.executable, *given.other):
            try_out(python, wheel)
        try_out(sys.executable, sdist)
        given.out.mkdir(parents=True, exist_ok=True)
        for archive in (wheel, sdist):
            shutil.copy(archive, given.out)


if __name__ == "__main__":
    main()
