"""ClusterForest and other methods on twenty tables of curved shapes."""

import pandas as pd

from benchmarks import fits
from benchmarks.drawn_shapes import SHAPES, draw
from benchmarks.fits import Table, Task
from benchmarks.labelled_sets import z_scores
from benchmarks.pages import DEFAULT, best_inputs, by_set, comparison, methods_table, stamp, switched_off, write_page
from benchmarks.peers import PEERS, SHAPE_PEERS

SEEDS = [500, 501]  # used for nothing else
HEAD = f"""\
# Curved shapes

Written by `make bench TOPICS=shapes`. Twenty tables of groups that are curved, elongated, or unequal in size or
density, in two or three features, drawn {len(SEEDS)} times. Every method but HDBSCAN is given the number of groups. ARI
in percent. Other methods get the raw table or z-scores, whichever has the better mean over all tables; ClusterForest
gets the raw table. A table is won or lost if the difference is more than 1 point; the interval is a bootstrap over
tables. Seconds are processor time on one thread. {{stamp}}
"""


def main(arguments: list[str]) -> None:
    parser = fits.parser(__doc__, SHAPE_PEERS)
    parser.add_argument("--seeds", nargs="*", type=int, default=SEEDS, help="of the tables and of the methods")
    parser.add_argument("--sets", nargs="+", choices=list(SHAPES), default=list(SHAPES), metavar="SET")
    given = parser.parse_args(arguments)
    methods = fits.chosen_methods(given, SHAPE_PEERS)
    summary = fits.run("shapes", plan(methods, given.seeds, given.sets), load, given)
    write_page(given.out / "shapes.md", HEAD.format(stamp=stamp()), report(summary))


def plan(methods: list[str], seeds: list[int], sets: list[str]) -> list[Task]:
    return [
        Task(name, method, which, seed)
        for name in sets
        for seed in seeds
        for method in methods
        for which in (("raw", "z") if method in PEERS else ("raw",))
    ]


def load(task: Task) -> Table:
    X, groups = draw(task.set, task.seed)
    return Table(X if task.input == "raw" else z_scores(X), groups, int(groups.max()) + 1)


def report(summary: pd.DataFrame) -> dict[str, str]:
    """Return the sections of the page."""
    scores, inputs = best_inputs(summary.loc["ari"], list(SHAPES), [DEFAULT, *PEERS])
    sections = {
        "Mean over the tables": comparison(scores, inputs),
        "Every table": by_set(scores, inputs),
        "The methods": methods_table(summary, {name: PEERS[name].about for name in PEERS}),
    }
    if parts := switched_off(summary, list(SHAPES), PEERS):
        sections["Parts switched off"] = parts
    return sections
