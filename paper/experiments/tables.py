"""Results as Markdown: printed and reproduced numbers side by side."""

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from clusterforests._utils.files import replace_text
from paper.datasets import UCI_NAMES, load_uci
from paper.experiments.profile import load_profile, summarise
from paper.experiments.simulations import Outcome
from paper.experiments.spec import CANDIDATES, DATASETS, MORE_PATIENCE, PATIENCE, THRESHOLDS
from paper.experiments.summary import (
    ANY,
    METRICS,
    Choice,
    Entry,
    Results,
    base_cluster_entries,
    competition_entries,
    forest_choice,
    method_entries,
    printed,
)

SYMBOL = {"rho_r": "Rand", "rho_c": "accuracy"}  # rho_r, rho_c
COLUMNS = ("CF", "RP", "bC2", "EA", "NJW", "Kmeans1", "Kmeans2")
ENSEMBLES = ("RP", "bC2", "EA")


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    escaped = ([text.replace("|", "\\|") for text in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in escaped) + "\n"


def cell(entry: Entry) -> str:
    """Reproduced value, standard error, difference to the printed one in standard errors; of a median no errors."""
    if entry.choice.statistic == "median":
        return f"{entry.score.value:.2f} (median, {entry.difference:+.2f})"
    apart = "" if math.isnan(entry.in_errors) else f", {entry.in_errors:+.1f} se"
    return f"{entry.score.value:.2f} ± {entry.score.error:.2f} ({entry.difference:+.2f}{apart})"


def dataset_table() -> str:
    rows = []
    for row in printed("datasets"):
        data = load_uci(row["dataset"])
        found = f"{data.data.shape[1]}, {len(set(data.target.tolist()))}, {len(data.data)}"
        rows.append([row["dataset"], f"{row['features']}, {row['classes']}, {row['instances']}", found])
    return markdown(["data set", "printed: features, classes, rows", "loaded"], rows)


def competition_table(results: Results, metric: str) -> str:
    """Printed, patience 1 and patience 3 for every q."""
    by_patience = [
        {(e.dataset, e.column): e for e in competition_entries(results, patience) if e.metric == metric}
        for patience in PATIENCE
    ]
    columns = [f"q{q}" for q in CANDIDATES]
    rows = []
    for dataset in UCI_NAMES:
        rows.append([dataset, "printed", *(f"{by_patience[0][dataset, c].printed:.2f}" for c in columns)])
        for patience, entries in zip(PATIENCE, by_patience, strict=True):
            rows.append(["", f"patience {patience}", *(cell(entries[dataset, c]) for c in columns)])
    return markdown(["data set", SYMBOL[metric], *(f"q = {q}" for q in CANDIDATES)], rows)


def method_table(results: Results, metric: str) -> str:
    entries = {(e.dataset, e.column): e for e in method_entries(results) if e.metric == metric}
    rows = []
    for dataset in UCI_NAMES:
        rows.append([dataset, "printed", *(f"{entries[dataset, c].printed:.2f}" for c in COLUMNS)])
        rows.append(["", "reproduced", *(cell(entries[dataset, c]) for c in COLUMNS)])
    return markdown(["data set", SYMBOL[metric], *COLUMNS], rows)


def base_cluster_table(results: Results) -> str:
    rows = [
        [e.dataset, e.column, e.choice.variant, SYMBOL[e.metric], f"{e.printed:.2f}", cell(e)]
        for e in base_cluster_entries(results)
    ]
    return markdown(["data set", "n_b", "growth", "metric", "printed", "reproduced"], rows)


def variant_table(results: Results, names: Sequence[str], choose: Callable[[str], Choice]) -> str:
    """Rand index / accuracy of several settings, one column each."""
    rows = []
    for dataset in UCI_NAMES:
        scores = [[results.score(dataset, choose(name), metric).value for metric in METRICS] for name in names]
        rows.append([dataset, *(f"{r:.2f} / {c:.2f}" for r, c in scores)])
    return markdown(["data set", *names], rows)


def patience_table(results: Results) -> str:
    names = [str(tau) for tau in sorted((*PATIENCE, *MORE_PATIENCE))]
    return variant_table(results, names, lambda tau: forest_choice(1, int(tau)))


def threshold_table(results: Results) -> str:
    names = [str(beta) for beta in THRESHOLDS]
    return variant_table(results, names, lambda beta: Choice("CF", "", f"threshold={beta}"))


def ablation_table(results: Results) -> str:
    names = ["threshold=0.4", "scaling only", "threshold only", "neither"]
    return variant_table(results, names, lambda name: Choice("CF", "", name))


def medoid_table(results: Results) -> str:
    rows = []
    both = [Choice("bC2", "n_init=20", ""), Choice("bC2", "base=medoids", "")]
    for dataset in UCI_NAMES:
        if both[1] not in results.variants(dataset, "bC2"):
            continue
        scores = [[results.score(dataset, choice, metric).value for metric in METRICS] for choice in both]
        rows.append([dataset, *(f"{r:.2f} / {c:.2f}" for r, c in scores)])
    return markdown(["data set", "K-means in bC2", "K-medoids in bC2"], rows)


def search_table(results: Results) -> str:
    """Compare K-means with plain restarts, as in the paper, with our attempts to improve the best one."""
    columns = [("n_init=20;max_iter=200", "Kmeans1"), ("n_init=100;max_iter=1000", "Kmeans2")]
    reference = {(row["dataset"], row["metric"]): row for row in printed("methods")}
    rows = []
    for dataset in UCI_NAMES:
        for metric in METRICS:
            line = [dataset, SYMBOL[metric]]
            for setting, column in columns:
                line.append(f"{float(reference[dataset, metric][column]):.2f}")
                for variant in ("plain", "improved"):
                    score = results.score(dataset, Choice("kmeans", setting, variant), metric)
                    line.append(f"{score.value:.2f} ± {score.error:.2f}")
            rows.append(line)
    header = ["data set", "metric"]
    for name in ("K-means-1", "K-means-2"):
        header += [f"{name} printed", "plain restarts", "with improvement"]
    return markdown(header, rows)


def projection_table(results: Results) -> str:
    """Every rule of RP that was run, each run with the dimension that scores best."""
    rules = sorted({c.variant for c in results.variants("wine", "RP")})
    reference = {(row["dataset"], row["metric"]): row for row in printed("methods")}
    rows = []
    for dataset in UCI_NAMES:
        for metric in METRICS:
            line = [dataset, SYMBOL[metric], reference[dataset, metric]["RP"]]
            line += [f"{results.score(dataset, Choice('RP', ANY, rule), metric).value:.1f}" for rule in rules]
            rows.append(line)
    return markdown(["data set", "metric", "printed", *rules], rows)


def wins(results: Results) -> str:
    """On how many data sets CF is best, by either metric: printed and reproduced."""
    entries = {(e.dataset, e.metric, e.column): e for e in method_entries(results)}
    lines = []
    for metric in METRICS:
        for name, rivals in (("RP, bC2 and EA", ENSEMBLES), ("NJW", ("NJW",))):
            counts = [0, 0]
            for dataset in DATASETS:
                own, *others = (entries[dataset, metric, column] for column in ("CF", *rivals))
                counts[0] += all(own.printed > other.printed for other in others)
                counts[1] += all(own.score.value > other.score.value for other in others)
            lines.append([SYMBOL[metric], name, f"{counts[0]} of 8", f"{counts[1]} of 8"])
    return markdown(["metric", "CF ahead of", "printed", "reproduced"], lines)


def agreement_table(results: Results) -> str:
    """How many printed cells are met."""
    rows = []
    for patience in PATIENCE:
        differences = [e.difference for e in competition_entries(results, patience)]
        above, near = sum(d >= -1.5 for d in differences), sum(abs(d) <= 1.5 for d in differences)
        met = f"{above} at most 1.5 below, {near} within 1.5"
        rows.append([f"q sweep, patience {patience}", str(len(differences)), met, f"lowest {min(differences):+.2f}"])
    for column in COLUMNS[1:]:
        sizes = [abs(e.difference) for e in method_entries(results) if e.column == column]
        within = ", ".join(f"{sum(s <= limit for s in sizes)} within {limit:g}" for limit in (0.05, 1, 2))
        rows.append([column, str(len(sizes)), within, f"largest {max(sizes):.2f}"])
    return markdown(["column", "cells", "agreement", "worst"], rows)


def profile_table(results: Results) -> str:
    """What the rule of thumb looks at, beside the q that did best."""
    rows = []
    for name in UCI_NAMES:
        found = summarise(name, load_profile(name), results)
        best = f"{found.best_q_rho_r} ({found.gain_rho_r:+.1f}) / {found.best_q_rho_c} ({found.gain_rho_c:+.1f})"
        rows.append([name, f"{found.spread:.1f}", f"{found.weak:.2f}", best])
    header = [
        "data set",
        "90th / 10th percentile of kappa",
        "share of weak features",
        "best q, gain over q = 1: Rand / accuracy",
    ]
    return markdown(header, rows)


def simulation_table(outcomes: Sequence[Outcome]) -> str:
    """The paper: 99 of 100 vectors of G1 hold a top-three feature, all a top-five one; G2, G3 near the Bayes rate."""
    rows = []
    for name in dict.fromkeys(outcome.set for outcome in outcomes):
        runs = [outcome for outcome in outcomes if outcome.set == name]
        columns = [[f"{value:g}" for value in column] for column in list(zip(*runs, strict=True))[3:]]
        rows.append([name, *(", ".join(column) for column in columns)])
    return markdown(
        ["set", "vectors with a top 3", "vectors with a top 5", "accuracy", "Bayes rate", "mean length"], rows
    )


TABLES: dict[str, Callable[[Results], str]] = {
    "datasets": lambda _: dataset_table(),
    "agreement": agreement_table,
    "competition-rho_r": lambda results: competition_table(results, "rho_r"),
    "competition-rho_c": lambda results: competition_table(results, "rho_c"),
    "methods-rho_r": lambda results: method_table(results, "rho_r"),
    "methods-rho_c": lambda results: method_table(results, "rho_c"),
    "wins": wins,
    "base_clusters": base_cluster_table,
    "kmeans": search_table,
    "projection": projection_table,
    "patience": patience_table,
    "threshold": threshold_table,
    "ablation": ablation_table,
    "medoids": medoid_table,
    "profile": profile_table,
}


def check_marks(document: Path) -> None:
    """Every mark of a table must have an end before the next one begins."""
    open_mark = None
    for line in document.read_text(encoding="utf-8").splitlines():
        if line == "<!-- end -->":
            open_mark = None
        elif line.startswith("<!-- ") and line.endswith(" -->"):
            if open_mark is not None:
                break
            open_mark = line
    if open_mark is not None:
        raise ValueError(f"{document}: the mark {open_mark} has no <!-- end -->.")


def refresh(document: Path, tables: dict[str, str]) -> None:
    """Put the tables between the document's marks `<!-- name -->` and `<!-- end -->`."""
    text = document.read_text(encoding="utf-8")
    for name, table in tables.items():
        mark = f"<!-- {name} -->\n"
        start = text.find(mark)
        if start < 0:
            continue
        start += len(mark)
        end = text.index("<!-- end -->", start)
        text = f"{text[:start]}\n{table}\n{text[end:]}"
    replace_text(document, text)
