"""write_report: gather what is known of a forest, fill the page, write it."""

import inspect
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from clusterforests._base.files import replace_text
from clusterforests.metrics import clustering_accuracy, rand_index
from clusterforests.report import numbers
from clusterforests.report.features import feature_numbers
from clusterforests.report.page import fill
from clusterforests.report.table import Table, read_table, shorten
from clusterforests.report.words import answer, cautions
from clusterforests.tables.frames import is_missing

MOST_CLASSES = 1000
SHOWN_CLASSES = 30
NO_SETTINGS = ("n_jobs", "verbose", "backend")  # they change no result


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
    """Write one HTML page about a fitted forest: what was found, how sure it is, what it rests on.

    The page is a single file that needs no network. Of many rows a sample is shown where that is enough, and the page
    says so. It is written beside `path` first: there is the old file or the whole new one.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The table that it was fitted on.
    path : str or path-like
        The file to write, such as "report.html"; one that is there is replaced.
    names : sequence of str or None, default=None
        Names of the columns. None takes those of X, or "column 1", "column 2", ...
    ids : sequence or None, default=None
        Names of the rows. None numbers them from 1.
    truth : array-like of shape (n_samples,) or None, default=None
        Known classes. They are compared with the clusters and used for nothing else; missing ones are left out.
    title : str or None, default=None
        Heading of the page.
    command : str or None, default=None
        The line that repeats the run, for the page to quote.
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
    check_is_fitted(forest)
    content = gather(forest, X, names=names, ids=ids, truth=truth, title=title, command=command, seconds=seconds)
    replace_text(Path(path), fill(content))


def gather(
    forest: Any, X: Any, *, names: Any, ids: Any, truth: Any, title: str | None, command: str | None, seconds: Any
) -> dict[str, Any]:
    """All that the page shows, as JSON knows it. Text of the user's is only ever a value in it, never a key."""
    table = read_table(forest, X, names, ids)
    score = None if truth is None else compare(forest.labels_, truth)
    sure = numbers.measure(forest, table)
    return {
        "title": "Clusters" if title is None else str(title),
        "answer": answer(sure, chosen=forest.n_clusters_evidence_ is not None),
        "cautions": cautions(forest, sure, table),
        "run": _run(forest, table, command, seconds),
        "stability": numbers.whole_numbers(sure, len(forest.partitions_)),
        "clusters": numbers.cluster_numbers(sure),
        "sampled": len(table.rows) if len(table.rows) < len(sure.labels) else None,
        "between": numbers.between_clusters(sure),
        "silhouettes": numbers.silhouette_counts(sure),
        "map": numbers.consensus_map(forest, sure, table),
        "features": feature_numbers(forest, sure, table),
        "rows": numbers.row_numbers(sure, table),
        "labels": numbers.all_labels(sure, table),
        "number": numbers.number_of_clusters(forest, table),
        "truth": score,
    }


def compare(labels: Any, truth: Any) -> dict[str, Any]:
    """Agreement of the clusters with known classes, over the rows that have one."""
    if isinstance(truth, (str, bytes)) or not hasattr(truth, "__len__") or len(truth) != len(labels):
        found = len(truth) if hasattr(truth, "__len__") else type(truth).__name__
        raise ValueError(f"truth must hold {len(labels)} classes, one for each row of X; it has {found}.")
    known = np.array([not is_missing(value) for value in truth])
    classes, codes = np.unique(
        np.array([str(value) for value, there in zip(truth, known, strict=True) if there], dtype=object),
        return_inverse=True,
    )
    if not len(classes):
        raise ValueError("truth has no class at all: every value is missing.")
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"truth has {len(classes)} different values, such as {classes[0]!r}; at most {MOST_CLASSES} can be "
            "classes. Is it an identifier?"
        )
    mine = labels[known]
    counts = np.zeros((int(labels.max()) + 1, len(classes)), dtype=np.intp)
    np.add.at(counts, (mine, codes), 1)
    return {
        "rows": len(mine),
        "rand_index": numbers.plain(rand_index(codes, mine)),
        "adjusted_rand_index": numbers.plain(adjusted_rand_score(codes, mine)),
        "accuracy": numbers.plain(clustering_accuracy(codes, mine)),
        "classes": [shorten(name) for name in classes] if len(classes) <= SHOWN_CLASSES else None,
        "counts": counts.tolist() if len(classes) <= SHOWN_CLASSES else None,
        "n_classes": len(classes),
    }


def _run(forest: Any, table: Table, command: str | None, seconds: Any) -> dict[str, Any]:
    settings = [
        {"name": name, "value": _shown(choice.value), "reason": choice.reason}
        for name, choice in forest.selection_.items()
    ]
    return {
        "rows": len(forest.labels_),
        "columns": len(table.names),
        "trees": len(forest.partitions_),
        "version": version("clusterforests"),
        "random_state": None if forest.random_state is None else shorten(repr(forest.random_state)),
        "seconds": None if seconds is None else numbers.plain(seconds),
        "command": None if command is None else str(command),
        "python": python_lines(forest),
        "settings": settings,
        "numbered": table.ids is None,
    }


def python_lines(forest: Any) -> str:
    """What repeats the fit: the settings that are not the default ones."""
    given = forest.get_params(deep=False)
    parameters = inspect.signature(type(forest)).parameters
    others = [
        f"{name}={given[name]!r}"
        for name, parameter in parameters.items()
        if name not in ("n_clusters", *NO_SETTINGS) and not _same(given[name], parameter.default)
    ]
    weights = "" if forest._weights is None else ", sample_weight=w"
    call = ", ".join([repr(given["n_clusters"]), *others])
    return "\n".join(
        [
            "from clusterforests import ClusterForest",
            "from clusterforests.report import write_report",
            "",
            f"forest = ClusterForest({call}).fit(X{weights})",
            'write_report(forest, X, "report.html")',
        ]
    )


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _shown(value: Any) -> str:
    return shorten(" to ".join(map(str, value)) if isinstance(value, tuple) else str(value))
