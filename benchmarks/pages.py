"""The pages of results: their sections, the commit they are of, and tables that compare methods.

A summary is a table with a line for each score, set and input, and a column for each method: means over seeds. What a
method could not do in time has no entry; a fit that failed counts as 0.
"""

import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from clusterforests._utils.random import integers, stream

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PACKAGES = ("clusterforests", "numpy", "scipy", "scikit-learn")
DEFAULT, AUTO = "default", "auto"  # ClusterForest told K, and not told
RESAMPLES = 10_000
CLEAR = 1.0  # points by which a set counts as won or lost
REACHED = 10.0  # ARI that some method must reach for a set to count


# Pages and their sections.


def stamp(*packages: str) -> str:
    """Describe which commit and versions made a page."""
    commit = os.environ.get("CLUSTERFORESTS_COMMIT")  # on a machine that was given the files without their history
    if commit is None:
        git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=9", "--exclude=*"]
        commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    named = [f"{package} {version(package)}" for package in packages or PACKAGES]
    return f"Made at commit {commit} with {', '.join([f'Python {platform.python_version()}', *named])}."


def write_page(path: Path, head: str, sections: Mapping[str, str]) -> None:
    """Write sections into a page, replacing those of the same titles; others that it has stay as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = split_sections(path.read_text(encoding="utf-8") if path.exists() else "")
    parts = {**{title: found.get(title, "") for title in sections}, **found, **sections}
    body = "\n\n".join(f"## {title}\n\n{text.strip()}" for title, text in parts.items())
    path.write_text(f"{head.strip()}\n\n{body}\n", encoding="utf-8")


def split_sections(page: str) -> dict[str, str]:
    """Return the sections of a page by their titles."""
    _, *parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


Lines = Callable[[], Iterable[str]]


def measure(path: Path, head: str, sections: Mapping[str, Lines], about: str = "") -> None:
    """Measure sections one after the other; each is printed line by line, and written as soon as it is measured."""
    for title, lines in sections.items():
        print(f"## {title}\n")
        text = []
        for line in chain(lines(), [f"\n{about} {stamp()}".replace("\n ", "\n")]):
            print(line, flush=True)
            text.append(line)
        write_page(path, head, {title: "\n".join(text)})


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


# Summaries: means over seeds, one method against others over the sets that both have.


def read_summary(topic: str, folder: Path = RESULTS) -> pd.DataFrame:
    """Return the summary of a topic, with the index (score, set, input)."""
    path = folder / f"{topic}.csv"
    index = ["score", "set", "input"]
    if not path.exists():
        return pd.DataFrame(index=pd.MultiIndex.from_tuples([], names=index))
    return pd.read_csv(path).set_index(index)


def best_inputs(ari: pd.DataFrame, sets: Sequence[str], methods: Sequence[str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the scores of each method by set, with the one input of better mean over the sets that it has with all.

    Parameters
    ----------
    ari : DataFrame
        Scores by (set, input) and method.

    Returns
    -------
    DataFrame by set and method, and the input of each method.
    """
    scores, chosen = {}, {}
    for method in (method for method in methods if method in ari):
        tried = ari.loc[ari.index.get_level_values("set").isin(sets), method].unstack("input").dropna(axis=1, how="all")
        if tried.empty:
            continue
        shared = tried.dropna()
        chosen[method] = max(
            sorted(tried), key=lambda name: (shared[name].mean() if len(shared) else 0, tried[name].count())
        )
        scores[method] = tried[chosen[method]].reindex(sets)
    return pd.DataFrame(scores, index=list(sets)), chosen


def counted(scores: pd.DataFrame) -> list[str]:
    """Return the sets on which some method reaches an ARI of 10."""
    return list(scores.index[(scores >= REACHED).any(axis=1)])


def difference(ours: pd.Series, theirs: pd.Series) -> list[str]:
    """Compare two methods on the sets that both have: mean, its 95 % bootstrap interval, sets clearly won and lost."""
    apart = (ours - theirs).dropna().to_numpy()
    n = len(apart)
    if n == 0:
        return ["", "", ""]
    drawn = apart[integers(stream(0, np.arange(RESAMPLES)[:, None], np.arange(n)), n)].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    counts = f"{int((apart > CLEAR).sum())} / {int((apart < -CLEAR).sum())}"
    return [f"{apart.mean():+.1f}", f"{low:+.1f}, {high:+.1f}", counts]


