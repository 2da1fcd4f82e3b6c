"""What the parameters may be and what a table must look like, in one place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from clusterforests._base.memory_limits import shortage
from clusterforests._base.typing import AnyArray, FloatArray, IntArray

QUALITY = ("centroid", "pairwise")
SCALES = ("none", "standard", "range", "rank", "mixed")
COMPETE = ("start", "always")
BACKENDS = ("auto", "cpu", "gpu")
MAX_MEMBERS = 65535  # what the match counts hold


@dataclass(frozen=True)
class Rule:
    """`test` says whether a value is allowed; `text` says what is, for the message."""

    test: Callable[[Any], bool]
    text: str


def integer(low: int, high: int | None = None) -> Rule:
    def test(value: Any) -> bool:
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        return whole and low <= value and (high is None or value <= high)

    return Rule(test, f"an integer of at least {low}" + ("" if high is None else f" and at most {high}"))


def real(low: float, high: float) -> Rule:
    def test(value: Any) -> bool:
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        return number and low <= float(value) <= high

    span = f"a number of at least {low:g}" if high == np.inf else f"a number from {low:g} to {high:g}"
    return Rule(lambda value: test(value) and bool(np.isfinite(value)), span)


def positive() -> Rule:
    return Rule(lambda value: real(0, np.inf).test(value) and value > 0, "a number above 0")


def choice(*options: str) -> Rule:
    return Rule(lambda value: isinstance(value, str) and value in options, "one of " + ", ".join(map(repr, options)))


def boolean() -> Rule:
    return Rule(lambda value: isinstance(value, (bool, np.bool_)), "True or False")


def none() -> Rule:
    return Rule(lambda value: value is None, "None")


def either(*rules: Rule) -> Rule:
    return Rule(lambda value: any(r.test(value) for r in rules), " or ".join(r.text for r in rules))


JOBS = either(none(), Rule(lambda v: integer(-1024, 1024).test(v) and v != 0, "an integer other than 0, at most 1024"))

RULES: Mapping[str, Rule] = {
    "n_clusters": integer(1),
    "n_estimators": integer(1, MAX_MEMBERS),
    "base_clusters": either(none(), integer(1)),
    "features_per_draw": integer(1),
    "n_candidates": integer(1),
    "patience": either(integer(1), choice("all")),
    "repeat_features": boolean(),
    "quality": choice(*QUALITY),
    "compete": choice(*COMPETE),
    "threshold": either(real(0, 1), choice("auto")),
    "sharpness": either(real(0, 50), choice("auto")),
    "n_init": integer(1, 2**20),
    "max_iter": integer(1, 2**30),
    "improve": boolean(),
    "n_jobs": JOBS,
    "backend": choice(*BACKENDS),
    "verbose": either(integer(0), boolean()),
}


def span(low: int) -> Rule:
    def test(value: Any) -> bool:
        pair = isinstance(value, tuple) and len(value) == 2 and all(integer(low).test(v) for v in value)
        return pair and value[0] <= value[1]

    return Rule(test, f"a tuple (lowest, highest) of integers of at least {low}")


def several(low: int) -> Rule:
    def test(value: Any) -> bool:
        listed = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str) and np.ndim(value) == 1
        return listed and len(value) > 0 and all(integer(low).test(v) for v in value)

    return Rule(test, f"several integers of at least {low}, such as range(2, 7)")


def _automatic(*rules: Rule) -> Rule:
    return either(choice("auto"), *rules)


# Where ClusterForest allows more: it chooses for itself what is "auto".
FOREST_RULES: Mapping[str, Rule] = {
    "n_clusters": _automatic(integer(1), several(1)),
    "max_samples": _automatic(none(), integer(2)),
    "landmarks": _automatic(none(), integer(2)),
    "scale": _automatic(choice(*SCALES)),
    "base_clusters": _automatic(RULES["base_clusters"], span(1)),
    "quality": _automatic(choice(*QUALITY, "corrected")),
    **{
        name: _automatic(RULES[name])
        for name in (
            "features_per_draw",
            "n_candidates",
            "patience",
            "repeat_features",
            "n_init",
        )
    },
}


def check_parameters(values: Mapping[str, Any], special: Mapping[str, Rule] | None = None) -> None:
    """Raise ValueError for the first value that its rule does not allow; names without a rule pass.

    `special` are rules of one estimator, before the common ones.
    """
    rules = RULES if special is None else {**RULES, **special}
    for name, value in values.items():
        rule = rules.get(name)
        if rule is not None and not rule.test(value):
            raise ValueError(f"{name}={value!r} is not allowed: it must be {rule.text}.")


def check_table(estimator: Any, X: Any, *, reset: bool = True) -> FloatArray:
    """X as a C-ordered float64 array of at least one row and column, all finite."""
    if reset and is_plain(X):
        accept_plain(estimator, X)
        return np.asarray(X)
    _refuse_text_columns(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "Mm":
        raise ValueError(f"X holds dates or times ({X.dtype}). Turn them into numbers, such as days since a date.")
    table = validate_data(estimator, unmasked(X), reset=reset, dtype=np.float64, order="C", accept_sparse=False)
    return np.require(table, np.float64, ("C", "A"))


def unmasked(X: Any) -> Any:
    """A masked array with masked cells missing: conversion would bring back what is under the mask."""
    if not np.ma.is_masked(X):
        return X
    return np.where(X.mask, np.nan if X.dtype.kind in "biuf" else None, X.data)


def accept_plain(estimator: Any, X: FloatArray) -> None:
    """What validate_data would do, in a tenth of its time: a small fit costs about as much."""
    estimator.n_features_in_ = X.shape[1]
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def is_plain(X: Any) -> bool:
    """A finite float64 array that needs no conversion."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.dtype.isnative
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
        and X.flags.aligned
        and bool(np.isfinite(X).all())
    )


