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

from clusterforests._utils.files import replace_text
from clusterforests.app.description.sentences import answer, measure_certainty
from clusterforests.app.description.table_sample import TableSample, sample_table, shorten
from clusterforests.app.report.columns import feature_entries, reading_entries
from clusterforests.app.report.json_values import PageLimits, rounded
from clusterforests.app.report.rows import KnownClasses, map_entry, point_entry, stored_rows
from clusterforests.app.report.views import colours, cut_into_each, number_entry, prepare, tree_entry, view_entry
from clusterforests.forest_view import ForestView, view_of

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

NOT_SHOWN = ("n_jobs", "verbose", "backend")  # they do not change the result


def run_entry(view: ForestView, table: TableSample, command: str | None, seconds: Any) -> dict[str, Any]:
    """Describe the table, the settings as they were used, and the lines that repeat the run."""
    seed = view.parameters["random_state"]
    return {
        "rows": len(view.labels),
        "columns": len(table.names),
        "trees": view.n_trees,
        "version": version("clusterforests"),
        "random_state": None if seed is None else shorten(repr(seed)),
        "seconds": None if seconds is None else rounded(seconds),
        "command": None if command is None else str(command),
        "python": python_lines(view),
        "settings": [
            {"name": name, "value": _shown(choice.value), "reason": choice.reason}
            for name, choice in view.settings.items()
        ],
        "numbered": table.ids is None,
    }


def python_lines(view: ForestView) -> str:
    """Write the Python code that repeats the fit, with the settings that are not the defaults."""
    others = [
        f"{name}={view.parameters[name]!r}"
        for name, parameter in inspect.signature(type(view.forest)).parameters.items()
        if name not in ("n_clusters", *NOT_SHOWN) and not _same(view.parameters[name], parameter.default)
    ]
    call = ", ".join([repr(view.parameters["n_clusters"]), *others])
    guided = [] if view.constraints is None or view.constraints.guidance is None else view.constraints.guidance.given
    beside = ["sample_weight=w"] * (view.weights is not None) + [f"{name}={name}" for name in guided]
    return "\n".join(
        [
            "from clusterforests import ClusterForest",
            "from clusterforests.app.report import write_report",
            "",
            f"forest = ClusterForest({call}).fit({', '.join(['X', *beside])})",
            'write_report(forest, X, "report.html")',
        ]
    )


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _shown(value: Any) -> str:
    return shorten(" to ".join(map(str, value)) if isinstance(value, tuple) else str(value))


def write_report(
    forest: Any,
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
    forest : ClusterForest
        Fitted.
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
    >>> from clusterforests import ClusterForest
    >>> from clusterforests.app.report import write_report
    >>> wine = load_wine()
    >>> forest = ClusterForest(3, n_estimators=50, random_state=0).fit(wine.data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(forest, wine.data, f"{folder}/wine.html", names=wine.feature_names)
    ...     os.listdir(folder)
    ['wine.html']
    """
    content = gather(forest, X, names=names, ids=ids, truth=truth, title=title, command=command, seconds=seconds)
    replace_text(Path(path), fill(content))


def gather(
    forest: Any,
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
    view = view_of(forest)
    doubts = view.forest.check_table(X)
    table = sample_table(view, X, names, ids, limits)
    score = None if truth is None else KnownClasses(truth, len(view.labels), limits)
    sure = measure_certainty(view, limits)
    cuts, shared = cut_into_each(view, sure, limits), prepare(view, sure, table, doubts, limits)
    hues = colours(cuts, view.n_clusters)
    return {
        "title": "Clusters" if title is None else str(title),
        "answer": answer(view, sure, table.names),
        "run": run_entry(view, table, command, seconds),
        "chosen": view.n_clusters,
        "views": [view_entry(cut, hue, shared, limits) for cut, hue in zip(cuts, hues, strict=True)],
        "columns": [column.entry() for column in shared.columns],
        "readings": reading_entries(view),
        "features": feature_entries(view, table, shared.listed),
        "map": map_entry(shared.pairs, view, sure, table),
        "points": point_entry(shared.points, table),
        "rows": stored_rows(shared.rows, shared.parts, table, len(view.labels), limits),
        "number": number_entry(view, cuts),
        "tree": tree_entry(view, cuts, table),
        "truth": None if score is None else [score.compare(cut.sure.labels) for cut in cuts],
    }
