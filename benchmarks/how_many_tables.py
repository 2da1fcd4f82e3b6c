"""The results of the benchmark of the number of clusters as Markdown: real sets first, then drawn tables."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from how_many_data import CATEGORY, GENES, GROUPS, GROUPS_AND_CATEGORY, RECIPES, SIMULATED, STRUCTURELESS
from how_many_rare import RECIPE, Rare, rare_lines
from how_many_speed import N_ROWS, View
from peers import CHOOSING_PEERS
from quality_data import SET_NAMES, shape
from quality_tables import COLLECTIONS, Collection
from runner import LIMIT, Row, commits
from shared_tables import Report, apart, left_out, peer_facts
from summary import Scores, difference, mean_over, means
from variants import AUTO, DEFAULT

from paper.experiments.tables import markdown

LOSS, LEAD = 3.0, 3.0  # points of ARI: below the true K at most, above every peer at least
WITHIN = 1.0  # second for another number of clusters
CATEGORY_LOSS = 3.0  # points of ARI that a random yes/no column may cost
METHODS = (AUTO, *CHOOSING_PEERS)
COUNTED: tuple[tuple[str, Mapping[str, int], int, int], ...] = (  # title, K by table, tables, right at least
    ("Structureless tables", dict.fromkeys(STRUCTURELESS, 1), 200, 190),
    ("Simulated tables", SIMULATED, 60, 55),
    ("The gene table", {GENES: 3}, 10, 9),
    ("A random category beside noise", {CATEGORY: 1}, 10, 10),
)


def report(rows: Sequence[Row], views: Sequence[View], rare: Sequence[Rare] = ()) -> str:
    """Return all sections that the rows allow."""
    out = Report(heading(rows))
    real = [row for row in rows if row.set in SET_NAMES]
    for collection in COLLECTIONS:
        labelled(out, [row for row in real if row.set in collection.sets], collection)
    for title, truth, n_tables, least in COUNTED:
        counted(out, [row for row in rows if row.set in truth], title, truth, n_tables, least)
    random_column(out, [row for row in rows if row.set in (GROUPS, GROUPS_AND_CATEGORY)])
    rare_groups(out, rare)
    speed(out, views)
    out.section("How the tables are drawn", RECIPES)
    every_set(out, real)
    if real:
        out.section("The methods on real sets", peer_facts(real), left_out(rows))
    return out.text()


def heading(rows: Sequence[Row]) -> str:
    return (
        "# Benchmark: choosing the number of clusters\n\n"
        f'Written by `make how-many`. `{AUTO}` is `ClusterForest("auto")`, `{DEFAULT}` is `ClusterForest(K)` with the '
        "number of classes; both get the raw table. Peers get z-scores (constant columns dropped, a column for each "
        "level of a category) and are not told K. No method sees a label. ARI is in percent, as a mean over seeds and "
        "then over sets; a failed fit scores 0 and is no hit. A hit is exact if the number chosen is the number of "
        "classes, which need not be the number of groups that can be told apart. For comparison: TabK (2026) reports "
        f"50 % exact and 80 % within one on 50 sets, which are not these. A peer that takes more than {LIMIT} s on a "
        "table has no score there, and the comparison with it is on the sets that both have. A set is won or lost if "
        "the difference is more than 1 point; the interval is a bootstrap over sets. Seconds are processor time on "
        f"one thread.\n\n{commits(rows)}\n"
    )


def labelled(out: Report, rows: Sequence[Row], collection: Collection) -> None:
    """Compare the methods on a collection of labelled sets, and hold ours against its targets."""
    scores = {method: found for (method, _), found in means(rows).items()}
    if not scores:
        out.section(collection.title, f"{collection.about} Not looked at yet.\n")
        return
    about = collection.about if AUTO in scores else f"{collection.about} Ours was not looked at yet."
    lines = []
    for name in sorted(scores, key=lambda name: -mean_over(scores[name], collection.sets)):
        line = [name, str(len(scores[name])), f"{mean_over(scores[name], collection.sets):.1f}"]
        compared = name != AUTO and AUTO in scores
        line += apart(difference(scores[AUTO], scores[name], collection.sets)) if compared else [""] * 3
        line += [""] * 3 if name == DEFAULT else shares([row for row in rows if row.method == name])
        lines.append([f"**{text}**" if name == AUTO and text else text for text in line])
    header = ["method", "sets", "mean ARI", f"lead of {AUTO}", "95 % interval", "sets won / lost"]
    table = markdown([*header, "exact", "within one", "says 1"], lines)
    out.section(collection.title, f"{about}\n", table)
    if AUTO in scores:
        judge(out, scores, collection)


def shares(rows: Sequence[Row]) -> list[str]:
    """Return how often a method is exact, within one and says 1; every set counts the same."""
    found: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    for row in rows:
        if not row.omitted:
            away = abs(row.n_found - shape(row.set).n_clusters)
            found[row.set].append((away == 0, away <= 1 and not row.error, row.n_found == 1))
    of_sets = np.array([np.mean(hits, axis=0) for hits in found.values()])
    return [f"{share:.0%}" for share in of_sets.mean(axis=0)] if found else [""] * 3


def judge(out: Report, scores: Mapping[str, Scores], collection: Collection) -> None:
    """Hold ours against the true K and against every peer that has at least half of the sets."""
    sets, own = collection.sets, scores[AUTO]
    if DEFAULT in scores:
        lost = -difference(own, scores[DEFAULT], sets).mean
        what = f"{collection.title}: at most {LOSS:g} points below the true K"
        out.target(what, f"{lost:+.1f}", lost <= LOSS, len(own), len(sets))
    peers = [name for name in CHOOSING_PEERS if len(scores.get(name, ())) >= len(sets) / 2]
    if peers:
        leads = {name: difference(own, scores[name], sets).mean for name in peers}
        best = min(peers, key=lambda name: leads[name])
        what = f"{collection.title}: at least {LEAD:g} points above every peer"
        out.target(what, f"{leads[best]:+.1f} to {best}", leads[best] >= LEAD, len(own), len(sets))


def counted(out: Report, rows: Sequence[Row], title: str, truth: Mapping[str, int], n_tables: int, least: int) -> None:
    """Count how often each method finds the number of clusters."""
    methods = [name for name in METHODS if any(row.method == name for row in rows)]
    if not methods:
        out.section(title, "Not looked at yet.\n")
        return
    hits: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in rows:
        if not row.omitted:
            for name in (row.set, "all") if len(truth) > 1 else (row.set,):
                hits[name, row.method].append(row.n_found == truth[row.set])
    names = [*truth, *(["all"] if len(truth) > 1 else [])]
    lines = [[name, *(of(hits[name, method]) for method in methods)] for name in names]
    others = [f"{row.n_found} on {row.set} (seed {row.seed})" for row in rows if is_miss(row, truth)]
    parts = [markdown(["right", *methods], lines)]
    if AUTO in methods:
        parts.append(f"Other answers of {AUTO}: {'; '.join(others) or 'none'}.\n")
        own = hits[names[-1], AUTO]
        what = f"{title}: {least} of {n_tables} right"
        out.target(what, of(own), sum(own) * n_tables >= least * len(own), len(own), n_tables, "tables")
    out.section(title, *parts)


def is_miss(row: Row, truth: Mapping[str, int]) -> bool:
    return row.method == AUTO and row.n_found != truth[row.set]


def of(hits: Sequence[bool]) -> str:
    return f"{sum(hits)} of {len(hits)}" if hits else "-"


def random_column(out: Report, rows: Sequence[Row]) -> None:
    """Show what a random yes/no column costs three real groups."""
    found = {name: {row.seed: row.ari for row in rows if row.set == name} for name in (GROUPS, GROUPS_AND_CATEGORY)}
    seeds = sorted(set(found[GROUPS]) & set(found[GROUPS_AND_CATEGORY]))
    if not seeds:
        out.section("A random yes/no column beside three groups", "Not looked at yet.\n")
        return
    with_none, with_one = (float(np.mean([found[name][seed] for seed in seeds])) for name in found)
    header = ["draws", "ARI without it", "ARI with it", "change"]
    line = [str(len(seeds)), f"{with_none:.1f}", f"{with_one:.1f}", f"{with_one - with_none:+.1f}"]
    out.section("A random yes/no column beside three groups", "`ClusterForest(3)`.\n", markdown(header, [line]))
    what = f"A random yes/no column costs three groups at most {CATEGORY_LOSS:g} points of ARI"
    out.target(what, line[-1], with_none - with_one <= CATEGORY_LOSS, len(seeds), 10, "draws")


def rare_groups(out: Report, rows: Sequence[Rare]) -> None:
    """Show how often a rare group is counted, and how well it is found."""
    if not rows:
        out.section("Rare groups", "Not looked at yet.\n")
        return
    header = ["rows", "rare group", "away", "right", "purity", "recall", "purity, K given", "recall, K given"]
    made = f"Made from commit {', '.join(sorted({row.commit for row in rows}))}.\n"
    out.section("Rare groups", RECIPE, made, markdown(header, rare_lines(rows)))


def speed(out: Report, views: Sequence[View]) -> None:
    """Show what another number of clusters costs a fitted forest."""
    title = f"Another number of clusters from a fitted forest of {N_ROWS:,} rows and 20 features"
    if not views:
        out.section(title, "Not looked at yet.\n")
        return
    lines = [[str(v.n_clusters), f"{v.seconds:.2f}", f"{v.fit_seconds:.1f}", str(v.n_different)] for v in views]
    about = f"Wall seconds on one thread. Made from commit {', '.join(sorted({view.commit for view in views}))}.\n"
    out.section(
        title, about, markdown(["K", "`forest.recut(K)` s", "fit with K s", "rows labelled differently"], lines)
    )
    longest, different = max(view.seconds for view in views), sum(view.n_different for view in views)
    what = f"Another number of clusters: less than {WITHIN:g} s each"
    out.target(what, f"{longest:.2f} s at most", longest < WITHIN)
    out.target("Another number of clusters: equal to a fit", f"{different} labels differ", different == 0)


def every_set(out: Report, rows: Sequence[Row]) -> None:
    """Show the ARI of every method on every set with the K it chose."""
    names = [name for name in (AUTO, DEFAULT, *CHOOSING_PEERS) if any(row.method == name for row in rows)]
    cells: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if not row.omitted:
            cells[row.set, row.method].append(row)
    sets = [name for name in SET_NAMES if any((name, method) in cells for method in names)]
    lines = [
        [one, str(shape(one).n_clusters), *(ari_and_k(cells.get((one, name), [])) for name in names)] for one in sets
    ]
    if lines:
        about = "Mean ARI, and in brackets the median of the numbers chosen.\n"
        out.section("Every set", about, markdown(["set", "K", *names], lines))


def ari_and_k(rows: Sequence[Row]) -> str:
    return f"{np.mean([r.ari for r in rows]):.1f} ({np.median([r.n_found for r in rows]):g})" if rows else "-"