def comparison(scores: pd.DataFrame, inputs: Mapping[str, str], ours: str = DEFAULT) -> str:
    """Return mean ARI, mean rank and the lead of ours over each method, best first."""
    ranks = scores.round(6).rank(axis=1, ascending=False)
    lines = []
    for method in scores.mean().sort_values(ascending=False, kind="stable").index:
        own = scores[method]
        line = [method, "own" if method in (DEFAULT, AUTO) else inputs[method], str(own.count()), f"{own.mean():.1f}"]
        line.append(f"{ranks[method].mean():.2f}")
        line += ["", "", ""] if method == ours or ours not in scores else difference(scores[ours], own)
        lines.append([f"**{text}**" if method == ours and text else text for text in line])
    lead = f"lead of {ours}"
    return table(["method", "input", "sets", "mean ARI", "mean rank", lead, "95 % interval", "sets won / lost"], lines)


def by_set(scores: pd.DataFrame, inputs: Mapping[str, str], digits: int = 1) -> str:
    """Return the scores of every method on every set."""
    names = [name if name in (DEFAULT, AUTO) else f"{name} ({inputs[name]})" for name in scores]
    rows = scores.dropna(how="all").iterrows()
    lines = ([one, *("-" if np.isnan(x) else f"{x:.{digits}f}" for x in found)] for one, found in rows)
    return table(["table", *names], lines)


def switched_off(summary: pd.DataFrame, sets: Sequence[str], peers: Iterable[str]) -> str:
    """Return the default with each part switched off against the default, on the sets that all of these have."""
    there = summary.index.get_level_values("set").isin(sets) & (summary.index.get_level_values("input") == "raw")
    own = summary.loc[there].drop(columns=[name for name in (*peers, AUTO) if name in summary]).droplevel("input")
    ari = own.loc["ari"].dropna(axis=1, how="all").dropna() if "ari" in own.index else pd.DataFrame()
    if ari.shape[1] < 2 or DEFAULT not in ari:
        return ""
    other = {name: own.loc[name].reindex(ari.index).mean() for name in ("precision", "seconds") if name in own.index}
    lines = []
    for name in [DEFAULT, *ari.columns.drop(DEFAULT)]:
        precision, seconds = (other[score][name] if score in other else np.nan for score in ("precision", "seconds"))
        changed = ["", "", ""] if name == DEFAULT else difference(ari[name], ari[DEFAULT])
        shown = ("" if np.isnan(precision) else f"{precision:.0f}", f"{seconds:.2f}")
        lines.append([name, f"{ari[name].mean():.1f}", *changed, *shown])
    header = ["variant", "mean ARI", "change", "95 % interval", "tables won / lost", "precision", "mean s"]
    return f"{len(ari)} tables.\n\n{table(header, lines)}"


def methods_table(summary: pd.DataFrame, about: Mapping[str, str]) -> str:
    """Describe what each method is and what it took."""
    lines = []
    for method in (name for name in (DEFAULT, AUTO, *about) if name in summary):
        for which in summary.index.unique("input"):
            found = {score: _of(summary, score, which, method) for score in ("ari", "seconds")}
            if found["ari"].count():
                seconds = f"{found['seconds'].mean():.2f}", f"{found['seconds'].max():.1f}"
                lines.append([method, which, str(found["ari"].count()), f"{found['ari'].mean():.1f}", *seconds])
    text = "\n".join(f"- {name}: {told}." for name, told in about.items() if name in summary)
    return f"{table(['method', 'input', 'tables', 'mean ARI', 'mean s', 'longest mean s'], lines)}\n{text}\n"


def _of(summary: pd.DataFrame, score: str, which: str, method: str) -> pd.Series:
    level = summary.index
    return summary.loc[(level.get_level_values("score") == score) & (level.get_level_values("input") == which), method]
