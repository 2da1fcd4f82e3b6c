"""The results of the quality benchmark as Markdown: first the collections that took no part in choosing the rules."""

from collections.abc import Sequence
from typing import NamedTuple

from quality_data import DEV2_NAMES, HALVES, HIDDEN, KEEL_NAMES, SET_NAMES, TUNED_NAMES, shape
from quality_timing import Timing
from runner import LIMIT, Row, commits
from shared_tables import Report, ablation, by_set, comparison, left_out, peer_facts
from summary import Scores, at_their_best, counted, difference, mean_over, means, standings
from variants import BEFORE, DEFAULT

from paper.datasets import UCI_NAMES
from paper.experiments.summary import printed
from paper.experiments.tables import markdown

LEAD, TUNED, ACCURACY, BELOW_PAPER, COST, LOSS = 3.0, 46.0, 74.0, -1.0, 3.0, -5.0  # what is aimed for


class Collection(NamedTuple):
    title: str
    sets: tuple[str, ...]
    about: str
    lead: float | None = None  # aimed for


COLLECTIONS = (
    Collection("Eleven sets of KEEL", KEEL_NAMES["keel"], "No rule was chosen on these sets.", LEAD),
    Collection("Even half of dev2", HALVES["even"], "No rule was chosen on these sets.", LEAD),
    Collection("Odd half of dev2", HALVES["odd"], "Rules were chosen on these sets."),
    Collection("Nine sets of KEEL", KEEL_NAMES["keel-chosen"], "Refined cuts were chosen on these sets."),
    Collection("All 45 sets", SET_NAMES, "The two halves of dev2 and the twenty tuned sets.", LEAD),
    Collection("The twenty tuned sets", TUNED_NAMES, "Earlier rules were chosen on these sets: for regression only."),
)


def report(rows: Sequence[Row], timings: Sequence[Timing]) -> str:
    """Return all sections that the rows allow."""
    out = Report(heading(rows))
    whole = [row for row in rows if not row.scaling.startswith(HIDDEN)]
    for collection in COLLECTIONS:
        compare(out, whole, collection)
    switched_off(out, whole)
    own = means([row for row in whole if row.method == DEFAULT], "rho_c").get((DEFAULT, "raw"))
    if own:
        paper_sets(out, own, means(whole, "rho_c").get(("from_paper", "raw"), {}))
    hidden_cells(out, rows)
    if timings:
        cost(out, timings)
    out.section("The methods", peer_facts(whole), left_out(rows))
    return out.text()


def heading(rows: Sequence[Row]) -> str:
    return (
        "# Benchmark: clustering quality\n\n"
        "Written by `make quality`. Every method but UMAP + HDBSCAN is given the true number of clusters; none sees a "
        "label. ARI and accuracy are in percent, as means over seeds: one run if a method is not random, two if it "
        "is slow, five or more of the others (the last section counts the fits); a failed fit scores 0. Peers get the "
        "raw table or z-scores (constant columns dropped), whichever has the better mean over the sets of the table; "
        "ClusterForest gets the raw table and does its own scaling. A set counts if some method reaches an ARI of 10: "
        "on the others the classes are no clusters, and they are listed apart. Ranks are among the methods that have "
        f"the set. A peer that takes more than {LIMIT} s on a table has no score there, and the comparison with it is "
        "on the sets that both have. A set is won or lost if the difference is more than 1 point; the interval is a "
        f"bootstrap over sets. Seconds are processor time on one thread. `{BEFORE}` is the default before the forest "
        f"learned which features tell.\n\n{commits(rows)}\n"
    )


def compare(out: Report, rows: Sequence[Row], collection: Collection) -> None:
    """Compare ours with the peers on the sets that count, then on all of the collection."""
    methods = at_their_best(rows, collection.sets)
    ours = DEFAULT if DEFAULT in methods else BEFORE
    there = [name for name in collection.sets if ours in methods and name in methods[ours].scores]
    if not there:
        out.section(collection.title, f"{collection.about} Not looked at yet.\n")
        return
    some = counted(rows, there)
    methods = at_their_best(rows, some)
    others = [name for name in there if name not in some]
    missing = len(collection.sets) - len(there)
    unfinished = f" **Unfinished: {missing} of {len(collection.sets)} sets are missing.**" if missing else ""
    parts = [
        f"{collection.about}{unfinished}\n",
        f"### {collection.title}: the {len(some)} sets that count\n",
        comparison(methods, some),
        f"### {collection.title}: all {len(there)} sets\n",
        comparison(at_their_best(rows, there), there),
    ]
    if collection.sets != SET_NAMES:  # the others together are all sets
        about = {name: ", ".join(map(str, shape(name))) for name in there}
        parts += [f"### {collection.title}: every set\n", by_set(methods, some, about)]
        if others:
            best = at_their_best(rows, there)
            parts += ["No method reaches an ARI of 10 on these:\n", by_set(best, others, about)]
    out.section(collection.title, *parts)
    judge(out, rows, collection, some, there)


