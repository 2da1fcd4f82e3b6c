"""Write a report: gather what is known of a forest, fill in the page, write the file."""

import base64
import hashlib
import html
import inspect
import json
import os
import re
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from clusterforests._utils.files import replace_text
from clusterforests.app.description.clustering import Clustering, forest_of, measure
from clusterforests.app.description.described_table import DescribedTable, read_table, shorten, typed_table
from clusterforests.app.description.sentences import answer
from clusterforests.app.report.columns import feature_entries, reading_entries
from clusterforests.app.report.json_values import PageLimits, rounded
from clusterforests.app.report.rows import KnownClasses, map_entry, point_entry, stored_rows
from clusterforests.app.report.views import colours, cut_into_each, number_entry, prepare, tree_entry, view_entry

# The page: a template, its style and scripts, and the data, all in one file.

SCRIPTS = (
    "basics.js",
    "charts.js",
    "map.js",
    "points.js",
    "rows.js",
    "sections.js",
    "columns.js",
    "numbers.js",
    "main.js",
)
POLICY = "default-src 'none'; script-src {script}; style-src {style}; base-uri 'none'; form-action 'none'"


def fill(content: dict[str, Any]) -> str:
    """Fill in the template, in one pass: placeholders in what is filled in stay as they are."""
    style = _part("report.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_part(name) for name in SCRIPTS) + "})();\n"
    places = {
        "policy": POLICY.format(script=_hash(script), style=_hash(style)),
        "title": as_text(content["title"]),
        "answer": as_text(content["answer"]),
        "style": style,
        "script": script,
        "data": as_data(content),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: places[place[1]], _part("template.html"))


