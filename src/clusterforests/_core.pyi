from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

class KMeansResult(TypedDict):
    solved: npt.NDArray[np.uint8]
    within: npt.NDArray[np.float64]
    between: npt.NDArray[np.float64]
    within_pairs: npt.NDArray[np.float64]
    between_pairs: npt.NDArray[np.float64]
    exponent: npt.NDArray[np.int32]
    iterations: npt.NDArray[np.int32]
    centers: npt.NDArray[np.float64]

class Table:
    rows: int
    distinct: int
    columns: int
    weight_exponent: int
    exponent: npt.NDArray[np.int32]
    origin: npt.NDArray[np.float64]
    reach: npt.NDArray[np.int32]
    def __init__(self, x: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None = None) -> None: ...
    def project(self, x: npt.NDArray[np.float64]) -> Table: ...

class Scaling:
    def __init__(
        self,
        exponent: npt.NDArray[np.int32],
        shift: npt.NDArray[np.float64],
        divisor: npt.NDArray[np.float64],
        ranked: npt.NDArray[np.uint8],
        starts: npt.NDArray[np.int64],
        knots: npt.NDArray[np.float64],
        ranks: npt.NDArray[np.float64],
    ) -> None: ...
    def apply(self, x: npt.NDArray[np.float64], threads: int = 1) -> npt.NDArray[np.float64]: ...

class Passes:
    def __init__(
        self,
        scaling: Scaling | None,
        exponent: npt.NDArray[np.int32],
        origin: npt.NDArray[np.float64],
        reach: npt.NDArray[np.int32],
        columns: npt.NDArray[np.int32],
        offsets: npt.NDArray[np.int64],
        clusters: npt.NDArray[np.int32],
        centers: npt.NDArray[np.float64],
    ) -> None: ...
    def add(
        self,
        x: npt.NDArray[np.float64],
        weights: npt.NDArray[np.float64] | None,
        bits: npt.NDArray[np.int32],
        mass_bits: int,
        sums: npt.NDArray[np.int64],
        mass: npt.NDArray[np.int64],
        threads: int,
    ) -> None: ...
    def label(
        self, x: npt.NDArray[np.float64], labels: npt.NDArray[np.signedinteger[Any]], start: int, threads: int
    ) -> None: ...

class Matches:
    columns: int
    members: int
    stored_bytes: int
    def __init__(self, columns: npt.NDArray[np.int32], table: npt.NDArray[np.float64]) -> None: ...
    def store(self, rows: npt.NDArray[np.int32], threads: int) -> None: ...
    def multiply(
        self, rows: npt.NDArray[np.int32] | None, vectors: npt.NDArray[np.float64], threads: int
    ) -> npt.NDArray[np.float64]: ...

def hash_rows(x: npt.NDArray[np.float64], threads: int) -> npt.NDArray[np.uint64]: ...
def project(
    x: npt.NDArray[np.float64],
    exponent: npt.NDArray[np.int32],
    origin: npt.NDArray[np.float64],
    reach: npt.NDArray[np.int32],
) -> Table: ...
def kmeans(
    table: Table,
    columns: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    clusters: npt.NDArray[np.int32],
    seeds: npt.NDArray[np.uint64],
    restarts: int,
    max_iter: int,
    effort: int,
    threads: int,
) -> KMeansResult: ...
def assign(
    table: Table,
    columns: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    clusters: npt.NDArray[np.int32],
    centers: npt.NDArray[np.float64],
    threads: int,
) -> npt.NDArray[np.int32]: ...
def draw_features(
    keys: npt.NDArray[np.uint64],
    features: int,
    count: int,
    excluded: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
) -> npt.NDArray[np.int32]: ...
def sum_lines(
    labels: npt.NDArray[np.int32],
    first: npt.NDArray[np.int64],
    lines: npt.NDArray[np.float64],
    threads: int,
) -> npt.NDArray[np.float64]: ...
def column_keys(labels: npt.NDArray[np.int32]) -> npt.NDArray[np.uint64]: ...
def coassociate(
    a: npt.NDArray[np.int32], b: npt.NDArray[np.int32], table: npt.NDArray[np.float64], threads: int
) -> npt.NDArray[np.float64]: ...
def multiply(
    matrix: npt.NDArray[np.float64], vectors: npt.NDArray[np.float64], threads: int
) -> npt.NDArray[np.float64]: ...
def fill(
    values: npt.NDArray[np.float64],
    places: npt.NDArray[np.float64],
    donor_values: npt.NDArray[np.float64],
    donor_places: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    first: npt.NDArray[np.int32],
    widths: npt.NDArray[np.int32],
    means: npt.NDArray[np.float64],
    neighbours: float,
    nearest: int,
    threads: int,
) -> npt.NDArray[np.float64]: ...
def instruction_set() -> str: ...
def instruction_sets() -> list[str]: ...
def use_instruction_set(name: str) -> None: ...
