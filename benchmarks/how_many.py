"""Score the choice of the number of clusters, ours and others', and write benchmarks/how_many/RESULTS.md.

    python benchmarks/how_many.py [--parts real structureless ...] [--half odd | even] [--sets wine orl] [--seeds 3]
                                  [--seeds-from 12600] [--methods peers | ours | NAME ...] [--jobs 2]
    python benchmarks/how_many.py --parts         # only write the tables again

Real sets are the twenty tuned ones without --half or --sets; the even half of `dev2` is for one look, when the rule is
chosen. --seeds counts the runs on real sets; the other tables are drawn, the first of each kind with --seeds-from.
Rare groups have seeds of their own.
Develop with other seeds, and another folder --out, than those that are reported. Every fit is a line of peers.csv or
ours.csv in that folder, written when it ends: a run that was stopped goes on where it was. `--again` computes the
chosen fits anew. The tables are in how_many_data.py and quality_data.py, the peers in peers.py.
"""

from arguments import one_thread

if __name__ == "__main__":
    one_thread()  # before NumPy is imported

import argparse
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from arguments import common_parser, named_methods, run_methods
from how_many_data import CATEGORY, GENES, GROUPS, GROUPS_AND_CATEGORY, SIMULATED, STRUCTURELESS, draw
from how_many_rare import read_rare, score_rare
from how_many_speed import read_views, time_views
from how_many_tables import report
from methods import check_methods, seeds_of
from peers import CHOOSING_PEERS, PEERS
from quality_data import HALVES, SET_NAMES, TUNED_NAMES, z_scores
from quality_data import load as load_real
from runner import Table, Task, current, read_rows
from variants import AUTO, DEFAULT

from paper.experiments.runner import replace_text

FIRST = 12600  # this seed and the next 24 are used for nothing else


class Part(NamedTuple):
    """Drawn tables: how often each is drawn, and the methods it is for."""

    sets: tuple[str, ...]
    draws: int
    methods: tuple[str, ...]


_TO_FIFTEEN = tuple(name for name in CHOOSING_PEERS if not name.endswith("to 50"))
_CAN_SAY_ONE = tuple(name for name in _TO_FIFTEEN if not name.startswith(("KMeans", "UMAP")))
PARTS = {
    "structureless": (Part(tuple(STRUCTURELESS), 25, (AUTO, *_CAN_SAY_ONE)),),
    "simulated": (Part(tuple(SIMULATED), 6, (AUTO, *_TO_FIFTEEN)),),
    "genes": (Part((GENES,), 10, (AUTO, *_TO_FIFTEEN)),),
    "categories": (
        Part((CATEGORY,), 10, (AUTO, *_CAN_SAY_ONE)),
        Part((GROUPS, GROUPS_AND_CATEGORY), 10, (DEFAULT,)),
    ),
}
ALL_PARTS = ("real", *PARTS, "rare", "speed")


def main() -> None:
    given = parse()
    views = given.out / "speed.csv"
    methods = check_methods(named_methods(given, CHOOSING_PEERS, [AUTO, DEFAULT]))
    sets = list(given.sets or HALVES.get(given.half, TUNED_NAMES)) if "real" in given.parts else []
    run_methods(plan_real(sets, methods, given.seeds), given, load_real)
    run_methods(plan_drawn(given.parts, methods, given.seeds_from), given, load)
    rare = given.out / "rare.csv"
    if "rare" in given.parts and AUTO in methods:
        score_rare(rare)
    if "speed" in given.parts and AUTO in methods:
        time_views(views)
    rows = current([*read_rows(given.out / "peers.csv"), *read_rows(given.out / "ours.csv")])
    given.out.mkdir(parents=True, exist_ok=True)
    replace_text(given.out / "RESULTS.md", report(rows, read_views(views), read_rare(rare)))
    print(f"{given.out / 'RESULTS.md'} written")


def plan_real(sets: list[str], methods: list[str], seeds: int) -> list[Task]:
    """List the fits on labelled sets."""
    return [
        Task(name, method, scaling_of(method), seed)
        for name in sets
        for method in methods
        for seed in seeds_of(method, range(seeds))
    ]


def plan_drawn(parts: list[str], methods: list[str], first: int) -> list[Task]:
    """List the fits on tables that are drawn anew with each seed."""
    return [
        Task(name, method, scaling_of(method), seed)
        for chosen in parts
        for part in PARTS.get(chosen, ())
        for name in part.sets
        for seed in range(first, first + part.draws)
        for method in methods
        if method in part.methods
    ]


def scaling_of(method: str) -> str:
    return "z" if method in PEERS else "raw"


def load(task: Task) -> Table:
    """Draw a table as a method gets it: peers get z-scores, with a column for each level of a category."""
    X, groups = draw(task.set, task.seed)
    if task.scaling == "z":
        X = z_scores(pd.get_dummies(X, dtype=float).to_numpy() if isinstance(X, pd.DataFrame) else X)
    return Table(X, groups, int(groups.max()) + 1)


def parse() -> argparse.Namespace:
    parser = common_parser(__doc__, Path(__file__).parent / "how_many", [*CHOOSING_PEERS, AUTO, DEFAULT])
    parser.add_argument("--parts", nargs="*", choices=ALL_PARTS, default=list(ALL_PARTS))
    parser.add_argument("--seeds", type=int, default=3, help="runs on real sets of each method that is random")
    parser.add_argument("--seeds-from", type=int, default=FIRST, help="first seed of the drawn tables")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--sets", nargs="+", choices=SET_NAMES, metavar="SET", help=f"of {', '.join(SET_NAMES)}")
    which.add_argument("--half", choices=HALVES, help="of the sets of dev2")
    return parser.parse_args()


if __name__ == "__main__":
    main()
