"""Types of the arrays that are passed between modules."""

import copy
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]  # labels, features
IndexArray = npt.NDArray[np.intp]
Int64Array = npt.NDArray[np.int64]
KeyArray = npt.NDArray[np.uint64]  # hashes and random streams
BoolArray = npt.NDArray[np.bool_]
AnyIntArray = npt.NDArray[np.signedinteger[Any]]  # labels in the smallest type that holds them
AnyArray = npt.NDArray[Any]


# Arrays as the C++ core takes them: aligned in memory as their type requires.


def aligned(value: Any) -> Any:
    """Copy the arrays in `value` that are not aligned: in a message an array may begin at any byte."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements="A")
    if type(value) is list:
        return [aligned(each) for each in value]
    if type(value) is dict:
        return {key: aligned(each) for key, each in value.items()}
    return copy.deepcopy(value) if type(value).__module__.startswith("clusterforests.") else value
