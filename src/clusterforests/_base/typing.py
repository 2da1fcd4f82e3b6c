"""Types of the arrays that are passed between modules."""

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
