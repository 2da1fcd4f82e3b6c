"""Drawn counts of genes in cells of several kinds."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

SHAPE = 2.0  # of the gamma distribution that makes the counts negative binomial


class Kinds(NamedTuple):
    """How the kinds of cells differ."""

    shares: tuple[float, ...] = (0.30, 0.20, 0.15, 0.12, 0.09, 0.07, 0.05, 0.02)  # of the cells are of each kind
    markers: int = 40  # genes of each kind that are expressed more
    fold: float = 2.0  # mean logarithm of how much more
    depth: float = 0.4  # counts of a cell, per gene


EIGHT = Kinds()


def draw_profiles(n_genes: int, kinds: Kinds, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw the share of each gene in the counts of each kind of cell."""
    profiles = np.tile(rng.lognormal(-1.5, 1.3, n_genes), (len(kinds.shares), 1))
    for profile in profiles:
        raised = rng.choice(n_genes, min(kinds.markers, n_genes // 4), replace=False)
        profile[raised] *= rng.lognormal(kinds.fold, 0.5, len(raised))
    return profiles / profiles.sum(axis=1, keepdims=True)


def draw_cells(
    n_cells: int, n_genes: int, seed: int, kinds: Kinds = EIGHT
) -> tuple[scipy.sparse.csr_matrix, npt.NDArray[np.int64]]:
    """Draw the counts of cells, of unequal depth, and the kind of each."""
    rng = np.random.default_rng(seed)
    profiles = draw_profiles(n_genes, kinds, rng)
    kind = rng.choice(len(kinds.shares), n_cells, p=np.array(kinds.shares))
    depth = rng.lognormal(np.log(kinds.depth * n_genes), 0.35, n_cells)
    rates = rng.gamma(SHAPE, profiles[kind] * depth[:, None] / SHAPE)
    return scipy.sparse.csr_matrix(rng.poisson(rates).astype(np.float32)), kind
