"""Run the golden cases on aarch64, emulated: Debian's Python for arm64 under qemu, with NumPy's wheels for it.

The core is cross-compiled, so only the tests themselves are slow. Needs Debian (apt-get, dpkg-deb) with the packages
qemu-user-static and g++-aarch64-linux-gnu, and Python 3.11; nothing of the system is changed.

    python3.11 tools/emulate.py --work build/aarch64
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
RELEASE, PYTHON = "bookworm", "3.11"  # the Python of that release of Debian
MIRROR = "http://deb.debian.org/debian"
DEBIAN = (f"python{PYTHON}", f"libpython{PYTHON}-dev", "libstdc++6")
PACKAGES = ("numpy", "scipy", "scikit-learn")
WHEELS = ("manylinux_2_17_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64", "manylinux2014_aarch64")


def run(*command: object, **changes: str) -> None:
    """Run a command, and stop with what it printed if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, env=os.environ | changes, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def fetch_debian(work: Path) -> Path:
    """Unpack Debian's Python for arm64 into a folder, with an apt that knows nothing of this machine's packages."""
    root = work / "debian"
    if (root / f"usr/bin/python{PYTHON}").exists():
        return root
    state, cache, sources = work / "apt/state", work / "apt/cache", work / "apt/sources.list"
    for folder in (state / "lists/partial", cache / "archives/partial", root):
        folder.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    signed = "signed-by=/usr/share/keyrings/debian-archive-keyring.gpg"
    sources.write_text(f"deb [{signed}] {MIRROR} {RELEASE} main\n")
    settings = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Cache": cache,
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "-",
    }
    apt = ["apt-get", *(f"-o{name}={value}" for name, value in settings.items()), "-qy"]
    run(*apt, "update")
    run(*apt, "install", "--no-install-recommends", "--download-only", *DEBIAN)
    for package in sorted((cache / "archives").glob("*.deb")):
        run("dpkg-deb", "-x", package, root)
    return root


def fetch_packages(work: Path) -> Path:
    """Install NumPy, SciPy and scikit-learn for aarch64 into a folder."""
    site = work / "site"
    if not (site / "sklearn").exists():
        platforms = [word for wheel in WHEELS for word in ("--platform", wheel)]
        pip = [sys.executable, "-m", "pip", "install", "-q", "--target", site, "--no-compile", *platforms]
        run(*pip, "--python-version", PYTHON, "--only-binary=:all:", *PACKAGES)
    return site


def builder(work: Path) -> Path:
    """Return the Python of an environment with what building needs, all of this machine."""
    python = work / "builder/bin/python"
    if not python.exists():
        run(sys.executable, "-m", "venv", work / "builder")
        requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
        run(python, "-m", "pip", "install", "-q", *requires, "cmake", "ninja")
    return python


def install_package(work: Path, root: Path, site: Path) -> None:
    """Cross-compile a wheel of the package and install it.

    With the configuration of Debian's Python, this one takes itself for the other; headers come from there as well.
    """
    headers = root / f"usr/include/python{PYTHON}"
    cmake = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": "aarch64-linux-gnu-g++",
        "CMAKE_CXX_FLAGS": f"-isystem {root / 'usr/include'}",  # of the headers, one includes another from there
        "Python_INCLUDE_DIR": headers,
    }
    configuration = work / "configuration"
    configuration.mkdir(exist_ok=True)
    name = "_sysconfigdata__aarch64-linux-gnu"
    shutil.copy(root / f"usr/lib/python{PYTHON}/{name}.py", configuration)
    disguise = {
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",
        "_PYTHON_SYSCONFIGDATA_NAME": name,
        "PYTHONPATH": str(configuration),
        "SKBUILD_CMAKE_DEFINE": ";".join(f"{key}={value}" for key, value in cmake.items()),
    }
    wheels = work / "wheel"
    shutil.rmtree(wheels, ignore_errors=True)
    python = builder(work)
    disguise["PATH"] = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    build = ["wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, f"-Cbuild-dir={work / 'build'}", ROOT]
    run(python, "-m", "pip", *build, **disguise)
    (wheel,) = wheels.glob("clusterforests-*-linux_aarch64.whl")
    for old in site.glob("clusterforests*"):
        shutil.rmtree(old)
    unpack = ["install", "-q", "--target", site, "--no-deps", "--no-compile", "--platform", "linux_aarch64"]
    run(python, "-m", "pip", *unpack, "--only-binary=:all:", wheel)


def main() -> None:
    """Prepare what is missing and run the cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=ROOT / "build/aarch64", help="folder for Debian and wheels")
    work = parser.parse_args().work.resolve()
    if f"{sys.version_info.major}.{sys.version_info.minor}" != PYTHON:
        sys.exit(f"The headers are those of Python {PYTHON}: run this with python{PYTHON}.")
    root, site = fetch_debian(work), fetch_packages(work)
    install_package(work, root, site)
    python = ["qemu-aarch64-static", "-L", root, root / f"usr/bin/python{PYTHON}"]
    plain = {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    cases = [*python, ROOT / "tools/golden.py"]
    sys.exit(subprocess.run(cases, env=os.environ | plain, check=False).returncode)


if __name__ == "__main__":
    main()
