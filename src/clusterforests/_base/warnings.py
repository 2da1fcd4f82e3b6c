"""Warnings that point at the user's line."""

import inspect
import warnings

SKIPPED = ("clusterforests", "sklearn")  # packages whose lines are not the user's


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost calling line that lies outside this package and scikit-learn."""
    level = 1
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in SKIPPED:
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)
