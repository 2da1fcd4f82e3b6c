"""Checks of what users pass beside parameters: tables of numbers, weights of rows, and enough rows for the clusters."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from clusterforests import _core
from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.validation import Rule, check_parameters, warn_caller

# Products of weights must neither overflow nor vanish.
MOST_WEIGHT = 1e100
# Of the heaviest row's weight: eigenvectors are known to the square root of it.
LEAST_WEIGHT_SHARE = 1e-12
# How the names of types begin that are no numbers.
_TEXT = ("string", "str", "utf8", "categor", "date", "time", "enum", "list", "struct")


class FittedTable(BaseEstimator):  # type: ignore[misc]
    """The number and the names of a table's columns, which scikit-learn compares with those of new rows."""

    n_features_in_: int

    @property
    def names(self) -> Any:
        """The names, if all are text; otherwise None."""
        return getattr(self, "feature_names_in_", None)


def check_numbers(estimator: Any, X: Any, *, reset: bool = True) -> FloatArray:
    """Return X as a C-ordered float64 array; refuse an empty table and cells that are not finite numbers."""
    if reset and is_plain(X):
        accept_plain(estimator, X)
        return np.asarray(X)
    _refuse_text_columns(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "Mm":
        raise ValueError(times_message("X", X.dtype))
    table = validate_data(estimator, unmasked(X), reset=reset, dtype=np.float64, order="C", accept_sparse=False)
    return np.require(table, np.float64, ("C", "A"))


def read_sparse(fitted: FittedTable, X: Any) -> Any:
    """Return new rows of a reduced table, sparse or not, with the columns of the fitted one."""
    table = validate_data(fitted, X, reset=False, dtype=np.float64, accept_sparse="csr", ensure_all_finite=False)
    if not np.isfinite(table.data if scipy.sparse.issparse(table) else table).all():
        raise ValueError(
            "X contains NaN or infinity. The fitted table was sparse and reduced to components, in which every cell "
            "counts, so that none can be filled in: write 0 where there is nothing, or leave these rows out."
        )
    return table


def check_clustering(estimator: Any, X: Any, special: Mapping[str, Rule] | None = None) -> FloatArray:
    """Check the parameters of an estimator of `n_clusters` clusters, and return X as `check_numbers` does."""
    check_parameters(vars(estimator), special)
    table = check_numbers(estimator, X)
    check_enough_rows(len(table), estimator.n_clusters)
    return table


def is_plain(X: Any) -> bool:
    """Return whether X is a finite float64 array that needs no conversion."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64  # in this machine's byte order: others are not equal to it
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
        and X.flags.aligned
        and _core.is_finite(X)
    )


def accept_plain(estimator: Any, X: FloatArray) -> None:
    """Set what validate_data would, in a tenth of its time: a small fit takes about as long."""
    estimator.n_features_in_ = X.shape[1]
    if "feature_names_in_" in vars(estimator):
        del estimator.feature_names_in_


def unmasked(X: Any) -> Any:
    """Turn the masked cells of a masked array into missing ones: conversion would bring back what the mask hides."""
    if not np.ma.is_masked(X):
        return X
    return np.where(X.mask, np.nan if X.dtype.kind in "biuf" else None, X.data)


def times_message(where: str, kind: Any) -> str:
    """Describe what to do with dates and times."""
    return (
        f"{where} holds dates or times ({kind}), which compare with nothing else. Turn them into numbers, such as days "
        "since a date, or drop them."
    )


def check_enough_rows(n_rows: int, n_clusters: int) -> None:
    """Refuse more clusters than rows."""
    if n_rows < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of rows, n_samples={n_rows}. Lower n_clusters."
        )


def check_weights(sample_weight: Any, n_rows: int, *, whole: bool = True) -> FloatArray | None:
    """Return the weights of rows as float64, or None; refuse negative, infinite, missing and all-zero ones.

    Beside the heaviest of a whole table, rows of almost no weight are lost in rounding: they count as 0, with a
    warning.
    """
    if sample_weight is None:
        return None
    # One real number for each row, or one for all.
    given = np.asarray(sample_weight)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"sample_weight must hold real numbers, not {given.dtype}.")
    weights = given.astype(np.float64, order="C")
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be 1-dimensional, one weight per row; it has {weights.ndim} dimensions.")
    if len(weights) != n_rows:
        raise ValueError(f"sample_weight has {len(weights)} entries but X has {n_rows} rows.")
    # Finite, not negative, and not zero everywhere.
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not (weights > 0).any():
        raise ValueError("sample_weight is zero for every row: at least one row must count.")
    # Neither so large nor so small that products of weights leave the range of float64.
    heaviest = float(weights.max())
    if not 1 / MOST_WEIGHT <= heaviest <= MOST_WEIGHT:
        raise ValueError(
            f"The largest sample_weight is {heaviest:g}, but it must lie between {1 / MOST_WEIGHT:g} and "
            f"{MOST_WEIGHT:g}. Divide all weights by the same number, such as {heaviest:g}."
        )
    # What rounding would lose counts as nothing.
    light = (weights > 0) & (weights < LEAST_WEIGHT_SHARE * heaviest)
    if whole and light.any():
        weights[light] = 0.0
        warn_caller(
            f"{int(light.sum())} rows weigh less than {LEAST_WEIGHT_SHARE:g} of the heaviest in sample_weight, too "
            "little to be told from 0: they are labelled, but have no say."
        )
    return weights


def _holds_text(X: Any, j: int, kind: Any) -> bool:
    """Return whether a column of objects, as which pandas kept text before its third version, holds some."""
    return str(kind) == "object" and hasattr(X, "iloc") and any(isinstance(cell, str) for cell in X.iloc[:, j])


def _refuse_text_columns(X: Any) -> None:
    """Name the columns of a pandas or polars frame that hold something other than numbers."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return
    kinds = enumerate(zip(X.columns, X.dtypes, strict=True))
    text = [str(name) for j, (name, kind) in kinds if str(kind).lower().startswith(_TEXT) or _holds_text(X, j, kind)]
    if text:
        listed = ", ".join(repr(name) for name in text[:5]) + (", ..." if len(text) > 5 else "")
        raise ValueError(
            f"X has {len(text)} column(s) that are not numbers: {listed}. Drop them or encode them as numbers."
        )
