"""Build the core's self-tests for other systems and run them where that is possible.

They need no Python. Each prints a digest of every result, which must be the recorded one: the same on every machine.

    python tools/self_tests.py                     # this machine
    python tools/self_tests.py --target windows    # needs g++-mingw-w64-x86-64-posix and wine
    python tools/self_tests.py --target macos-arm64 --target macos-x86_64    # ziglang of PyPI compiles and links
    python tools/self_tests.py --target all

`--record` writes the digests anew: only when results are meant to change.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
DIGESTS = ROOT / "tests/core/native/digests.txt"


class Target(NamedTuple):
    """A compiler, what CMake calls the system and processor it compiles for, and what runs its programs here."""

    compiler: str = ""
    system: str = ""
    processor: str = ""
    runner: str | None = ""  # None: nothing here can run them
    options: tuple[str, ...] = ()


STATIC = ("-DCMAKE_EXE_LINKER_FLAGS=-static",)  # so that no libraries of the system are needed to run it
NO_AVX = ("-DCF_DETECT_AVX=OFF",)  # compiled all the same, but zig's library cannot ask the processor for it
TARGETS = {
    "here": Target(),
    "linux-aarch64": Target("aarch64-linux-gnu-g++", "Linux", "aarch64", "qemu-aarch64-static", STATIC),
    "musl-x86_64": Target("zig c++ -target x86_64-linux-musl", "Linux", "x86_64", "", NO_AVX),
    "windows": Target("x86_64-w64-mingw32-g++-posix", "Windows", "AMD64", "wine"),
    "macos-arm64": Target("zig c++ -target aarch64-macos", "Darwin", "arm64", None),
    "macos-x86_64": Target("zig c++ -target x86_64-macos", "Darwin", "x86_64", None, NO_AVX),
}


def find(program: str) -> str:
    """Return the path of a program; ziglang of PyPI has its own outside the path."""
    if program == "zig" and (spec := importlib.util.find_spec("ziglang")) and spec.origin:
        return str(Path(spec.origin).parent / "zig")
    path = shutil.which(program)
    if path is None:
        sys.exit(f"{program} is not installed.")
    return path


def build(name: str, work: Path) -> Path:
    """Compile and link the self-tests for a target, and return the program."""
    target, folder = TARGETS[name], work / name
    configure = ["cmake", "-S", ROOT, "-B", folder, "-DCF_SELF_TEST=ON", "-DCMAKE_BUILD_TYPE=Release", *target.options]
    environment = dict(os.environ)
    if target.compiler:
        program, *arguments = target.compiler.split()
        environment["CXX"] = " ".join([find(program), *arguments])
        configure += [f"-DCMAKE_SYSTEM_NAME={target.system}", f"-DCMAKE_SYSTEM_PROCESSOR={target.processor}"]
    for command in (configure, ["cmake", "--build", folder, "--parallel", os.environ.get("WORKERS", "2")]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return folder / ("self_test.exe" if target.system == "Windows" else "self_test")


def run(name: str, program: Path, *arguments: object) -> str:
    """Run the self-tests and return what they print; stop where one fails."""
    runner = TARGETS[name].runner
    command = [*([find(runner)] if runner else []), program, *arguments]
    # Wine links its drives to the root of the system: what walks through this folder must not meet them.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as wine:
        quiet = {"WINEDEBUG": "-all", "WINEPREFIX": wine}
        done = subprocess.run(command, env=os.environ | quiet, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        sys.exit(f"{name}: the self-tests fail.\n{done.stdout}\n{done.stderr}")
    return done.stdout.replace("\r", "")


def main() -> None:
    """Build and run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", action="append", choices=["all", *TARGETS], help="default: here")
    parser.add_argument("--work", type=Path, default=ROOT / "build/self_tests", help="folder to build in")
    parser.add_argument("--record", action="store_true", help="write the digests anew")
    given = parser.parse_args()
    wanted = given.target or ["here"]
    for name in TARGETS if "all" in wanted else wanted:
        program = build(name, given.work.resolve())
        if TARGETS[name].runner is None:
            print(f"{name}: compiled and linked; nothing here can run it", flush=True)
            continue
        expected = () if given.record else (DIGESTS.relative_to(ROOT).as_posix(),)
        digests = run(name, program, *expected)
        if given.record:
            DIGESTS.write_text(digests)
        recorded = DIGESTS.read_text().splitlines()
        print(f"{name}: {len(digests.splitlines())} of {len(recorded)} digests are the recorded ones", flush=True)


if __name__ == "__main__":
    main()
