"""Warnings that point at the line of the user."""

import inspect
import warnings

BETWEEN = ("clusterforests", "sklearn")  # packages whose lines are not the user's


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest line on the way here that is outside of this package and scikit-learn."""
    level = 1
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)
