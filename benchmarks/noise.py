"""Score ClusterForest, peers and an oracle on tables with noise features, and write benchmarks/noise/RESULTS.md.

    python benchmarks/noise.py [--seeds 500 501] [--methods peers | ours | NAME ...] [--variants] [--jobs 1]
    python benchmarks/noise.py --seeds            # only write the tables again

Every fit is a line of peers.csv or ours.csv in the folder --out, so ours can be computed again (`--methods ours
--again`) without the peers. The tables are in noise_data.py, the peers in peers.py, our settings in variants.py.
"""

from arguments import one_thread

if __name__ == "__main__":
    one_thread()  # before NumPy is imported

from pathlib import Path

from arguments import arguments_of, chosen_methods, run_methods
from noise_data import CELLS, PLAIN, SUBTYPES, draw
from noise_tables import report
from peers import NOISE_PEERS, PEERS, TIMED_PEERS
from quality_data import z_scores
from runner import Table, Task, current, read_rows
from variants import BEFORE, VARIANTS

from paper.experiments.runner import replace_text

SEEDS = [500, 501]  # used for nothing else
DRAWS = range(10)  # of the subtypes table, counted from the first seed
ORACLES = ["KMeans", "GMM diag", "GMM tied"]


def main() -> None:
    given = arguments_of(__doc__, Path(__file__).parent / "noise", SEEDS, [*NOISE_PEERS, *TIMED_PEERS])
    methods = chosen_methods(given, [*NOISE_PEERS, *TIMED_PEERS])
    if given.seeds and methods:
        run_methods(plan(methods, given.seeds), given, load)
    rows = current([*read_rows(given.out / "peers.csv"), *read_rows(given.out / "ours.csv")])
    replace_text(given.out / "RESULTS.md", report(rows, given.seeds or sorted({row.seed for row in rows})))
    print(f"{given.out / 'RESULTS.md'} written")


def plan(methods: list[str], seeds: list[int]) -> list[Task]:
    """List the fits, table by table; the table of subtypes is drawn ten times for ours and ConsensusClusterPlus."""
    tasks = []
    for name in [*CELLS, *PLAIN]:
        for seed in seeds:
            for method in methods:
                if method not in TIMED_PEERS:
                    tasks += [Task(name, method, scaling, seed) for scaling in inputs_of(method, name)]
                if method in ORACLES:
                    tasks.append(Task(name, method, "telling", seed))
    drawn = [method for method in methods if method in TIMED_PEERS or method not in PEERS]
    tasks += [Task(SUBTYPES, method, "raw", seeds[0] + i) for i in DRAWS for method in drawn]
    return list(dict.fromkeys(tasks))


def inputs_of(method: str, name: str) -> tuple[str, ...]:
    """Return what a method is given: ours the raw table, peers z-scores, and where units are equal both.

    Equal units favour the raw table: the telling features have the larger variance, and z-scores take that away.
    """
    if method in VARIANTS or method == BEFORE:
        return ("raw",)
    return ("z",) if name in CELLS else ("raw", "z")


def load(task: Task) -> Table:
    """Draw a table as a method gets it; the oracle gets the telling features alone."""
    X, groups, telling = draw(task.set, task.seed)
    n_clusters = int(groups.max()) + 1
    if task.scaling == "telling":
        return Table(z_scores(X[:, telling]), groups, n_clusters)
    return Table(X if task.scaling == "raw" else z_scores(X), groups, n_clusters, telling)


if __name__ == "__main__":
    main()
