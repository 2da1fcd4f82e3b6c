"""The choice of the number of clusters, ours and others', on labelled and on drawn tables.

Parts are the labelled sets (`real`: the twenty tuned ones, or --sets), tables drawn without clusters, with 1 to 10,
with random categories, rare groups, and what another number of clusters costs a fitted forest. Develop with other
seeds, and another folder --out, than those that are reported.
"""

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks import fits
from benchmarks.drawn_clusters import (
    CATEGORY,
    GENES,
    GROUPS,
    GROUPS_AND_CATEGORY,
    RECIPES,
    SIMULATED,
    STRUCTURELESS,
    draw,
)
from benchmarks.fits import Table, Task, seeds_of
from benchmarks.labelled_sets import HALVES, SET_NAMES, TUNED_NAMES, check_files, z_scores
from benchmarks.labelled_sets import load as load_labelled
from benchmarks.pages import AUTO, DEFAULT, difference, measure, methods_table, stamp, table, write_page
from benchmarks.peers import CHOOSING_PEERS, PEERS
from benchmarks.quality import COLLECTIONS, Collection
from benchmarks.scale import gaussians
from clusterforests import ClusterForest

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
COUNTED = {  # how often the number is found: the sets of a section
    "Structureless tables": tuple(STRUCTURELESS),
    "Simulated tables": tuple(SIMULATED),
    "The gene table": (GENES,),
    "A random category beside noise": (CATEGORY,),
}
HEAD = f"""\
# Choosing the number of clusters

Written by `make bench TOPICS=choosing_k`. `{AUTO}` is `ClusterForest("auto")`, `{DEFAULT}` is `ClusterForest(K)` with
the number of classes; both get the raw table. Other methods get z-scores (constant columns dropped, a column for each
level of a category) and are not told K. No method sees a label. ARI is in percent, as a mean over seeds and then over
sets; a failed fit scores 0 and is no hit. A hit is exact if the number chosen is the number of classes, which need not
be the number of groups that can be told apart. A method that takes more than {fits.LIMIT} s on a table has no score
there, and the comparison with it is on the sets that both have. A set is won or lost if the difference is more
than 1 point; the interval is a bootstrap over sets. Seconds are processor time on one thread. {{stamp}}
"""


def main(arguments: list[str]) -> None:
    parser = fits.parser(__doc__, CHOOSING_PEERS)
    every = ["real", *PARTS, "rare", "recut"]
    parser.add_argument("--parts", nargs="*", choices=every, default=every)
    parser.add_argument("--seeds", type=int, default=3, help="runs on labelled sets of each method that is random")
    parser.add_argument("--draws", type=int, help="of each drawn table at most")
    parser.add_argument("--seeds-from", type=int, default=FIRST, help="first seed of the drawn tables")
    parser.add_argument("--sets", nargs="+", choices=[*HALVES, *SET_NAMES], default=TUNED_NAMES, metavar="SET")
    given = parser.parse_args(arguments)
    methods = fits.chosen_methods(given, CHOOSING_PEERS, [AUTO, DEFAULT])
    sets = [name for one in given.sets for name in HALVES.get(one, (one,))] if "real" in given.parts else []
    check_files(sets)
    tasks = plan_labelled(sets, methods, given.seeds)
    tasks += plan_drawn(given.parts, methods, given.seeds_from, given.draws)
    summary = fits.run("choosing_k", tasks, load, given)
    page, head = given.out / "choosing_k.md", HEAD.format(stamp=stamp())
    write_page(page, head, report(summary))
    measured = {"rare": {"Rare groups": rare_groups}, "recut": {RECUT: recut_times}}
    for part in given.parts:
        measure(page, head, measured.get(part, {}))


def plan_labelled(sets: list[str], methods: list[str], seeds: int) -> list[Task]:
    return [
        Task(name, method, input_of(method), seed)
        for name in sets
        for method in methods
        for seed in seeds_of(method, range(seeds))
    ]


def plan_drawn(parts: list[str], methods: list[str], first: int = FIRST, most: int | None = None) -> list[Task]:
    """List the fits on tables that are drawn anew with each seed."""
    return [
        Task(name, method, input_of(method), seed)
        for chosen in parts
        for part in PARTS.get(chosen, ())
        for name in part.sets
        for seed in range(first, first + min(part.draws, most or part.draws))
        for method in methods
        if method in part.methods
    ]


