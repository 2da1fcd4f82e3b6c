"""Arrays as the C++ core takes them: aligned in memory as their type requires."""

import copy
from typing import Any

import numpy as np


def aligned(value: Any) -> Any:
    """Copy the arrays in `value` that are not aligned: in a message an array may begin at any byte."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements="A")
    if type(value) is list:
        return [aligned(each) for each in value]
    if type(value) is dict:
        return {key: aligned(each) for key, each in value.items()}
    return copy.deepcopy(value) if type(value).__module__.startswith("clusterforests.") else value
