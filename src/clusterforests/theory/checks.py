"""What the arguments of the theory functions may be. Messages name the parameter, its value and what is allowed."""

from typing import Any

import numpy as np

from clusterforests._base.parameters import integer
from clusterforests._base.typing import FloatArray


def check_integer(name: str, value: Any, low: int) -> int:
    rule = integer(low)
    if not rule.test(value):
        raise ValueError(f"{name}={value!r} is not allowed: it must be {rule.text}.")
    return int(value)


def check_real(name: str, value: Any, low: float, high: float, *, open_low: bool = False) -> float:
    """A finite number from low to high; with open_low, more than low."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    inside = number and np.isfinite(value) and low <= value <= high and not (open_low and value == low)
    if not inside:
        least = f"more than {low:g}" if open_low else f"at least {low:g}"
        most = "" if high == np.inf else f" and at most {high:g}"
        raise ValueError(f"{name}={value!r} is not allowed: it must be a number of {least}{most}.")
    return float(value)


def check_gamma(gamma: Any) -> float:
    """The ratio of the smaller cluster's size to the larger one's."""
    return check_real("gamma", gamma, 0, 1, open_low=True)


def check_sigma(sigma: Any) -> float:
    return check_real("sigma", sigma, 0, np.inf, open_low=True)


def check_means(mu: Any) -> FloatArray:
    """Feature means as a vector of at least one finite number."""
    means = np.atleast_1d(np.asarray(mu))
    if means.ndim != 1 or means.size == 0 or means.dtype.kind not in "iuf" or not np.isfinite(means).all():
        raise ValueError(f"mu={mu!r} is not allowed: it must be a vector of at least one finite number.")
    return means.astype(np.float64)