def _refuse_text_columns(X: Any) -> None:
    """Name the columns of a pandas or polars frame that hold something else than numbers."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return
    kinds = zip(X.columns, X.dtypes, strict=True)
    text = [str(name) for name, kind in kinds if str(kind).lower().startswith(_TEXT)]
    if text:
        listed = ", ".join(repr(name) for name in text[:5]) + (", ..." if len(text) > 5 else "")
        raise ValueError(
            f"X has {len(text)} column(s) that are not numbers: {listed}. Drop them or encode them as numbers."
        )


_TEXT = ("string", "str", "utf8", "categor", "date", "time", "enum", "list", "struct")


def check_rows(n_rows: int, n_clusters: int) -> None:
    if n_rows < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of rows, n_samples={n_rows}. Lower n_clusters."
        )


def check_partitions(partitions: Any) -> IntArray:
    """Labels renumbered from 0 in each partition, in the order in which they appear; -1 where negative."""
    try:
        given = np.asarray(partitions)
    except ValueError as error:
        raise ValueError("partitions must all label the same number of rows.") from error
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(
            f"partitions must have shape (n_partitions, n_samples), both at least 1; it has shape {given.shape}."
        )
    if len(given) > MAX_MEMBERS:
        raise ValueError(f"partitions has {len(given)} members; at most {MAX_MEMBERS} are allowed.")
    if given.dtype.kind not in "biu":
        raise TypeError(f"partitions must hold integer labels, not {given.dtype}. Encode other labels as integers.")
    labels = np.full(given.shape, -1, dtype=np.int32)
    for member, out in zip(given, labels, strict=True):
        clustered = member >= 0
        out[clustered] = _renumbered(member[clustered])
    never = np.flatnonzero((labels < 0).all(axis=0))
    if len(never):
        raise ValueError(
            f"{len(never)} row(s) are not clustered in any partition, the first is row {never[0]}: nothing is known "
            "of them. Leave them out, or cluster them in at least one partition."
        )
    return labels


def _renumbered(labels: AnyArray) -> AnyArray:
    """Numbers from 0 in the order in which labels appear, so that their names do not matter."""
    if len(labels) == 0 or int(labels.max()) >= len(labels):  # sorting is left to labels that are far apart
        labels = np.unique(labels, return_inverse=True)[1]
    first = np.full(int(labels.max(initial=-1)) + 1, len(labels))  # where each label is first
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # what is written to twice keeps the last
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    renumbered: IntArray = rank[labels]
    return renumbered


def check_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Row weights as float64, or None. Negative, non-finite or all-zero weights are refused."""
    if sample_weight is None:
        return None
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
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not (weights > 0).any():
        raise ValueError("sample_weight is zero for every row: at least one row must count.")
    return weights


def check_memory(needed: int, purpose: str, instead: str) -> None:
    """Refuse before starting what would be killed half-way."""
    left = shortage(needed)
    if left is not None:
        raise MemoryError(f"{purpose} needs {in_bytes(needed)} and {in_bytes(left)} are left. {instead}")


def in_bytes(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"
