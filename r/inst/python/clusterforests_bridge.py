"""What R calls. Tables come and results go as bytes, so that R need not know this version of NumPy."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.pipeline import Pipeline, make_pipeline

from clusterforests import ClusterForest, TableReader, describe
from clusterforests._utils.validation import rename_places

NA_INTEGER = -(2**31)  # R's missing integer or logical


def guarded(name: str, *arguments: Any) -> dict[str, Any]:
    """Call a function of this module; return its value, or the error, and the warnings."""
    value = error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            value = globals()[name](*arguments)
        except Exception as problem:  # R raises it again, without a traceback of Python
            error = str(problem) or type(problem).__name__
    told = [str(entry.message) for entry in caught if issubclass(entry.category, UserWarning)]
    return {"value": value, "error": error, "warnings": told}


def numbers(data: bytes, n_rows: int, n_columns: int) -> Any:
    """Read a matrix of numbers, column after column."""
    return np.frombuffer(data, "<f8").reshape((n_rows, n_columns), order="F")


def sparse(data: bytes, rows: bytes, starts: bytes, shape: Sequence[int]) -> Any:
    """Read a sparse matrix, column after column."""
    parts = np.frombuffer(data, "<f8"), np.frombuffer(rows, "<i4"), np.frombuffer(starts, "<i4")
    return scipy.sparse.csc_array(parts, shape=tuple(shape))


def frame(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> Any:
    """Read a data frame, whose columns are each a kind and what the reader of that kind takes."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "data frames need the Python package pandas (pip install pandas); a matrix of numbers does without."
        ) from error
    read = {
        "number": _floats,
        "logical": _logical,
        "category": _category,
        "text": _text,
        "day": _moment,
        "second": _moment,
    }
    cells = [read[kind](pandas, kind, *given) for kind, *given in columns]
    table = pandas.DataFrame(dict(enumerate(cells)))
    table.columns = list(names)
    return table


def _floats(pandas: Any, kind: str, data: bytes) -> Any:
    return np.frombuffer(data, "<f8")


def _logical(pandas: Any, kind: str, data: bytes) -> Any:
    values = np.frombuffer(data, "<i4")
    missing = values == NA_INTEGER
    return pandas.arrays.BooleanArray(values == 1, missing) if missing.any() else values == 1


def _category(pandas: Any, kind: str, data: bytes, levels: Sequence[str], ordered: bool) -> Any:
    return pandas.Categorical.from_codes(np.frombuffer(data, "<i4"), categories=list(levels), ordered=ordered)


def _text(pandas: Any, kind: str, texts: Sequence[str], missing: bytes) -> Any:
    left_out = np.frombuffer(missing, "<i4") == 1
    cells = np.array([*texts, None], dtype=object)[:-1]
    cells[left_out] = None
    return cells


def _moment(pandas: Any, kind: str, data: bytes) -> Any:
    unit = {"day": 86_400e6, "second": 1e6}[kind]
    values = np.frombuffer(data, "<f8")
    moments = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]")
    known = np.isfinite(values)
    moments[known] = np.rint(values[known] * unit).astype(np.int64).astype("datetime64[us]")
    return moments


def fit(table: Any, n_clusters: Any, settings: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Cluster a table; a list is several numbers of clusters to choose from, or a pair such as `n_base_clusters`."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
    pairs = {name: None if known[name] is None else _pairs(known[name]) for name in ("must_link", "cannot_link")}
    overrides = given.pop("columns", None)
    with _counting_from_one():
        forest = ClusterForest(n_clusters, **given)
        model: Any = make_pipeline(TableReader(overrides), forest) if hasattr(table, "columns") else forest
        typed = model[0].fit_transform(table) if isinstance(model, Pipeline) else table
        forest.fit(typed, known_labels=known["known_labels"], **pairs)
        return contents(model)


@contextmanager
def _counting_from_one() -> Iterator[None]:
    """Let errors count rows and columns from 1, as R does."""
    try:
        yield
    except ValueError as error:
        raise ValueError(rename_places(str(error))) from error


def _pairs(data: bytes) -> Any:
    """Read pairs of row positions."""
    return np.frombuffer(data, "<i4").reshape(-1, 2)


def cut(model: Any, n_clusters: int) -> dict[str, Any]:
    """Cut the trees of a forest into another number of clusters."""
    cut_forest = _forest(model).recut(n_clusters)
    return contents(make_pipeline(model[0], cut_forest) if isinstance(model, Pipeline) else cut_forest)


def _forest(model: Any) -> Any:
    """Return the forest of a pipeline that reads data frames, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def contents(model: Any) -> dict[str, Any]:
    """Collect what R keeps of a forest."""
    forest = _forest(model)
    found = forest.n_clusters_evidence_
    evidence = None
    if found is not None:
        evidence = {"k": list(found.candidates), **{name: values.tolist() for name, values in found.evidence.items()}}
    return {
        "forest": model,
        "features": list(forest.feature_names_in_) if hasattr(forest, "feature_names_in_") else None,
        "k": int(forest.n_clusters_),
        "labels": _packed(forest.labels_, "<i4"),
        "memberships": _packed(forest.memberships_),
        "consensus": _packed(forest.item_consensus_),
        "cluster_consensus": _packed(forest.cluster_consensus_),
        "importance": _packed(forest.feature_importances_),
        "p_value": _packed(forest.feature_pvalues_),
        "evidence": evidence,
        "settings": list(forest.chosen_params_),
        "values": [str(setting.value) for setting in forest.chosen_params_.values()],
        "reasons": [setting.reason for setting in forest.chosen_params_.values()],
    }


def clusters(model: Any, table: Any) -> bytearray:
    """Return the cluster of each new row."""
    with _counting_from_one():
        return _packed(model.predict(table), "<i4")


def probabilities(model: Any, table: Any) -> bytearray:
    """Return the membership of each new row in each cluster."""
    with _counting_from_one():
        return _packed(model.predict_proba(table))


def shares(model: Any, rows: Sequence[int]) -> bytearray:
    """Return the share of trees in which two of these rows are together."""
    return _packed(_forest(model).coassociation(list(rows), list(rows)))


def description(model: Any, table: Any, names: Any, ids: Any) -> str:
    """Return the clusters in plain English."""
    return str(describe(model, table, names=names, ids=ids))


def _packed(values: Any, kind: str = "<f8") -> bytearray:
    return bytearray(np.asarray(values).astype(kind).tobytes(order="F"))
