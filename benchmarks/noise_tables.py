"""The results of the noise benchmark as Markdown."""

from collections.abc import Mapping, Sequence

import numpy as np
from noise_data import CELLS, KINDS, PLAIN, SUBTYPES
from peers import PEERS, TIMED_PEERS
from runner import Row, commits
from shared_tables import ablation, left_out, peer_facts
from summary import Scores, at_their_best, difference, mean_over, means
from variants import BEFORE, DEFAULT

from paper.experiments.tables import markdown

TELLING = "telling"
NEAR_ORACLE, BELOW_PEER, PRECISE, CERTAIN = 3.0, 5.0, 90.0, 99.0  # what is aimed for, in percent


def report(rows: Sequence[Row], seeds: Sequence[int]) -> str:
    drawn = [row for row in rows if row.seed in seeds and row.method not in TIMED_PEERS]
    scores, told = best_inputs([row for row in drawn if row.scaling != TELLING])
    oracle = better_oracle(drawn)
    ours = DEFAULT if DEFAULT in scores else BEFORE
    switched = ablation(drawn, list(CELLS))
    sections = [
        heading(rows, seeds),
        "## Targets\n",
        targets(scores, told, oracle, subtypes_of(rows, ours), ours),
        "## Mean ARI by kind of noise\n",
        by_kind(scores, told, oracle),
        "## Every cell\n",
        "The best peer of a cell is chosen with its labels. Precision in percent.\n",
        by_cell(scores, told, oracle, ours, list(CELLS)),
        *(["## Parts switched off\n", switched] if switched else []),
        "## Plain tables\n",
        "Three groups of equal size, normal noise, equal units; centres N(0, effect²) in the telling features, whose "
        "variance is larger for it. Peers get the raw table or z-scores, whichever has the better mean.\n",
        by_cell(scores, told, oracle, ours, list(PLAIN)),
        "## Three subtypes in 120 x 5000\n",
        subtypes(rows, ours),
        "## Every method in every cell\n",
        every_method(scores, oracle),
        "## The methods\n",
        peer_facts([row for row in drawn if row.scaling != TELLING]) + left_out(rows),
    ]
    return "\n".join(sections)


def heading(rows: Sequence[Row], seeds: Sequence[int]) -> str:
    return (
        "# Benchmark: noise features\n\n"
        f"Written by `make noise`. {len(CELLS)} kinds of tables with K Gaussian groups that differ in m of p features; "
        "the others are noise: normal, heavy-tailed (t), correlated in blocks, binary, or with one of them copied 4 to "
        "32 times. Units differ from feature to feature, so peers get z-scores; ClusterForest gets the raw table "
        "and its default settings. Every method but UMAP + HDBSCAN is given K. The oracle is the better, in each cell, "
        "of K-means and a Gaussian mixture on the telling features alone. ARI in percent, mean of draws with the seeds "
        f"{', '.join(map(str, seeds))}. Precision is the share of telling features among the m features of largest "
        f"importance. Seconds are processor time on one thread. {commits(rows)}\n"
    )


def best_inputs(rows: Sequence[Row]) -> tuple[dict[str, Scores], dict[str, Scores]]:
    """Return ARI and precision by method, on plain tables with the input that has the better mean ARI over them."""
    scores: dict[str, Scores] = {}
    told: dict[str, Scores] = {}
    precise = means([row for row in rows if not np.isnan(row.precision)], "precision")
    for names in (CELLS, PLAIN):
        for method, (scaling, found) in at_their_best(rows, list(names)).items():
            scores.setdefault(method, {}).update(found)
            known = precise.get((method, scaling), {})
            if shown := {name: value for name, value in known.items() if name in names}:
                told.setdefault(method, {}).update(shown)
    return scores, told


def better_oracle(rows: Sequence[Row]) -> Scores:
    """Return the better of the methods on the telling features, cell by cell."""
    tried = [found for (_, scaling), found in means(rows).items() if scaling == TELLING]
    names = {name for found in tried for name in found}
    return {name: max(found[name] for found in tried if name in found) for name in names}


def best_peer(scores: Mapping[str, Scores], name: str) -> tuple[str, float]:
    return max(((peer, scores[peer][name]) for peer in PEERS if name in scores.get(peer, {})), key=lambda pair: pair[1])