def as_data(content: Any) -> str:
    """Write JSON that can neither close the element it stands in nor open a comment there."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def as_text(text: str) -> str:
    """Write any text, even half a surrogate pair, as HTML in ASCII."""
    return html.escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _part(name: str) -> str:
    return (files("clusterforests.app.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return what the browser compares an inline script or style with before using it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


# How a fit was run, and how to run it again.

NOT_SHOWN = ("n_jobs", "verbose", "device")  # they do not change the result


def run_entry(
    model: Any, clustering: Clustering, table: DescribedTable, command: str | None, seconds: Any
) -> dict[str, Any]:
    """Describe the table, the settings as they were used, and the lines that repeat the run."""
    forest = clustering.forest
    return {
        "rows": len(clustering.labels),
        "columns": len(table.names),
        "trees": len(forest.partitions_),
        "version": version("clusterforests"),
        "random_state": None if forest.random_state is None else shorten(repr(forest.random_state)),
        "seconds": None if seconds is None else rounded(seconds),
        "command": None if command is None else str(command),
        "python": python_lines(model),
        "settings": [
            {"name": name, "value": _shown(choice.value), "reason": choice.reason}
            for name, choice in forest.chosen_params_.items()
        ],
        "numbered": table.ids is None,
    }


def python_lines(model: Any) -> str:
    """Write the Python code that repeats the fit, with the settings that are not the defaults."""
    forest = forest_of(model)
    steps = [*model] if isinstance(model, Pipeline) else [forest]
    given = (
        [] if forest.constraints_ is None or forest.constraints_.of_rows is None else forest.constraints_.of_rows.given
    )
    weights = [] if forest.sample_weight_ is None else ["sample_weight"]
    beside = [f"{name}={name}" for name in [*weights, *given]]
    imports = sorted({type(step).__name__ for step in steps} | {"write_report"})
    lines = [f"from clusterforests import {', '.join(imports)}", ""]
    made = _call(forest, first=repr(forest.n_clusters))
    if isinstance(model, Pipeline):
        lines.insert(0, "from sklearn.pipeline import make_pipeline")
        made = f"make_pipeline({', '.join([*map(_call, steps[:-1]), made])})"
        prefix = type(forest).__name__.lower()
        beside = [f"{prefix}__{name}" for name in beside]
    return "\n".join(
        [*lines, f"model = {made}.fit({', '.join(['X', *beside])})", 'write_report(model, X, "report.html")']
    )


def _call(step: Any, first: str | None = None) -> str:
    """Write how an estimator is made."""
    values, given = step.get_params(deep=False), [] if first is None else [first]
    for name, parameter in inspect.signature(type(step)).parameters.items():
        if name not in ("n_clusters", *NOT_SHOWN) and not _same(values[name], parameter.default):
            given.append(f"{name}={values[name]!r}")
    return f"{type(step).__name__}({', '.join(given)})"


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _shown(value: Any) -> str:
    return shorten(" to ".join(map(str, value)) if isinstance(value, tuple) else str(value))


def write_report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    names: Any = None,
    ids: Any = None,
    truth: Any = None,
    title: str | None = None,
    command: str | None = None,
    seconds: float | None = None,
) -> None:
    """Write one HTML page about a fitted forest: what was found, how sure it is, and what it depends on.

    The page is a single file that needs no network. Where a table has many rows, parts of the page show a sample of
    them and say so. An existing file is replaced only once the new one is complete.

    Parameters
    ----------
    model : ClusterForest, PaperForest or Pipeline
        A fitted forest, or a fitted pipeline of a `TableReader` and a forest.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on.
    path : str or path-like
        The file to write, such as "report.html".
    names : sequence of str or None, default=None
        Names of the columns. None takes those of X, or "column 1", "column 2", ...
    ids : sequence or None, default=None
        Names of the rows. None numbers them from 1.
    truth : array-like of shape (n_samples,) or None, default=None
        Known classes. They are only compared with the clusters; missing ones are left out.
    title : str or None, default=None
        Heading of the page.
    command : str or None, default=None
        The command that repeats the run, for the page to quote.
    seconds : float or None, default=None
        How long the fit took, for the page to quote.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_wine
    >>> from clusterforests import ClusterForest, write_report
    >>> wine = load_wine()
    >>> forest = ClusterForest(3, n_estimators=50, random_state=0).fit(wine.data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(forest, wine.data, f"{folder}/wine.html", names=wine.feature_names)
    ...     os.listdir(folder)
    ['wine.html']
    """
    content = gather(model, X, names=names, ids=ids, truth=truth, title=title, command=command, seconds=seconds)
    replace_text(Path(path), fill(content))


def gather(
    model: Any,
    X: Any,
    *,
    names: Any = None,
    ids: Any = None,
    truth: Any = None,
    title: str | None = None,
    command: str | None = None,
    seconds: float | None = None,
    limits: PageLimits | None = None,
) -> dict[str, Any]:
    """Gather everything the page shows, ready for JSON. The user's text is only ever a value in it, never a key."""
    limits = PageLimits() if limits is None else limits
    forest = forest_of(model)
    check_is_fitted(forest)
    X, readings = typed_table(model, X)
    doubts = forest.check_table(X)
    clustering = measure(forest, limits.splits)
    table = read_table(clustering, X, names, ids, readings, limits.sample_rows)
    score = None if truth is None else KnownClasses(truth, len(clustering.labels), limits)
    cuts, shared = cut_into_each(clustering, limits), prepare(clustering, table, doubts, limits)
    hues = colours(cuts, clustering.n_clusters)
    return {
        "title": "Clusters" if title is None else str(title),
        "answer": answer(clustering, table),
        "run": run_entry(model, clustering, table, command, seconds),
        "chosen": clustering.n_clusters,
        "views": [view_entry(cut, hue, shared, limits) for cut, hue in zip(cuts, hues, strict=True)],
        "columns": [column.entry() for column in shared.columns],
        "readings": reading_entries(readings),
        "features": feature_entries(forest, table, shared.listed),
        "map": map_entry(shared.pairs, clustering, table),
        "points": point_entry(shared.points, table),
        "rows": stored_rows(shared.rows, shared.parts, table, len(clustering.labels), limits),
        "number": number_entry(clustering, cuts),
        "tree": tree_entry(cuts, table),
        "truth": None if score is None else [score.compare(cut.labels) for cut in cuts],
    }
