"""Write a report: gather what is known of a forest, fill in the page, write the file."""

import os
from pathlib import Path
from typing import Any

from clusterforests._base.files import replace_text
from clusterforests.forest_view import view_of
from clusterforests.report.cluster_number import number_entry, tree_entry
from clusterforests.report.columns import reading_entries
from clusterforests.report.feature_tables import feature_entries
from clusterforests.report.known_classes import KnownClasses
from clusterforests.report.limits import PageLimits
from clusterforests.report.page import fill
from clusterforests.report.points import point_entry
from clusterforests.report.row_lists import map_entry, stored_rows
from clusterforests.report.run_description import run_entry
from clusterforests.report.views import colours, cut_into_each, prepare, view_entry
from clusterforests.story.certainty import measure_certainty
from clusterforests.story.same_columns import check_same_columns
from clusterforests.story.same_table import check_same_table
from clusterforests.story.sentences import answer
from clusterforests.story.table_sample import sample_table


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
    >>> from clusterforests.report import write_report
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
    table = sample_table(view, X, names, ids, limits)
    doubts = check_same_table(view, X) + check_same_columns(view, table.rows, table.values)
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
