"""What the reports of noise, shapes, quality and how_many share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from peers import PEERS
from runner import Row
from summary import Difference, Method, difference, mean_over, means, paired, standings
from variants import BEFORE, DEFAULT, VARIANTS

from paper.experiments.tables import markdown


@dataclass
class Report:
    """Sections in order, and what they found about the targets."""

    heading: str
    sections: list[str] = field(default_factory=list)
    targets: list[Sequence[str]] = field(default_factory=list)

    def section(self, title: str, *parts: str) -> None:
        self.sections.append("\n".join([f"## {title}\n", *parts]))

    def target(self, what: str, found: str, met: bool, there: int = 0, needed: int = 0, unit: str = "sets") -> None:
        """Add a target. Nothing counts as met or missed before all that it is about is there."""
        verdict = "yes" if met else "**no**"
        self.targets.append([what, found, verdict if there >= needed else f"open: {there} of {needed} {unit}"])

    def text(self) -> str:
        table = markdown(["target", "result", "met"], self.targets) if self.targets else ""
        return "\n".join([self.heading, *([f"## Targets\n\n{table}"] if table else []), *self.sections])


def comparison(methods: Mapping[str, Method], sets: Sequence[str]) -> str:
    """Return mean ARI, rank, wins and the lead of the default (of the one before if there is no other yet)."""
    ours = DEFAULT if DEFAULT in methods else BEFORE
    ranked = {name: method for name, method in methods.items() if name != BEFORE or ours == BEFORE}
    standing = standings(ranked, sets)
    lines = []
    there = [name for name in methods if any(one in methods[name].scores for one in sets)]
    for name in sorted(there, key=lambda name: -mean_over(methods[name].scores, sets)):
        scaling, scores = methods[name]
        n_sets = sum(one in scores for one in sets)
        line = [name, scaling if name in PEERS else "own", str(n_sets), f"{mean_over(scores, sets):.1f}"]
        line += [f"{standing[name].rank:.2f}", str(standing[name].best)] if name in standing else ["", ""]
        line += (
            [""] * 3 if name == ours or ours not in methods else apart(difference(methods[ours].scores, scores, sets))
        )
        lines.append([f"**{text}**" if name == ours and text else text for text in line])
    header = ["method", "input", "sets", "mean ARI", "mean rank", "best on"]
    return markdown([*header, f"lead of the {ours}", "95 % interval", "sets won / lost"], lines)


def apart(found: Difference) -> list[str]:
    return [f"{found.mean:+.1f}", f"{found.low:+.1f}, {found.high:+.1f}", f"{found.won} / {found.lost}"]


def order(methods: Mapping[str, Method]) -> list[str]:
    """Ours first, then the peers in the order of their list."""
    return [name for name in (DEFAULT, BEFORE, *PEERS) if name in methods]


def by_set(methods: Mapping[str, Method], sets: Sequence[str], about: Mapping[str, str] | None = None) -> str:
    """Return the mean ARI of every method on every set; a dash where there is none."""
    names = order(methods)
    lines = []
    for one in sets:
        scores = [methods[name].scores.get(one) for name in names]
        lines.append([one, *([about[one]] if about else []), *("-" if s is None else f"{s:.1f}" for s in scores)])
    header = ["table", *(["rows, features, K"] if about else [])]
    return markdown([*header, *(f"{n} ({methods[n].scaling})" if n in PEERS else n for n in names)], lines)


def ablation(rows: Sequence[Row], sets: Sequence[str]) -> str:
    """Return each variant against the default, on the sets and seeds that all variants have; empty with one only."""
    own = paired([row for row in rows if row.method in VARIANTS and row.scaling == "raw" and row.set in set(sets)])
    found = means(own)
    if len(found) < 2 or (DEFAULT, "raw") not in found:
        return ""
    default, lines = found[DEFAULT, "raw"], []
    for name in VARIANTS:
        if scores := found.get((name, "raw")):
            seconds = np.mean([row.seconds for row in own if row.method == name])
            told = [row.precision for row in own if row.method == name and not np.isnan(row.precision)]
            changed = [""] * 3 if name == DEFAULT else apart(difference(scores, default, sets))
            precision = f"{np.mean(told):.0f}" if told else ""
            lines.append([name, f"{mean_over(scores, sets):.1f}", *changed, precision, f"{seconds:.2f}"])
    about = f"{len(default)} tables, {len(own) // len(found)} fits of each variant.{other_code(own)}\n\n"
    header = ["variant", "mean ARI", "change", "95 % interval", "tables won / lost", "precision", "mean s"]
    return about + markdown(header, lines)


def other_code(own: Sequence[Row]) -> str:
    """Say which variants were fitted by other code than the default: what changed since is in their figures too."""
    now = {row.commit for row in own if row.method == DEFAULT}
    other = [row for row in own if row.commit not in now]
    if not other:
        return ""
    names = [name for name in VARIANTS if name in {row.method for row in other}]
    earlier = sorted({row.commit for row in other})
    return (
        f" The default is of commit {', '.join(sorted(now))}; of {', '.join(earlier)}, and **not to be compared with "
        f"it**, are: {', '.join(names)}."
    )


def left_out(rows: Sequence[Row]) -> str:
    """List what peers were not given or could not finish, and what failed."""
    omitted = sorted({f"{row.method} on {row.set} ({row.scaling}): {row.error}" for row in rows if row.omitted})
    failures = sorted(
        {f"{row.method} on {row.set} ({row.scaling}): {row.error}" for row in rows if row.error and not row.omitted}
    )
    text = ""
    if omitted:
        text += "Left out of a peer's mean:\n\n" + "\n".join(f"- {line}" for line in omitted) + "\n\n"
    if failures:
        text += "Failed fits, which score 0:\n\n" + "\n".join(f"- {line}" for line in failures) + "\n\n"
    return text


def peer_facts(rows: Sequence[Row]) -> str:
    """Say what each peer is, how often it ran and how long it took."""
    lines = []
    for (method, scaling), scores in sorted(means(rows).items(), key=lambda item: _place(item[0])):
        fits = [row for row in rows if (row.method, row.scaling) == (method, scaling) and not row.omitted]
        seconds = [row.seconds for row in fits]
        facts = [str(len(scores)), str(len(fits)), f"{np.mean(seconds):.2f}", f"{max(seconds):.1f}"]
        lines.append([method, scaling, f"{np.mean(list(scores.values())):.1f}", *facts])
    about = [f"- {name}: {peer.about}." for name, peer in PEERS.items() if any(row.method == name for row in rows)]
    table = markdown(["method", "input", "mean ARI", "tables", "fits", "mean s", "longest s"], lines)
    return table + "\n" + "\n".join(about) + "\n"


def _place(key: tuple[str, str]) -> tuple[int, str, str]:
    names = [DEFAULT, BEFORE, *VARIANTS, *PEERS]
    return (names.index(key[0]) if key[0] in names else len(names), *key)
