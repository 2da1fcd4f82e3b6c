"""Score ClusterForest and peers on twenty tables of curved shapes, and write benchmarks/shapes/RESULTS.md.

    python benchmarks/shapes.py [--seeds 500 501] [--methods peers | ours | NAME ...] [--variants] [--jobs 1]
    python benchmarks/shapes.py --seeds           # only write the tables again

Every fit is a line of peers.csv or ours.csv in the folder --out. The tables are in shapes_data.py.
"""

from arguments import one_thread

if __name__ == "__main__":
    one_thread()  # before NumPy is imported

from pathlib import Path

from arguments import arguments_of, chosen_methods, run_methods
from peers import PEERS, SHAPE_PEERS
from quality_data import z_scores
from runner import Row, Table, Task, commits, current, read_rows
from shapes_data import SHAPES, draw
from shared_tables import ablation, by_set, comparison, left_out, peer_facts
from summary import Method, at_their_best, mean_over
from variants import DEFAULT

from paper.experiments.runner import replace_text
from paper.experiments.tables import markdown

SEEDS = [500, 501]  # used for nothing else
GENIE, NEAR = "Genie", 5.0


def main() -> None:
    given = arguments_of(__doc__, Path(__file__).parent / "shapes", SEEDS, SHAPE_PEERS)
    methods = chosen_methods(given, SHAPE_PEERS)
    if given.seeds and methods:
        run_methods(plan(methods, given.seeds), given, load)
    rows = current([*read_rows(given.out / "peers.csv"), *read_rows(given.out / "ours.csv")])
    chosen = [row for row in rows if not given.seeds or row.seed in given.seeds]
    replace_text(given.out / "RESULTS.md", report(chosen))
    print(f"{given.out / 'RESULTS.md'} written")


def plan(methods: list[str], seeds: list[int]) -> list[Task]:
    return [
        Task(name, method, scaling, seed)
        for name in SHAPES
        for seed in seeds
        for method in methods
        for scaling in (("raw", "z") if method in PEERS else ("raw",))
    ]


def load(task: Task) -> Table:
    X, groups = draw(task.set, task.seed)
    return Table(X if task.scaling == "raw" else z_scores(X), groups, int(groups.max()) + 1)


def report(rows: list[Row]) -> str:
    names = list(SHAPES)
    seeds = ", ".join(map(str, sorted({row.seed for row in rows})))
    best = at_their_best(rows, names)
    switched = ablation(rows, names)
    sections = [
        "# Benchmark: curved shapes\n",
        "Written by `make shapes`. Twenty tables of groups that are curved, elongated, or unequal in size or density, "
        f"in two or three features, drawn with the seeds {seeds}. Every method but HDBSCAN is given the number of "
        "groups. ARI in percent, mean over the seeds. Peers get the raw table or z-scores, whichever has the better "
        "mean over all tables; ClusterForest gets the raw table. A table is won or lost if the difference is more than "
        "1 point; the interval is a bootstrap over tables. Seconds are processor time on one thread. "
        f"{commits(rows)}\n",
        *(["## Target\n", target(best)] if DEFAULT in best and GENIE in best else []),
        "## Mean over the tables\n",
        comparison(best, names),
        *(["## Parts switched off\n", switched] if switched else []),
        "## Every table\n",
        by_set(best, names),
        "## The methods\n",
        peer_facts(rows) + left_out(rows),
    ]
    return "\n".join(sections)


def target(best: dict[str, Method]) -> str:
    """Hold the default against Genie, which is made for such shapes."""
    ours, genie = (mean_over(best[name].scores, SHAPES) for name in (DEFAULT, GENIE))
    verdict = "yes" if ours >= genie - NEAR else "**no**"
    result = [f"mean ARI at most {NEAR:g} below Genie", f"{ours:.1f}; {genie:.1f}", verdict]
    return markdown(["target", "result", "met"], [result])


if __name__ == "__main__":
    main()
