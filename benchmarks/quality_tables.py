"""The results as Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from quality_data import HIDDEN, SET_NAMES, shape
from quality_methods import DEFAULT, OURS, PEERS
from quality_runner import Row
from quality_summary import (
    Difference,
    FloatArray,
    Reading,
    Scores,
    best_printed,
    better_each,
    better_once,
    difference,
    leave_one_out,
    mean_ranks,
    means,
    paired,
    shared_sets,
)
from quality_timing import Timing

from clusterforests.datasets import UCI_NAMES
from clusterforests.experiments.tables import markdown

BARS = {"lead": 3.0, "accuracy": 74.0, "below the paper": -1.0, "cost": 3.0, "loss": -5.0}


@dataclass
class Report:
    """Sections in order, and what they found about the bars."""

    sections: list[str] = field(default_factory=list)
    bars: list[Sequence[str]] = field(default_factory=list)

    def section(self, title: str, *parts: str) -> None:
        self.sections.append("\n".join([f"## {title}\n", *parts]))

    def bar(self, what: str, found: str, met: bool, sets: int = 0, needed: int = 0) -> None:
        """Nothing counts as met or missed before all the sets that it is about are there."""
        verdict = "yes" if met else "**no**"
        self.bars.append([what, found, verdict if sets >= needed else f"open: {sets} of {needed} sets"])

    def text(self) -> str:
        bars = markdown(["target", "result", "met"], self.bars) if self.bars else ""
        return "\n".join(([f"## Targets\n\n{bars}"] if bars else []) + self.sections)


def report(peers: Sequence[Row], ours: Sequence[Row], timings: Sequence[Timing]) -> str:
    """All sections that the rows allow."""
    out = Report()
    own = [row for row in ours if row.scaling == "raw"]
    theirs = means(peers)
    default = means(own).get((DEFAULT, "raw"))
    readings: list[Reading] = []
    if theirs:
        sets = shared_sets([*theirs.values(), *([default] if default else [])], SET_NAMES)
        readings = [make(theirs, sets) for make in (better_once, better_each)] if sets else []
        for reading in readings:
            against_peers(out, reading, np.array([default[name] for name in sets]) if default else None)
        if readings:
            every_set(out, sets, readings[0], default)
        peer_facts(out, peers, theirs)
    if default:
        paper_sets(out, means(own, "rho_c"), means(peers, "rho_c"))
        configurations(out, own, readings)
        hidden_cells(out, ours)
    if timings:
        cost(out, timings)
    return out.text()


def against_peers(out: Report, reading: Reading, default: FloatArray | None) -> None:
    scores = reading.scores if default is None else {DEFAULT: default, **reading.scores}
    ranks = mean_ranks(scores)
    rows = []
    for name in sorted(scores, key=lambda name: -scores[name].mean()):
        against = [] if default is None else [""] * 3 if name == DEFAULT else apart(difference(default, scores[name]))
        line = [name, reading.scaling.get(name, "own"), f"{scores[name].mean():.1f}", f"{ranks[name]:.2f}", *against]
        rows.append([f"**{text}**" if name == DEFAULT and text else text for text in line])
    header = ["method", "input", "mean ARI", "mean rank"]
    header += [] if default is None else ["lead of the default", "95 % interval", "sets won / lost"]
    n_sets = len(next(iter(scores.values())))
    about = f"{n_sets} sets."
    if default is not None:
        about += " A set is won or lost if the difference is more than 1 point; the interval is a bootstrap over sets."
    out.section(f"Comparison with other methods, {reading.title}", f"{about}\n", markdown(header, rows))
    if default is None:
        return
    best_rank = min(rank for name, rank in ranks.items() if name != DEFAULT)
    out.bar(
        f"best mean rank ({reading.title})",
        f"{ranks[DEFAULT]:.2f}; best other method {best_rank:.2f}",
        ranks[DEFAULT] < best_rank,
        n_sets,
        len(SET_NAMES),
    )
    best = max(reading.scores, key=lambda name: reading.scores[name].mean())
    lead = default.mean() - reading.scores[best].mean()
    found = f"{default.mean():.1f}; {best} {reading.scores[best].mean():.1f}: {lead:+.1f}"
    what = f"mean ARI {BARS['lead']:g} points above the best other method ({reading.title})"
    out.bar(what, found, lead >= BARS["lead"], n_sets, len(SET_NAMES))


def apart(found: Difference) -> list[str]:
    return [f"{found.mean:+.1f}", f"{found.low:+.1f}, {found.high:+.1f}", f"{found.won} / {found.lost}"]


def every_set(out: Report, sets: Sequence[str], reading: Reading, default: Scores | None) -> None:
    peers = [name for name in PEERS if name in reading.scores]
    rows = []
    for i, name in enumerate(sets):
        own = [f"{default[name]:.1f}"] if default else []
        rows.append([name, ", ".join(map(str, shape(name))), *own, *(f"{reading.scores[p][i]:.1f}" for p in peers)])
    header = ["set", "rows, features, K", *([DEFAULT] if default else [])]
    header += [f"{peer} ({reading.scaling[peer]})" for peer in peers]
    out.section(f"ARI by set, {reading.title}", markdown(header, rows))


def peer_facts(out: Report, rows: Iterable[Row], scores: Mapping[tuple[str, str], Scores]) -> None:
    """Raw and z-scored side by side; what failed, and the time."""
    of: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        of.setdefault((row.method, row.scaling), []).append(row)
    lines = []
    for peer in PEERS:
        for scaling in ("raw", "z"):
            if fits := of.get((peer, scaling)):
                found = scores[peer, scaling]
                seconds = [fit.seconds for fit in fits]
                short = np.mean([fit.n_found != shape(fit.set).n_clusters for fit in fits])
                failed = sum(bool(fit.error) for fit in fits)
                line = [peer, scaling, f"{np.mean(list(found.values())):.1f}", str(len(found)), str(len(fits))]
                lines.append(
                    [*line, str(failed), f"{100 * short:.0f} %", f"{np.mean(seconds):.2f}", f"{max(seconds):.1f}"]
                )
    header = ["method", "input", "mean ARI", "sets", "fits", "failed", "other than K clusters", "mean s", "longest s"]
    about = [f"- {peer}: {PEERS[peer].about}." for peer in PEERS if any(key[0] == peer for key in of)]
    failures = sorted(
        {f"{r.method} ({r.scaling}) on {r.set}: {r.error}" for fits in of.values() for r in fits if r.error}
    )
    listed = ["\nFailed fits, which score 0:\n", *(f"- {failure}" for failure in failures), ""] if failures else []
    out.section("The other methods", markdown(header, lines), *about, *listed, "")


def paper_sets(out: Report, ours: Mapping[tuple[str, str], Scores], peers: Mapping[tuple[str, str], Scores]) -> None:
    """Accuracy on the paper's sets beside its best q."""
    own, best = ours[DEFAULT, "raw"], best_printed()
    sets = shared_sets([own], UCI_NAMES)
    if not sets:
        return
    published = peers.get(("from_paper", "raw"), {})
    rows = []
    for name in sets:
        again = f"{published[name]:.1f}" if name in published else ""
        rows.append([name, f"{best[name]:.2f}", again, f"{own[name]:.1f}", f"{own[name] - best[name]:+.1f}"])
    mean, lowest = np.mean([own[name] for name in sets]), min(sets, key=lambda name: own[name] - best[name])
    rows.append(["mean", f"{np.mean([best[name] for name in sets]):.2f}", "", f"{mean:.1f}", ""])
    header = ["set", "paper, best q", "from_paper, raw", DEFAULT, "default - paper"]
    out.section("The paper's sets: accuracy (rho_c)", markdown(header, rows))
    under = own[lowest] - best[lowest]
    for what, found, met in (
        (f"mean rho_c of {BARS['accuracy']:g} on the paper's sets", f"{mean:.1f}", bool(mean >= BARS["accuracy"])),
        (
            "no set more than 1 point below the paper's best q",
            f"{lowest} {under:+.1f}",
            under >= BARS["below the paper"],
        ),
    ):
        out.bar(what, found, met, len(sets), len(UCI_NAMES))