def input_of(method: str) -> str:
    return "z" if method in PEERS else "raw"


def load(task: Task) -> Table:
    """Return a table as a method gets it: z-scores for others, with a column for each level of a category."""
    if task.set in SET_NAMES:
        return load_labelled(task)
    X, groups = draw(task.set, task.seed)
    if task.input == "z":
        X = z_scores(pd.get_dummies(X, dtype=float).to_numpy() if isinstance(X, pd.DataFrame) else X)
    return Table(X, groups, int(groups.max()) + 1)


def report(summary: pd.DataFrame) -> dict[str, str]:
    """Return the sections that are made of fits."""
    flat = summary.droplevel("input").groupby(["score", "set"]).max()  # a method has one input
    sections = {}
    for collection in COLLECTIONS:
        sections |= compare(flat, collection)
    for title, sets in COUNTED.items():
        sections |= count(flat, title, sets)
    there = [name for name in (GROUPS, GROUPS_AND_CATEGORY) if ("ari", name) in flat.index]
    if len(there) == 2:
        without, beside = (flat.loc[("ari", name), DEFAULT] for name in there)
        line = [f"{without:.1f}", f"{beside:.1f}", f"{beside - without:+.1f}"]
        text = "`ClusterForest(3)`.\n\n" + table(["ARI without it", "ARI with it", "change"], [line])
        sections["A random yes/no column beside three groups"] = text
    sections["How the tables are drawn"] = RECIPES
    sections |= every_set(flat)
    labelled = summary[summary.index.get_level_values("set").isin(SET_NAMES)]
    sections["The methods on labelled sets"] = methods_table(
        labelled, {name: PEERS[name].about for name in CHOOSING_PEERS}
    )
    return sections


def compare(flat: pd.DataFrame, collection: Collection) -> dict[str, str]:
    """Compare the methods on a collection of labelled sets."""
    here = flat[flat.index.get_level_values("set").isin(collection.sets)].dropna(axis=1, how="all")
    if AUTO not in here:
        return {}
    ari = here.loc["ari"]
    lines = []
    for method in ari.mean().sort_values(ascending=False, kind="stable").index:
        line = [method, str(ari[method].count()), f"{ari[method].mean():.1f}"]
        line += ["", "", ""] if method == AUTO else difference(ari[AUTO], ari[method])
        hits = (here.loc[score, method].mean() for score in ("right", "near"))
        line += ["", ""] if method == DEFAULT else [f"{hit:.0f} %" for hit in hits]
        lines.append([f"**{text}**" if method == AUTO and text else text for text in line])
    header = [
        "method",
        "sets",
        "mean ARI",
        f"lead of {AUTO}",
        "95 % interval",
        "sets won / lost",
        "exact",
        "within one",
    ]
    return {collection.title: f"{collection.about}\n\n{table(header, lines)}"}


def count(flat: pd.DataFrame, title: str, sets: tuple[str, ...]) -> dict[str, str]:
    """Describe how often each method finds the number of clusters."""
    right = flat.loc["right"].reindex(sets).dropna(how="all").dropna(axis=1, how="all")
    if right.empty:
        return {}
    right = right[[name for name in (AUTO, *CHOOSING_PEERS) if name in right]]
    if len(sets) > 1:
        right.loc["all"] = right.mean()
    lines = ([name, *("-" if np.isnan(x) else f"{x:.0f} %" for x in found)] for name, found in right.iterrows())
    return {title: table(["right", *right], lines)}


def every_set(flat: pd.DataFrame) -> dict[str, str]:
    """Show the ARI of every method on every labelled set with the mean number it chose."""
    sets = [name for name in SET_NAMES if ("ari", name) in flat.index]
    names = [name for name in (AUTO, DEFAULT, *CHOOSING_PEERS) if name in flat]
    if not sets:
        return {}
    ari, chosen = flat.loc["ari"], flat.loc["n_found"]
    lines = [
        [
            one,
            *("-" if np.isnan(ari.loc[one, m]) else f"{ari.loc[one, m]:.1f} ({chosen.loc[one, m]:.3g})" for m in names),
        ]
        for one in sets
    ]
    text = "Mean ARI, and in brackets the mean of the numbers chosen.\n\n" + table(["set", *names], lines)
    return {"Every labelled set": text}


