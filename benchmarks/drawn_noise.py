"""Tables of K Gaussian groups that differ in m of p features; the other features are noise of five kinds."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
KINDS = ("normal", "heavy", "block", "binary", "copies")


class Cell(NamedTuple):
    """One cell of the grid.

    The effect is the standard deviation of the group centres. It was calibrated on seeds 900 to 904 so that K-means on
    the informative features reaches `target`. Where p >= 300 it is larger: there the oracle has 1 long before anybody
    could find the features.
    """

    kind: str
    n: int
    p: int
    m: int
    k: int
    target: float
    effect: float
    unequal: bool = False  # the largest group has three times the rows of the smallest
    df: int = 0  # heavy: degrees of freedom of t
    size: int = 0  # block: features in a block
    rho: float = 0.0  # block: correlation within one
    copies: int = 0  # copies: of one noise feature

    @property
    def name(self) -> str:
        extra = [f"t{self.df}"] if self.df else [f"{self.size} at {self.rho}"] if self.size else []
        extra += [f"x{self.copies}"] if self.copies else []
        return " ".join([self.kind, *extra, f"{self.n} x {self.p}, {self.m} informative, K {self.k}"])


GRID = (
    Cell("normal", 120, 5000, 100, 3, 1.0, 1.2),
    Cell("normal", 500, 100, 5, 3, 0.85, 1.62),
    Cell("normal", 1000, 50, 3, 4, 0.75, 2.73),
    Cell("normal", 200, 20000, 200, 5, 1.0, 1.0),
    Cell("normal", 2000, 60, 10, 8, 0.8, 1.2, unequal=True),
    Cell("normal", 100, 30, 4, 2, 0.85, 2.4),
    Cell("heavy", 1500, 60, 3, 3, 0.85, 3.2, df=3),
    Cell("heavy", 300, 200, 10, 4, 0.95, 1.5, df=2),
    Cell("heavy", 120, 2000, 60, 3, 1.0, 1.2, df=3),
    Cell("heavy", 500, 100, 8, 5, 0.9, 1.69, df=2),
    Cell("heavy", 200, 1000, 30, 2, 0.95, 1.2, unequal=True, df=3),
    Cell("heavy", 1000, 40, 5, 6, 0.7, 1.43, df=2),
    Cell("block", 300, 40, 5, 3, 0.87, 2.1, size=7, rho=0.8),
    Cell("block", 500, 100, 8, 4, 0.9, 1.76, size=10, rho=0.7),
    Cell("block", 200, 1000, 40, 3, 1.0, 1.2, size=20, rho=0.6),
    Cell("block", 1000, 60, 6, 5, 0.8, 1.48, size=5, rho=0.9),
    Cell("block", 120, 3000, 100, 2, 1.0, 1.2, unequal=True, size=10, rho=0.5),
    Cell("block", 2000, 50, 4, 3, 0.85, 2.33, size=12, rho=0.8),
    Cell("binary", 300, 60, 5, 3, 0.85, 2.15),
    Cell("binary", 1000, 100, 8, 5, 0.9, 1.7),
    Cell("binary", 150, 2000, 60, 3, 1.0, 1.0),
    Cell("binary", 2000, 40, 3, 4, 0.7, 2.44),
    Cell("binary", 500, 300, 12, 2, 0.95, 1.4, unequal=True),
    Cell("copies", 300, 50, 5, 3, 0.9, 2.3, copies=16),
    Cell("copies", 500, 100, 6, 4, 0.85, 2.12, copies=32),
    Cell("copies", 150, 1000, 40, 3, 1.0, 1.0, copies=8),
    Cell("copies", 1000, 40, 4, 2, 0.85, 1.7, copies=4),
    Cell("copies", 200, 5000, 100, 6, 1.0, 1.0, copies=16),
)
CELLS = {cell.name: (place, cell) for place, cell in enumerate(GRID)}


class Plain(NamedTuple):
    """A table of normal noise as simple as can be: equal units, no draw of centres refused."""

    n: int
    p: int
    m: int
    effect: float
    k: int = 3

    @property
    def name(self) -> str:
        return f"plain {self.n} x {self.p}, {self.m} informative, effect {self.effect:g}"


PLAIN = {
    row.name: row
    for row in (
        Plain(120, 5000, 100, 1.2),
        Plain(120, 500, 20, 1.5),
        Plain(300, 200, 10, 1.5),
        Plain(500, 100, 5, 2.0),
        Plain(500, 100, 3, 3.0),
        Plain(1000, 50, 3, 2.5),
    )
}
SUBTYPES = next(iter(PLAIN))  # the table of three subtypes, drawn ten times


class Drawn(NamedTuple):
    """A table, the group of each row and the places of the informative features."""

    X: FloatArray
    groups: npt.NDArray[np.intp]
    informative: npt.NDArray[np.intp]


def draw(name: str, seed: int) -> Drawn:
    """Draw a table of the grid or of the plain six."""
    return draw_cell(*CELLS[name], seed) if name in CELLS else draw_plain(PLAIN[name], seed)


def draw_cell(place: int, cell: Cell, seed: int) -> Drawn:
    """Draw a table of the grid: units differ, columns are shuffled."""
    rng = np.random.default_rng([seed, place])
    groups = draw_groups(rng, cell)
    noise = draw_noise(rng, cell)
    X = np.column_stack([rng.normal(size=(cell.n, cell.m)) + draw_centres(rng, cell)[groups], noise])
    X *= np.exp(rng.normal(size=cell.p))
    order = rng.permutation(cell.p)
    return Drawn(X[:, order], groups, np.flatnonzero(order < cell.m))


def draw_groups(rng: np.random.Generator, cell: Cell) -> npt.NDArray[np.intp]:
    if not cell.unequal:
        return np.arange(cell.n) % cell.k
    share = np.linspace(1, 3, cell.k)
    groups = rng.choice(cell.k, cell.n, p=share / share.sum())
    groups[: 2 * cell.k] = np.repeat(np.arange(cell.k), 2)  # no group is empty
    return groups


def draw_noise(rng: np.random.Generator, cell: Cell) -> FloatArray:
    n, q = cell.n, cell.p - cell.m
    if cell.kind == "heavy":
        return rng.standard_t(cell.df, size=(n, q))
    if cell.kind == "block":
        factors = np.repeat(rng.normal(size=(n, -(-q // cell.size))), cell.size, axis=1)[:, :q]
        return np.sqrt(cell.rho) * factors + np.sqrt(1 - cell.rho) * rng.normal(size=(n, q))
    if cell.kind == "binary":
        noise = (rng.random((n, q)) < rng.uniform(0.1, 0.9, q)).astype(float)
        constant = np.flatnonzero(noise.std(axis=0) == 0)
        noise[0, constant] = 1 - noise[0, constant]
        return noise
    noise = rng.normal(size=(n, q))
    noise[:, : cell.copies] = noise[:, :1]
    return noise


def draw_centres(rng: np.random.Generator, cell: Cell) -> FloatArray:
    """Draw N(0, effect^2) again until every informative feature has a standard deviation of effect / 2 at least."""
    centres = rng.normal(size=(cell.k, cell.m)) * cell.effect
    while (weak := centres.std(axis=0) < cell.effect / 2).any():
        centres[:, weak] = rng.normal(size=(cell.k, int(weak.sum()))) * cell.effect
    return centres


def draw_plain(row: Plain, seed: int) -> Drawn:
    """Draw one of the plain six; the informative features come first, which no method can know."""
    rng = np.random.default_rng(seed)
    groups = np.arange(row.n) % row.k
    X = rng.normal(size=(row.n, row.p))
    X[:, : row.m] += (rng.normal(size=(row.k, row.m)) * row.effect)[groups]
    return Drawn(X, groups, np.arange(row.m))