def configurations(out: Report, own: Sequence[Row], readings: Sequence[Reading]) -> None:
    """Each choice switched off, then the choice among all of them without the set that is scored."""
    rows = paired([row for row in own if row.method in OURS])
    scores, accuracy = means(rows), means(rows, "rho_c")
    named = {name: scores[name, "raw"] for name in OURS if (name, "raw") in scores}
    sets = shared_sets(named.values(), SET_NAMES) if named else []
    if len(named) < 2 or len(sets) < 2:
        return
    by_name = {name: np.array([found[s] for s in sets]) for name, found in named.items()}
    ranks = mean_ranks(by_name)
    lines = []
    for name, values in by_name.items():
        changed = [""] * 3 if name == DEFAULT else apart(difference(values, by_name[DEFAULT]))
        eight = [accuracy[name, "raw"][s] for s in sets if s in UCI_NAMES]
        mean = f"{np.mean(eight):.1f}" if eight else ""
        fits = [row for row in rows if row.method == name]
        facts = [str(sum(bool(fit.error) for fit in fits)), f"{np.mean([fit.seconds for fit in fits]):.2f}"]
        lines.append([name, f"{values.mean():.1f}", f"{ranks[name]:.2f}", *changed, mean, *facts])
    header = ["configuration", "mean ARI", "mean rank", "change", "95 % interval", "sets won / lost"]
    header += ["mean rho_c, paper's sets", "failed", "mean s"]
    about = (
        f"The default with one choice changed at a time, on {len(sets)} sets and the seeds that all configurations "
        f"have in common: {len(rows) // len(named)} fits each.\n"
    )
    out.section("Ablation", about, markdown(header, lines))
    left_out(out, named, sets, readings)


