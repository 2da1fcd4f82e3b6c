"""Give damaged files to the command line, one after the other, in this process; say what each came to.

    python damaged_files.py KIND FIRST LAST FOLDER

A line goes to standard output before a file is read, so that whoever started this knows which file ended the process,
and one after it. `run` does the starting, and counts.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

KINDS = ("csv", "npy", "parquet", "feather", "model")
ROOM = 2**30  # bytes of address space for all that is read
SECONDS = 20.0  # for one file
FIT_EVERY = 16  # of so many files one is fitted; a prediction reads the others

NUMBERS = (0, 1, -1, 2**7, 2**15, 2**31 - 1, 2**31, -(2**31), 2**62, -(2**62))


def damage(contents: bytes, rng: np.random.Generator) -> bytes:
    """Damage a file: bits, bytes, numbers, holes, repeats, cuts; one to three times."""
    data = bytearray(contents)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(data))) if data else 0
        length = int(rng.integers(1, 2 + len(data) // 4))
        how = rng.integers(8)
        if how == 0 and data:
            data[at] ^= 1 << int(rng.integers(8))
        elif how == 1:
            data[at : at + 1] = rng.bytes(1)
        elif how == 2:
            size = int(rng.choice([2, 4, 8]))
            number = int(rng.choice(NUMBERS)) % 2 ** (8 * size)
            data[at : at + size] = number.to_bytes(size, "little")
        elif how == 3:
            data[at : at + length] = bytes(len(data[at : at + length]))
        elif how == 4:
            data[at:at] = data[at : at + length]
        elif how == 5:
            del data[at : at + length]
        elif how == 6:
            del data[at:]
        else:
            data[at : at + length] = rng.bytes(length)
    return bytes(data)


def good_files(folder: Path) -> dict[str, bytes]:
    """Write a whole file of each kind, and return what is in them."""
    import pandas as pd
    from sklearn.pipeline import make_pipeline

    from clusterforests import ClusterForest, TableReader, save

    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)) + np.repeat([[0.0], [9.0]], 30, axis=0), 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["group"] = np.where(np.arange(60) < 25, "left", "right")
    frame["when"] = np.arange(60) % 3 == 0
    frame.loc[5, "a"] = None
    frame.astype({"when": int}).to_csv(folder / "good.csv", index=False)
    frame.to_parquet(folder / "good.parquet")
    frame.to_feather(folder / "good.feather", compression="uncompressed")  # compressed bytes would hide the damage
    np.save(folder / "good.npy", X)
    model = make_pipeline(TableReader(), ClusterForest(2, n_estimators=5, random_state=0)).fit(frame)
    save(model, folder / "good.model")
    ClusterForest(2, n_estimators=5, random_state=0).fit(X).save(folder / "numbers.model")
    return {kind: (folder / f"good.{kind}").read_bytes() for kind in KINDS}


def command_for(kind: str, path: Path, number: int) -> list[str]:
    folder = path.parent
    if kind == "model":
        return ["predict", str(path), str(folder / "good.csv")]
    if number % FIT_EVERY == 0:
        return ["fit", str(path), "--clusters", "2", "--trees", "2", "--json"]
    model = "numbers.model" if kind == "npy" else "good.model"
    return ["predict", str(folder / model), str(path)]


def outcome(command: list[str]) -> str:
    """Run a command here, and say "ok", "refused", or what was wrong with how it ended."""
    from clusterforests.app.command_line.program import main

    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(command)
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    notes = (": note: ", " is left out: ")
    lines = [line for line in err.getvalue().splitlines() if not any(note in line for note in notes)]
    if "Traceback" in err.getvalue():
        return f"traceback: {err.getvalue()[-300:]}"
    if status == 0:
        return "ok"
    start = f"clusterforests {command[0]}: "
    sentences = sentences_of(lines)
    if status != 1 or not sentences or not lines[0].startswith(start):
        return f"status {status}, not one sentence: {lines[:3]}"
    for sentence in sentences:
        if sentence[-1] not in ".?!)" or "MemoryError" in sentence or len(sentence) > 600 or not sentence.isprintable():
            return f"no sentence: {sentence!r}"
    return "refused"


def sentences_of(lines: list[str]) -> list[str]:
    """Return the sentence of an error, or that of each problem where several are listed with a command for all."""
    if len(lines) == 1:
        return lines
    count = re.search(r" has (\d+) problems:$", lines[0]) if lines else None
    listed = [line for i, line in enumerate(lines[1:-2], 1) if line.startswith(f"  {i}. ")]
    whole = count is not None and len(listed) == int(count[1])
    return listed if whole and lines[-1].startswith("  clusterforests ") and lines[-1].isprintable() else []


def main() -> None:
    kind, first, last, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    whole = (folder / f"good.{kind}").read_bytes()
    path = folder / f"damaged.{kind}"
    path.write_bytes(whole)
    outcome(command_for(kind, path, 0))  # imports everything
    outcome(command_for(kind, path, 1))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.RLIM_INFINITY))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(first, last):
        contents = damage(whole, np.random.default_rng([KINDS.index(kind), number]))
        if kind == "model" and number % 2:  # as someone who means harm would write it
            contents = contents[:-32] + hashlib.sha256(contents[:-32]).digest()
        path.write_bytes(contents)
        print(number, flush=True)
        started = time.perf_counter()
        found = outcome(command_for(kind, path, number))
        seconds = time.perf_counter() - started
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(json.dumps([number, found, seconds, grown]), flush=True)


def run(kind: str, count: int, folder: Path) -> tuple[Counter[str], list[str], float, float]:
    """Damage `count` files of a kind; return outcomes, faults, the longest time and the largest growth in MB."""
    outcomes, faults, slowest, growth, first = Counter[str](), [], 0.0, 0.0, 0
    while first < count:
        command = [sys.executable, __file__, kind, str(first), str(count), str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            begun = first
            for line in child.stdout:
                said = json.loads(line)
                if isinstance(said, int):
                    begun = said
                    continue
                first, found, seconds, grown = said[0] + 1, *said[1:]
                outcomes[found if found in ("ok", "refused") else "fault"] += 1
                slowest, growth = max(slowest, seconds), max(growth, grown)
                if found not in ("ok", "refused") or seconds > SECONDS:
                    faults.append(f"{kind} {said[0]}: {found} ({seconds:.1f} s)")
            error = child.stderr.read()
        if child.returncode != 0:
            outcomes["fault"] += 1
            faults.append(f"{kind} {begun}: exit status {child.returncode}: {error[-300:]}")
            first = begun + 1
    return outcomes, faults, slowest, growth


if __name__ == "__main__":
    main()