def targets(
    scores: Mapping[str, Scores], told: Mapping[str, Scores], oracle: Scores, draws: Sequence[float], ours: str
) -> str:
    """Return what was aimed for, beside what was found."""
    own, precise = scores.get(ours, {}), told.get(ours, {})
    cells = [name for name in CELLS if name in own and name in oracle]
    if len(cells) < len(CELLS):
        return f"Open: {len(cells)} of {len(CELLS)} cells are there.\n"
    mean, top = mean_over(own, cells), mean_over(oracle, cells)
    leads = {peer: difference(own, found, cells) for peer, found in scores.items() if peer in PEERS}
    best = min(leads, key=lambda peer: leads[peer].mean)
    behind = {name: own[name] - best_peer(scores, name)[1] for name in cells}
    worst = min(behind, key=lambda name: behind[name])
    sharp = [name for name in cells if oracle[name] >= PRECISE]
    low = [name for name in sharp if precise.get(name, 0.0) < PRECISE]
    lines = [
        (f"mean ARI within {NEAR_ORACLE:g} of the oracle", f"{mean:.1f}; {top:.1f}", mean >= top - NEAR_ORACLE),
        (
            "mean ARI above every peer, on the cells it has",
            f"{mean:.1f}; {best} on {leads[best].n_sets} cells: {leads[best].mean:+.1f}",
            leads[best].mean > 0,
        ),
        (
            f"no cell more than {BELOW_PEER:g} below its best peer",
            f"{worst}: {behind[worst]:+.1f} ({best_peer(scores, worst)[0]})",
            behind[worst] >= -BELOW_PEER,
        ),
        (
            f"precision of {PRECISE:g} in cells whose oracle has {PRECISE:g}",
            f"{len(sharp) - len(low)} of {len(sharp)} cells, lowest {min(precise.get(n, 0.0) for n in sharp):.0f}",
            not low,
        ),
        (
            f"ARI of {CERTAIN:g} in ten of ten draws of three subtypes",
            f"{sum(score >= CERTAIN for score in draws)} of {len(draws)}",
            len(draws) >= 10 and min(draws) >= CERTAIN,
        ),
    ]
    about = f"For the {ours}.\n\n"
    return about + markdown(["target", "result", "met"], [[w, f, "yes" if met else "**no**"] for w, f, met in lines])


def by_kind(scores: Mapping[str, Scores], told: Mapping[str, Scores], oracle: Scores) -> str:
    lines = []
    everything = {"oracle": oracle, **{m: scores[m] for m in (DEFAULT, BEFORE, *PEERS) if m in scores}}
    for method in sorted(everything, key=lambda m: (m != "oracle", -mean_over(everything[m], CELLS))):
        found = everything[method]
        means_ = [mean_over(found, [n for n, (_, cell) in CELLS.items() if cell.kind == kind]) for kind in KINDS]
        precision = mean_over(told[method], CELLS) if method in told else np.nan
        n_cells = sum(name in found for name in CELLS)
        values = [*(f"{value:.1f}" for value in (*means_, mean_over(found, CELLS))), str(n_cells)]
        line = [method, *values, "" if np.isnan(precision) else f"{precision:.0f}"]
        lines.append([f"**{text}**" if method == DEFAULT and text else text for text in line])
    return markdown(["method", *KINDS, "all cells", "cells", "precision"], lines)


def by_cell(
    scores: Mapping[str, Scores], told: Mapping[str, Scores], oracle: Scores, ours: str, names: Sequence[str]
) -> str:
    shown = [method for method in (DEFAULT, BEFORE, "KMeans", "Sparse KMeans") if method in scores]
    lines = []
    for name in names:
        if name not in oracle:
            continue
        peer, score = best_peer(scores, name)
        own = scores.get(ours, {}).get(name, np.nan)
        values = [f"{oracle[name]:.1f}", *(f"{scores[m].get(name, np.nan):.1f}" for m in shown)]
        precision = [f"{told[m].get(name, np.nan):.0f}" for m in shown if m in told]
        lines.append([name, *values, f"{peer} {score:.1f}", f"{own - score:+.1f}", *precision])
    header = ["table", "oracle", *shown, "best peer", f"{ours} - best peer"]
    return markdown([*header, *(f"precision, {m}" for m in shown if m in told)], lines)


def every_method(scores: Mapping[str, Scores], oracle: Scores) -> str:
    names = [m for m in (DEFAULT, BEFORE, *PEERS) if m in scores]
    lines = []
    for name in [*CELLS, *PLAIN]:
        if name in oracle:
            values = [scores[m].get(name) for m in names]
            lines.append([name, f"{oracle[name]:.0f}", *("-" if v is None else f"{v:.0f}" for v in values)])
    return markdown(["table", "oracle", *names], lines)


def subtypes_of(rows: Sequence[Row], method: str) -> list[float]:
    return [row.ari for row in rows if row.set == SUBTYPES and row.method == method]


def subtypes(rows: Sequence[Row], ours: str) -> str:
    """Return ARI and seconds of each draw beside ConsensusClusterPlus."""
    names = [m for m in (DEFAULT, BEFORE, *TIMED_PEERS) if any(r.method == m and r.set == SUBTYPES for r in rows)]
    found = {(row.method, row.seed): row for row in rows if row.set == SUBTYPES and row.method in names}
    seeds = [seed for seed in sorted({seed for _, seed in found}) if (ours, seed) in found]
    lines = []
    for seed in seeds:
        fits = [found.get((method, seed)) for method in names]
        lines.append([str(seed), *("-" if fit is None else f"{fit.ari:.1f} in {fit.seconds:.2f} s" for fit in fits)])
    typical = [np.median([found[m, s].seconds for s in seeds if (m, s) in found]) for m in names]
    lines.append(["median seconds", *(f"{value:.2f}" for value in typical)])
    about = (
        "100 telling features, effect 1.2, K = 3 given. ConsensusClusterPlus runs for 2 to 8 clusters, 100 repeats; "
        "its seconds are those of the R function alone, without R's start.\n\n"
    )
    return about + markdown(["seed", *names], lines)
