"""Score ClusterForest against common methods on labelled data, and write the tables. Labels are used only to score.

    python benchmarks/quality.py [--sets wine orl] [--methods peers | ours | NAME ...] [--seeds 20] [--jobs 2]
    python benchmarks/quality.py --missing 0.3    # the paper's sets with that share of cells missing, ours only
    python benchmarks/quality.py --timing         # what automatic settings cost
    python benchmarks/quality.py --seeds 0        # only write the tables again

Every fit is a line of peers.csv or ours.csv in the folder --out, written when it ends: a run that was stopped goes on
where it was. `--again` computes the chosen fits anew. What is compared is in quality_methods.py.
"""

import argparse
import os
import platform
from importlib.metadata import version
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: one thread for each fit

from quality_data import DEV_NAMES, HIDDEN, SET_NAMES, dev_file
from quality_methods import DEFAULT, OURS, PEERS, check_methods
from quality_runner import Row, plan, read_rows, run
from quality_tables import report
from quality_timing import TIMED_SETS, read_timings, time_fits

from clusterforests.datasets import UCI_NAMES
from clusterforests.experiments.files import replace_text

GROUPS = {"peers": list(PEERS), "ours": list(OURS)}


def main() -> None:
    arguments = parse()
    out = arguments.out
    peers, ours, timings = out / "peers.csv", out / "ours.csv", out / "timing.csv"
    if arguments.timing:
        time_fits(arguments.sets or TIMED_SETS, timings)
    elif arguments.missing:
        methods = [name for name in arguments.methods or [DEFAULT] if name in OURS]
        scalings = ["raw", f"{HIDDEN}{arguments.missing:g}"]
        tasks = plan(arguments.sets or UCI_NAMES, methods, scalings, arguments.seeds)
        run(tasks, ours, arguments.jobs, again=arguments.again)
    else:
        sets, methods = arguments.sets or SET_NAMES, arguments.methods or [*PEERS, *OURS]
        for path, known, scalings in ((peers, PEERS, ["raw", "z"]), (ours, OURS, ["raw"])):
            if chosen := [name for name in methods if name in known]:
                run(plan(sets, chosen, scalings, arguments.seeds), path, arguments.jobs, again=arguments.again)
    written = [*read_rows(peers), *read_rows(ours)]
    text = heading(written) + report(read_rows(peers), read_rows(ours), read_timings(timings))
    replace_text(out / "RESULTS.md", text)
    print(f"{out / 'RESULTS.md'} written")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "quality", help="folder of the results")
    parser.add_argument("--sets", nargs="+", choices=SET_NAMES, metavar="SET", help=f"of {', '.join(SET_NAMES)}")
    names = [*GROUPS, *PEERS, *OURS]
    parser.add_argument("--methods", nargs="+", choices=names, metavar="METHOD", help=f"of {', '.join(names)}")
    parser.add_argument("--seeds", type=int, default=20, help="runs of each method that is random")
    parser.add_argument("--jobs", type=int, default=2, help="processes, of one thread each")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--missing", type=float, metavar="SHARE", help="share of cells to hide, between 0 and 1")
    what.add_argument("--timing", action="store_true", help="time fits instead of scoring them")
    parser.add_argument("--again", action="store_true", help="compute anew what is there already")
    arguments = parser.parse_args()
    if arguments.missing is not None and not 0 < arguments.missing < 1:
        parser.error(f"--missing {arguments.missing} must be between 0 and 1, for example 0.3.")
    if arguments.methods:
        arguments.methods = [name for group in arguments.methods for name in GROUPS.get(group, [group])]
    check(arguments)
    return arguments


def check(arguments: argparse.Namespace) -> None:
    """What is missing should show before the first fit."""
    scored = not (arguments.timing or arguments.missing)
    check_methods(arguments.methods or [*(PEERS if scored else ()), *OURS])
    for name in arguments.sets or (SET_NAMES if scored else ()):
        if name in DEV_NAMES:
            dev_file(name)


def heading(rows: list[Row]) -> str:
    most = max((row.seed + 1 for row in rows), default=0)
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "clusterforests"))
    return (
        "# Benchmark: clustering quality\n\n"
        "Written by `make quality`. Every method is given the true number of clusters and never sees a label. ARI, "
        f"accuracy and Rand index are in percent, as means over up to {most} seeds (one run if a method is not "
        "random); a failed fit scores 0. Seconds are CPU time on one thread. The other methods run on the raw table "
        "and on z-scores (constant columns dropped); ClusterForest gets the raw table and does its own scaling.\n\n"
        f"{unfinished(rows, most)}Written with Python {platform.python_version()}, {packages}.\n\n"
    )


def unfinished(rows: list[Row], seeds: int) -> str:
    """A warning as long as the tables stand on a part of the fits only; the ablation may have fewer seeds."""
    ablation = [name for name in OURS if name != DEFAULT]
    fewer = max((row.seed + 1 for row in rows if row.method in ablation), default=0)
    tasks = [*plan(SET_NAMES, list(PEERS), ["raw", "z"], seeds), *plan(SET_NAMES, [DEFAULT], ["raw"], seeds)]
    tasks += plan(SET_NAMES, ablation, ["raw"], fewer)
    left = len(set(tasks) - {row.task for row in rows})
    return f"**Unfinished: {left} of {len(tasks)} fits are still missing.**\n\n" if left else ""


if __name__ == "__main__":
    main()
