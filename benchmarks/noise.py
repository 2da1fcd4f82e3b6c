"""ClusterForest, other methods and an oracle on tables with noise features.

Ours gets the raw table, the others z-scores, and where units are equal both. The oracle gets the informative features.
"""

import numpy as np
import pandas as pd

from benchmarks import fits
from benchmarks.drawn_noise import CELLS, KINDS, PLAIN, SUBTYPES, draw
from benchmarks.fits import Table, Task
from benchmarks.labelled_sets import z_scores
from benchmarks.pages import DEFAULT, best_inputs, by_set, methods_table, stamp, switched_off, table, write_page
from benchmarks.peers import NOISE_PEERS, PEERS, TIMED_PEERS

SEEDS = [500, 501]  # used for nothing else
DRAWS = range(10)  # of the table of subtypes, counted from the first seed
ORACLES = ["KMeans", "GMM diag", "GMM tied"]
INFORMATIVE = "informative"  # the input of the oracle


def main(arguments: list[str]) -> None:
    parser = fits.parser(__doc__, [*NOISE_PEERS, *TIMED_PEERS])
    parser.add_argument("--seeds", nargs="*", type=int, default=SEEDS, help="of the tables and of the methods")
    parser.add_argument("--sets", nargs="+", choices=[*CELLS, *PLAIN], default=[*CELLS, *PLAIN], metavar="SET")
    given = parser.parse_args(arguments)
    methods = fits.chosen_methods(given, [*NOISE_PEERS, *TIMED_PEERS])
    summary = fits.run("noise", plan(methods, given.seeds, given.sets), load, given)
    write_page(given.out / "noise.md", HEAD.format(stamp=stamp()), report(summary))


def plan(methods: list[str], seeds: list[int], sets: list[str]) -> list[Task]:
    """List the fits, table by table; the table of subtypes is drawn ten times for ours and ConsensusClusterPlus."""
    tasks = []
    for name in sets:
        for seed in seeds:
            for method in methods:
                if method not in TIMED_PEERS:
                    tasks += [Task(name, method, which, seed) for which in inputs_of(method, name)]
                if method in ORACLES:
                    tasks.append(Task(name, method, INFORMATIVE, seed))
    if SUBTYPES in sets and seeds:
        drawn = [method for method in methods if method in TIMED_PEERS or method not in PEERS]
        tasks += [Task(SUBTYPES, method, "raw", seeds[0] + i) for i in DRAWS for method in drawn]
    return list(dict.fromkeys(tasks))


def inputs_of(method: str, name: str) -> tuple[str, ...]:
    """Return what a method is given.

    Equal units favour the raw table: the informative features have the larger variance, and z-scores take that away.
    """
    if method not in PEERS:
        return ("raw",)
    return ("z",) if name in CELLS else ("raw", "z")


def load(task: Task) -> Table:
    """Draw a table as a method gets it; the oracle gets the informative features alone."""
    X, groups, informative = draw(task.set, task.seed)
    n_clusters = int(groups.max()) + 1
    if task.input == INFORMATIVE:
        return Table(z_scores(X[:, informative]), groups, n_clusters)
    return Table(X if task.input == "raw" else z_scores(X), groups, n_clusters, informative)


HEAD = f"""\
# Noise features

Written by `make bench TOPICS=noise`. {len(CELLS)} kinds of tables with K Gaussian groups that differ in a few features;
the others are noise: normal, heavy-tailed (t), correlated in blocks, binary, or with one of them copied 4 to 32 times.
Units differ from feature to feature, so other methods get z-scores; ClusterForest gets the raw table and its default
settings. Every method but UMAP + HDBSCAN is given K. The oracle is the better, in each table, of K-means and a Gaussian
mixture on the informative features alone. ARI in percent, mean of {len(SEEDS)} draws. Precision is the share of
informative features among as many features of largest importance. Seconds are processor time on one thread; a dash is a
method that takes more than {fits.LIMIT} s or is not made for tables of that size. {{stamp}}
"""


def report(summary: pd.DataFrame) -> dict[str, str]:
    """Return the sections of the page."""
    ari = summary.loc["ari"]
    given = ari.index.get_level_values("input") == INFORMATIVE
    oracle = ari[given].droplevel("input").max(axis=1).rename("oracle")
    methods = [DEFAULT, *(name for name in PEERS if name not in TIMED_PEERS)]
    cells, _ = best_inputs(ari[~given], list(CELLS), methods)
    plain, inputs = best_inputs(ari[~given], list(PLAIN), methods)
    precision = summary.loc["precision"].groupby("set").max() if "precision" in summary.index else pd.DataFrame()
    sections = {
        "Mean ARI by kind of noise": by_kind(cells, oracle, precision),
        "Every table": by_set(
            pd.concat([oracle.reindex(cells.index), cells], axis=1), {"oracle": "K", **dict.fromkeys(cells, "z")}, 0
        ),
        "Plain tables": "Three groups of equal size, normal noise, equal units; centres N(0, effect²) in the "
        "informative features, whose variance is larger for it. Other methods get the raw table or z-scores, whichever "
        "has the better mean.\n\n"
        + by_set(pd.concat([oracle.reindex(plain.index), plain], axis=1), {"oracle": "K", **inputs}),
        "Three subtypes in 120 x 5000": subtypes(summary),
        "The methods": methods_table(
            summary[~(summary.index.get_level_values("input") == INFORMATIVE)],
            {name: PEERS[name].about for name in PEERS},
        ),
    }
    if parts := switched_off(summary, list(CELLS), PEERS):
        sections["Parts switched off"] = parts
    return sections


def by_kind(scores: pd.DataFrame, oracle: pd.Series, precision: pd.DataFrame) -> str:
    everything = pd.concat([oracle.reindex(scores.index), scores], axis=1)
    kinds = pd.Series({name: cell.kind for name, (_, cell) in CELLS.items()}).reindex(scores.index)
    by = everything.groupby(kinds).mean().reindex(KINDS)
    overall = everything.mean()
    lines = []
    for method in ["oracle", *overall.drop("oracle").sort_values(ascending=False, kind="stable").index]:
        known = precision.loc[precision.index.isin(scores.index), method].mean() if method in precision else np.nan
        cells = [f"{value:.1f}" for value in (*by[method], overall[method])]
        line = [method, *cells, str(everything[method].count()), "" if np.isnan(known) else f"{known:.0f}"]
        lines.append([f"**{text}**" if method == DEFAULT and text else text for text in line])
    return table(["method", *KINDS, "all tables", "tables", "precision"], lines)


def subtypes(summary: pd.DataFrame) -> str:
    """Return ARI and seconds beside ConsensusClusterPlus."""
    level = summary.index.get_level_values
    found = summary[(level("set") == SUBTYPES) & (level("input") == "raw")].droplevel(["set", "input"])
    names = [name for name in (DEFAULT, *TIMED_PEERS) if name in found.dropna(axis=1, how="all")]
    lines = [[name, f"{found.loc['ari', name]:.1f}", f"{found.loc['seconds', name]:.2f}"] for name in names]
    return (
        f"100 informative features, effect 1.2, K = 3 given; means of {len(DRAWS)} draws. ConsensusClusterPlus runs "
        "for 2 to 8 clusters, 100 repeats; its seconds are those of the R function alone, without R's start.\n\n"
        + table(["method", "mean ARI", "mean seconds"], lines)
    )
