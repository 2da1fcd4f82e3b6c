"""Write src/clusterforests/_core.pyi, the types of the C++ module, from the module itself.

python tools/stub.py            # after a change of core/bindings
python tools/stub.py --check    # exit with 1 where the file is not what the module says
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from nanobind.stubgen import StubGen

from clusterforests import _core

FILE = Path(__file__).parent.parent / "src/clusterforests/_core.pyi"


def stub() -> str:
    """Return the stub as nanobind writes it, without the layouts of arrays, and formatted."""
    generator = StubGen(_core, quiet=True)
    generator.put(_core)
    # Layouts make lines of a thousand characters, and no type checker reads them.
    layout = re.compile(r"Annotated\[(NDArray\[[\w.]+\]), dict\(.*?\)\](?=[ ,)\]:|\n])")
    text = re.sub(r"\bAnnotated, |, Annotated\b", "", layout.sub(r"\1", generator.get()))
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(FILE), "-"]
    lines = subprocess.run(ruff, input=text, capture_output=True, text=True, check=True, cwd=FILE.parents[2])
    return lines.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    if parser.parse_args().check:
        sys.exit(FILE.read_text() != stub())
    FILE.write_text(stub())


if __name__ == "__main__":
    main()
