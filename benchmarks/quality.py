"""ClusterForest and other methods on labelled data. Labels are used only to score.

Without --sets the twenty tuned sets are used. The even half of `dev2`, and the sets of `keel`, are for one look, when
all rules are chosen. --missing hides that share of the cells of the paper's sets from ours.
"""

from typing import NamedTuple

import pandas as pd

from benchmarks import fits
from benchmarks.fits import Task
from benchmarks.labelled_sets import DEV2_NAMES, HALVES, HIDDEN, KEEL_NAMES, SET_NAMES, TUNED_NAMES, check_files, load
from benchmarks.pages import (
    DEFAULT,
    best_inputs,
    by_set,
    comparison,
    counted,
    methods_table,
    stamp,
    switched_off,
    table,
    write_page,
)
from benchmarks.peers import PEERS, REAL_PEERS
from paper.datasets import UCI_NAMES


class Collection(NamedTuple):
    title: str
    sets: tuple[str, ...]
    about: str


COLLECTIONS = (
    Collection("Eleven sets of KEEL", KEEL_NAMES["keel"], "No rule was chosen on these sets."),
    Collection("Even half of dev2", HALVES["even"], "No rule was chosen on these sets."),
    Collection("Odd half of dev2", HALVES["odd"], "Rules were chosen on these sets."),
    Collection("Nine sets of KEEL", KEEL_NAMES["keel-chosen"], "Refined cuts were chosen on these sets."),
    Collection("All 45 sets", SET_NAMES, "The two halves of dev2 and the twenty tuned sets."),
    Collection("The twenty tuned sets", TUNED_NAMES, "Earlier rules were chosen on these sets: for regression only."),
)
PARTS = {**HALVES, **KEEL_NAMES, "tuned": TUNED_NAMES}
HEAD = f"""\
# Clustering quality

Written by `make bench TOPICS=quality`. Every method but UMAP + HDBSCAN is given the true number of clusters; none sees
a label. ARI is in percent, as a mean over seeds: one run if a method is not random, two if it is slow, five of the
others; a failed fit scores 0. Other methods get the raw table or z-scores (constant columns dropped), whichever has the
better mean over the sets of the table; ClusterForest gets the raw table and does its own scaling. A set counts if some
method reaches an ARI of 10: on the others the classes are no clusters. Ranks are among the methods that have the set. A
method that takes more than {fits.LIMIT} s on a table has no score there, and the comparison with it is on the sets that
both have. A set is won or lost if the difference is more than 1 point; the interval is a bootstrap over sets. Seconds
are processor time on one thread. {{stamp}}
"""


def main(arguments: list[str]) -> None:
    names = [*SET_NAMES, *(name for part in KEEL_NAMES.values() for name in part)]
    parser = fits.parser(__doc__, REAL_PEERS)
    parser.add_argument("--seeds", type=int, default=5, help="runs of each method that is random")
    parser.add_argument(
        "--sets", nargs="*", choices=[*PARTS, *names], metavar="SET", help=f"of {', '.join(PARTS)}, or names"
    )
    parser.add_argument("--missing", type=float, metavar="SHARE", help="share of cells to hide, between 0 and 1")
    given = parser.parse_args(arguments)
    if given.missing is not None and not 0 < given.missing < 1:
        parser.error(f"--missing {given.missing} must be between 0 and 1, for example 0.3.")
    asked = given.sets if given.sets is not None else (UCI_NAMES if given.missing else ["tuned"])
    sets = [name for one in asked for name in PARTS.get(one, (one,))]
    check_files(sets)
    tasks = plan(sets, fits.chosen_methods(given, REAL_PEERS), given.seeds, given.missing)
    summary = fits.run("quality", tasks, load, given)
    write_page(given.out / "quality.md", HEAD.format(stamp=stamp()), report(summary))


def plan(sets: list[str], methods: list[str], seeds: int, missing: float | None = None) -> list[Task]:
    """List the fits, set by set, as the last table is kept."""
    hidden = ["raw", f"{HIDDEN}{missing:g}"] if missing else None
    return [
        Task(name, method, which, seed)
        for name in sets
        for method in methods
        for which in (hidden or (["raw", "z"] if method in PEERS else ["raw"]))
        for seed in fits.seeds_of(method, range(seeds))
        if not (hidden and method in PEERS)
    ]


def report(summary: pd.DataFrame) -> dict[str, str]:
    """Return the sections of the page: first the collections that took no part in choosing the rules."""
    whole = summary[~summary.index.get_level_values("input").str.startswith(HIDDEN)]
    sections = {}
    for collection in COLLECTIONS:
        sections |= compare(whole.loc["ari"], collection)
    if parts := switched_off(whole, DEV2_NAMES, PEERS):
        sections["Parts switched off: dev2"] = parts
    sections |= hidden_cells(summary.loc["ari"])
    sections["The methods"] = methods_table(whole, {name: PEERS[name].about for name in PEERS})
    return sections


def compare(ari: pd.DataFrame, collection: Collection) -> dict[str, str]:
    """Compare ours with the others on the sets that count, then on all of the collection."""
    methods = [DEFAULT, *PEERS]
    there = [
        name for name in collection.sets if (name, "raw") in ari.index and pd.notna(ari.loc[(name, "raw"), DEFAULT])
    ]
    if not there:
        return {}
    every, inputs = best_inputs(ari, there, methods)
    some, of_some = best_inputs(ari, counted(every), methods)
    left = len(collection.sets) - len(there)
    unfinished = f" **Unfinished: {left} of {len(collection.sets)} sets are missing.**" if left else ""
    parts = [
        f"{collection.about}{unfinished}\n",
        f"### {collection.title}: the {len(some)} sets that count\n",
        comparison(some, of_some),
        f"### {collection.title}: all {len(there)} sets\n",
        comparison(every, inputs),
    ]
    if collection.sets != SET_NAMES:  # the others together are all sets
        parts += [f"### {collection.title}: every set\n", by_set(every, inputs)]
    return {collection.title: "\n".join(parts)}


def hidden_cells(ari: pd.DataFrame) -> dict[str, str]:
    """Show what missing cells cost."""
    own = ari[DEFAULT].unstack("input")
    sections = {}
    for which in (name for name in own if name.startswith(HIDDEN)):
        both = own.loc[own.index.isin(UCI_NAMES), ["raw", which]].dropna()
        both.loc["mean"] = both.mean()
        lines = [[name, f"{a:.1f}", f"{b:.1f}", f"{b - a:+.1f}"] for name, a, b in both.itertuples()]
        share = 100 * float(which.removeprefix(HIDDEN))
        title = f"{share:g} % of the values missing completely at random"
        about = "A fit that leaves a row without a label counts as failed, and scores 0.\n\n"
        sections[title] = about + table(["set", "ARI, complete", "ARI, values missing", "change"], lines)
    return sections