def judge(out: Report, rows: Sequence[Row], collection: Collection, some: Sequence[str], there: Sequence[str]) -> None:
    """Hold the default against its targets: a lead on the sets that count, or a mean over all tuned ones."""
    methods = {name: method for name, method in at_their_best(rows, some).items() if name != BEFORE}
    if DEFAULT not in methods:
        return
    n_sets = len(there), len(collection.sets)
    own = methods[DEFAULT].scores
    if collection.lead is not None:
        leads = {name: difference(own, methods[name].scores, some) for name in methods if name != DEFAULT}
        leads = {name: lead for name, lead in leads.items() if lead.n_sets >= len(some) / 2}
        best = min(leads, key=lambda name: leads[name].mean)
        found = f"{mean_over(own, some):.1f}; {best} on {leads[best].n_sets} sets: {leads[best].mean:+.1f}"
        what = f"{collection.title}: mean ARI {collection.lead:g} points above every peer"
        out.target(what, found, leads[best].mean >= collection.lead, *n_sets)
        ranks = {name: standing.rank for name, standing in standings(methods, some).items()}
        first = min(leads, key=lambda name: ranks[name])
        found = f"{ranks[DEFAULT]:.2f}; {first} {ranks[first]:.2f}"
        out.target(f"{collection.title}: best mean rank", found, ranks[DEFAULT] < ranks[first], *n_sets)
    if collection.sets == TUNED_NAMES:
        mean = mean_over(at_their_best(rows, there)[DEFAULT].scores, there)
        out.target(f"{collection.title}: mean ARI of {TUNED:g} over all", f"{mean:.1f}", mean >= TUNED, *n_sets)


def switched_off(out: Report, rows: Sequence[Row]) -> None:
    """Show each part switched off, on untuned and on tuned sets."""
    for title, sets in (("dev2", DEV2_NAMES), ("the twenty tuned sets", TUNED_NAMES)):
        if table := ablation(rows, sets):
            out.section(f"Parts switched off: {title}", table)


def paper_sets(out: Report, own: Scores, published: Scores) -> None:
    """Show the accuracy on the paper's sets beside its best q."""
    best = {
        row["dataset"]: max(float(value) for column, value in row.items() if column.startswith("q"))
        for row in printed("competition")
        if row["metric"] == "rho_c"
    }
    sets = [name for name in UCI_NAMES if name in own]
    if not sets:
        return
    lines = []
    for name in sets:
        again = f"{published[name]:.1f}" if name in published else ""
        lines.append([name, f"{best[name]:.2f}", again, f"{own[name]:.1f}", f"{own[name] - best[name]:+.1f}"])
    mean, lowest = mean_over(own, sets), min(sets, key=lambda name: own[name] - best[name])
    lines.append(["mean", f"{mean_over(best, sets):.2f}", "", f"{mean:.1f}", ""])
    header = ["set", "paper, best q", "from_paper, raw", DEFAULT, "default - paper"]
    out.section("The paper's sets: accuracy (rho_c)", markdown(header, lines))
    under = own[lowest] - best[lowest]
    what = f"mean rho_c of {ACCURACY:g} on the paper's sets"
    out.target(what, f"{mean:.1f}", mean >= ACCURACY, len(sets), len(UCI_NAMES))
    what = "no set more than 1 point below the paper's best q"
    out.target(what, f"{lowest} {under:+.1f}", under >= BELOW_PAPER, len(sets), len(UCI_NAMES))


def hidden_cells(out: Report, rows: Sequence[Row]) -> None:
    """Show what missing cells cost."""
    scores = means([row for row in rows if row.method == DEFAULT])
    whole = scores.get((DEFAULT, "raw"), {})
    for (_, scaling), found in sorted(scores.items()):
        sets = [name for name in UCI_NAMES if name in whole and name in found]
        if not scaling.startswith(HIDDEN) or not sets:
            continue
        fits = [row for row in rows if (row.method, row.scaling) == (DEFAULT, scaling)]
        failed = {s: sum(bool(fit.error) for fit in fits if fit.set == s) for s in sets}
        lines = [[s, f"{whole[s]:.1f}", f"{found[s]:.1f}", f"{found[s] - whole[s]:+.1f}", str(failed[s])] for s in sets]
        both = [mean_over(one, sets) for one in (whole, found)]
        loss = both[1] - both[0]
        lines.append(["mean", *(f"{value:.1f}" for value in both), f"{loss:+.1f}", str(sum(failed.values()))])
        share = 100 * float(scaling.removeprefix(HIDDEN))
        about = "A fit that leaves a row without a label counts as failed.\n"
        table = markdown(["set", "ARI, complete", "ARI, values missing", "change", "failed"], lines)
        out.section(f"{share:g} % of the values missing completely at random", about, table)
        what = f"ARI falls by at most {-LOSS:g} points with {share:g} % of the values missing"
        out.target(what, f"{loss:+.1f}", loss >= LOSS, len(sets), len(UCI_NAMES))


def cost(out: Report, timings: Sequence[Timing]) -> None:
    """Show what automatic settings cost beside given ones."""
    lines = [
        [t.set, *(f"{s:.3f}" for s in t[1:4]), f"{t.automatic / t.given:.2f}x", f"{t.automatic / t.published:.2f}x"]
        for t in timings
    ]
    header = ["set", "automatic s", "same settings, given s", "from_paper s"]
    header += ["automatic / given", "automatic / from_paper"]
    made = f"Made from commit {', '.join(sorted({t.commit for t in timings}))}."
    table = markdown(header, lines)
    out.section("Cost of automatic settings", f"Median CPU seconds, one thread. {made}\n\n{table}")
    worst = max(timings, key=lambda t: t.automatic / t.given)
    ratio = worst.automatic / worst.given
    what = f"automatic settings cost at most {COST:g}x a fixed fit"
    out.target(what, f"{ratio:.2f}x on {worst.set}", ratio <= COST)
