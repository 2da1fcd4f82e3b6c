"""Compile the GPU's kernels for the chips in use, so that nobody's first fit has to wait for the compiler.

    python tools/compile_kernels.py                       # into the package's folder, for the chips of CHIPS
    python tools/compile_kernels.py --chip 90             # for one of them

It needs NVIDIA's run-time compiler, such as that of `pip install "clusterforests[kernels]"`, but no GPU. What it writes
is not in the repository: wheels and the sdist have it. Without it, CuPy compiles the kernels at the first fit.
"""

import argparse
import ctypes
import ctypes.util
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "clusterforests" / "gpu" / "sources.py"
CHIPS = ("80", "90", "100", "120")  # compute capabilities; later chips of a generation run the same
REALS = (np.float32, np.float64)
LABELS = np.int8  # trees have at most 128 clusters unless somebody asks for more
MEMBERS = 200


def load_sources() -> ModuleType:
    """Load the module of this checkout, which says what there is to compile, without installing it."""
    spec = importlib.util.spec_from_file_location("sources_to_compile", SOURCES)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def candidates() -> Iterator[str]:
    """Yield where the compiler's library may be: in packages of Python, then where the system has it."""
    for folder in map(Path, sys.path):
        yield from map(str, sorted(folder.glob("nvidia/*/lib/libnvrtc.so.*")))
    found = ctypes.util.find_library("nvrtc")
    yield from [found] if found else []
    yield from map(str, sorted(Path("/usr/local/cuda/lib64").glob("libnvrtc.so.*")))


def open_compiler() -> ctypes.CDLL:
    for path in candidates():
        if "builtins" not in path and "alt" not in path:
            return ctypes.CDLL(path)
    sys.exit('NVIDIA\'s run-time compiler was not found. Install it: pip install "clusterforests[kernels]".')


def check(compiler: ctypes.CDLL, status: int, log: str = "") -> None:
    if status:
        compiler.nvrtcGetErrorString.restype = ctypes.c_char_p
        sys.exit(f"{compiler.nvrtcGetErrorString(status).decode()}\n{log}")


def compile_source(compiler: ctypes.CDLL, code: str, options: tuple[str, ...], chip: str) -> bytes:
    """Compile kernels to the machine code of a chip."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(compiler, compiler.nvrtcCreateProgram(ctypes.byref(program), code.encode(), b"kernels.cu", 0, None, None))
    given = [option.encode() for option in (*options, f"--gpu-architecture=sm_{chip}")]
    status = compiler.nvrtcCompileProgram(program, len(given), (ctypes.c_char_p * len(given))(*given))
    check(compiler, compiler.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
    log = ctypes.create_string_buffer(size.value)
    check(compiler, compiler.nvrtcGetProgramLog(program, log))
    check(compiler, status, log.value.decode())
    check(compiler, compiler.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    binary = ctypes.create_string_buffer(size.value)
    check(compiler, compiler.nvrtcGetCUBIN(program, binary))
    check(compiler, compiler.nvrtcDestroyProgram(ctypes.byref(program)))
    return binary.raw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chip", action="append", help="compute capability without the point; several may be given")
    chips = parser.parse_args().chip or CHIPS
    module, compiler = load_sources(), open_compiler()
    sources = {source for real in REALS for source in module.sources_of(real, LABELS, MEMBERS).values()}
    wanted = {source.compiled(chip): (source, chip) for source in sources for chip in chips}
    module.COMPILED.mkdir(exist_ok=True)
    for path in set(module.COMPILED.glob("*.cubin")) - set(wanted):
        path.unlink()
    for path, (source, chip) in sorted(wanted.items()):
        if not path.exists():
            path.write_bytes(compile_source(compiler, source.code, source.options, chip))
            print(f"{path.name}: {path.stat().st_size / 1024:.0f} KB", flush=True)
    print(f"{len(wanted)} files for {len(chips)} chips are in {module.COMPILED.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