def left_out(out: Report, named: Mapping[str, Scores], sets: Sequence[str], readings: Sequence[Reading]) -> None:
    picks = leave_one_out(named, sets)
    headline = float(np.mean([pick.score for pick in picks]))
    lines = [[pick.set, pick.configuration, f"{pick.score:.1f}"] for pick in picks]
    about = (
        f"**Headline: mean ARI {headline:.1f} over {len(sets)} sets**. Each set is scored with the configuration, of "
        f"the {len(named)} above, that has the best mean on the other {len(sets) - 1}."
    )
    for reading in readings:
        at = [reading.sets.index(name) for name in sets if name in reading.sets]
        if len(at) == len(sets):
            best = max(reading.scores, key=lambda name: reading.scores[name][at].mean())
            peer = reading.scores[best][at].mean()
            about += f" Best other method ({reading.title}): {best} {peer:.1f}, lead {headline - peer:+.1f}."
    out.section(
        "Leave-one-set-out choice of the configuration", about + "\n", markdown(["set", "configuration", "ARI"], lines)
    )


def hidden_cells(out: Report, rows: Sequence[Row]) -> None:
    scores = means(rows)
    for (name, scaling), found in sorted(scores.items()):
        if not scaling.startswith(HIDDEN):
            continue
        whole = scores.get((name, "raw"), {})
        sets = shared_sets([whole, found], SET_NAMES)
        if not sets:
            continue
        fits = [row for row in rows if (row.method, row.scaling) == (name, scaling)]
        failed = {s: sum(bool(fit.error) for fit in fits if fit.set == s) for s in sets}
        lines = [[s, f"{whole[s]:.1f}", f"{found[s]:.1f}", f"{found[s] - whole[s]:+.1f}", str(failed[s])] for s in sets]
        both = [float(np.mean([one[s] for s in sets])) for one in (whole, found)]
        loss = both[1] - both[0]
        lines.append(["mean", *(f"{value:.1f}" for value in both), f"{loss:+.1f}", str(sum(failed.values()))])
        share = 100 * float(scaling.removeprefix(HIDDEN))
        about = "A fit that leaves a row without a label counts as failed.\n"
        table = markdown(["set", "ARI, complete", "ARI, values missing", "change", "failed"], lines)
        out.section(f"{share:g} % of the values missing completely at random: {name}", about, table)
        if name == DEFAULT:
            what = f"ARI falls by at most 5 points with {share:g} % of the values missing"
            out.bar(what, f"{loss:+.1f}", loss >= BARS["loss"], len(sets), len(UCI_NAMES))


def cost(out: Report, timings: Sequence[Timing]) -> None:
    lines = [
        [t.set, *(f"{s:.3f}" for s in t[1:]), f"{t.automatic / t.given:.2f}x", f"{t.automatic / t.published:.2f}x"]
        for t in timings
    ]
    header = [
        "set",
        "automatic s",
        "same settings, given s",
        "from_paper s",
        "automatic / given",
        "automatic / from_paper",
    ]
    out.section("Cost of automatic settings (median CPU seconds, one thread)", markdown(header, lines))
    worst = max(timings, key=lambda t: t.automatic / t.given)
    ratio = worst.automatic / worst.given
    out.bar(
        f"automatic settings cost at most {BARS['cost']:g}x a fixed fit",
        f"{ratio:.2f}x on {worst.set}",
        ratio <= BARS["cost"],
    )
