"""Checks of the arguments of the theory functions, which return them as plain numbers and arrays."""

from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.validation import Rule, above, check_value, integer


def check_integer(name: str, value: Any, low: int) -> int:
    """Return a whole number of at least `low`."""
    check_value(name, value, integer(low))
    return int(value)


def check_number(name: str, value: Any, rule: Rule) -> float:
    """Return a number that the rule allows."""
    check_value(name, value, rule)
    return float(value)


def check_gamma(gamma: Any) -> float:
    """Return the ratio of the smaller cluster's size to the larger one's."""
    return check_number("gamma", gamma, above(0, 1))


def check_sigma(sigma: Any) -> float:
    """Return the standard deviation of the noise."""
    return check_number("sigma", sigma, above(0))


def check_signal(mu: Any) -> tuple[FloatArray, float]:
    """Return feature means that are not all zero, and their Euclidean norm."""
    means = check_means(mu)
    strength = float(np.linalg.norm(means))
    if strength == 0:
        raise ValueError(f"mu={mu!r} is not allowed: at least one mean must differ from 0.")
    return means, strength


def check_means(mu: Any) -> FloatArray:
    """Return feature means as a vector of at least one finite number."""
    means = np.atleast_1d(np.asarray(mu))
    if means.ndim != 1 or means.size == 0 or means.dtype.kind not in "iuf" or not np.isfinite(means).all():
        raise ValueError(f"mu={mu!r} is not allowed: it must be a vector of at least one finite number.")
    return means.astype(np.float64)