# Rare groups, far from all others: are they counted and found?

ROWS = 20_000, 100_000
PERCENT = 0.1, 0.2, 0.5
AWAY = 6, 8, 12
RARE_DRAWS = 5
RARE_FIRST = 8300  # this seed and those of the other draws are used for nothing else
N_FEATURES, FAR = 10, 4
APART = 6.0  # standard deviations between two of three large groups


class Case(NamedTuple):
    n_rows: int
    percent: float
    away: int
    seed: int

    @property
    def n_large(self) -> int:
        """Groups beside the rare one."""
        return 1 if self.seed % 2 else 3


def draw_rare(case: Case) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Draw the rows and the group of each; the last group is the rare one."""
    rng = np.random.default_rng(case.seed)
    n_rare = round(case.n_rows * case.percent / 100)
    groups = np.append(rng.integers(0, case.n_large, case.n_rows - n_rare), np.full(n_rare, case.n_large))
    centers = np.zeros((case.n_large + 1, N_FEATURES))
    if case.n_large > 1:
        centers[np.arange(case.n_large), np.arange(case.n_large)] = APART / np.sqrt(2)
    centers[-1, -FAR:] = case.away * rng.choice([-1, 1], FAR)
    X = rng.normal(size=(case.n_rows, N_FEATURES)) + centers[groups]
    order = rng.permutation(case.n_rows)
    return X[order], groups[order]


def rare_groups(rows: tuple[int, ...] = ROWS, draws: int = RARE_DRAWS) -> Iterator[str]:
    """Yield the lines of the section on rare groups."""
    yield (
        f"A rare group beside one or three large ones, in turn, in {N_FEATURES} normal features. Three large groups "
        f"are {APART:g} standard deviations apart, in three features. The rare one is away in each of {FAR} other "
        "features, by so many standard deviations as the table says. Right: the number chosen is the number of groups. "
        "Purity and recall: of the cluster that has most of the rare rows, with K chosen and with K given.\n"
    )
    header = ["rows", "rare group", "away", "right", "purity", "recall", "purity, K given", "recall, K given"]
    yield table(header, []).rstrip()
    for n in rows:
        for percent in PERCENT:
            for away in AWAY:
                cases = [Case(n, percent, away, RARE_FIRST + i) for i in range(draws)]
                found = np.array([score_rare(case) for case in cases])
                means = " | ".join(f"{value:.1f}" for value in found[:, 1:].mean(axis=0))
                yield f"| {n:,} | {percent:g} % | {away} | {int(found[:, 0].sum())} of {draws} | {means} |"


def score_rare(case: Case) -> list[float]:
    """Return whether the number is right, and purity and recall with K chosen and with K given."""
    X, groups = draw_rare(case)
    forest = ClusterForest("auto", random_state=case.seed).fit(X)
    rare = groups == case.n_large
    scores = [float(forest.n_clusters_ == case.n_large + 1)]
    for labels in (forest.labels_, forest.recut(case.n_large + 1).labels_):
        own = labels == np.bincount(labels[rare]).argmax()
        both = 100.0 * np.count_nonzero(own & rare)
        scores += [both / np.count_nonzero(own), both / np.count_nonzero(rare)]
    return scores


RECUT = "Another number of clusters from a fitted forest of 20,000 rows and 20 features"


def recut_times(n_rows: int = 20_000, numbers: range = range(2, 16)) -> Iterator[str]:
    """Yield the lines of the section on what another number of clusters costs."""
    yield "Wall seconds on one thread.\n"
    yield table(["K", "`forest.recut(K)` s", "fit with K s", "rows labelled differently"], []).rstrip()
    X, _ = gaussians(n_rows)
    forest = ClusterForest(numbers, random_state=0).fit(X)
    for k in numbers:
        started = time.perf_counter()
        labels = forest.recut(k).labels_
        seen = time.perf_counter()
        fitted = ClusterForest(k, random_state=0).fit(X).labels_
        different = int(np.count_nonzero(labels != fitted))
        yield f"| {k} | {seen - started:.2f} | {time.perf_counter() - seen:.1f} | {different} |"
