"""Numbers and arrays as JSON holds them."""

import base64
from typing import Any

import numpy as np

from clusterforests._base.typing import AnyArray


def rounded(value: Any) -> float | None:
    """Round to the four digits that the page shows. JSON has no NaN, so None stands for it."""
    number = float(value)
    return float(f"{number:.4g}") if np.isfinite(number) else None


def rounded_list(values: Any) -> list[float | None]:
    """Round every value."""
    return [rounded(value) for value in values]


def packed(values: AnyArray) -> str:
    """Write the bytes of an array as base64."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
