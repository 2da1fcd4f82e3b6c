"""Drawn counts of genes in cells of eight kinds."""

import numpy as np
import numpy.typing as npt
import scipy.sparse

SHARES = np.array([0.30, 0.20, 0.15, 0.12, 0.09, 0.07, 0.05, 0.02])  # of the cells are of each kind
MARKERS = 40  # genes of each kind that are expressed more
FOLD = 2.0  # mean logarithm of how much more
DEPTH = 0.4  # counts of a cell, per gene
SHAPE = 2.0  # of the gamma distribution that makes the counts negative binomial


def draw_profiles(n_genes: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw the share of each gene in the counts of each kind of cell."""
    profiles = np.tile(rng.lognormal(-1.5, 1.3, n_genes), (len(SHARES), 1))
    for profile in profiles:
        raised = rng.choice(n_genes, min(MARKERS, n_genes // 4), replace=False)
        profile[raised] *= rng.lognormal(FOLD, 0.5, len(raised))
    return profiles / profiles.sum(axis=1, keepdims=True)


def draw_counts(
    profiles: npt.NDArray[np.float64], n_cells: int, rng: np.random.Generator
) -> tuple[scipy.sparse.csr_matrix, npt.NDArray[np.int64]]:
    """Draw the counts of cells, of unequal depth, and the kind of each."""
    kinds = rng.choice(len(SHARES), n_cells, p=SHARES)
    depth = rng.lognormal(np.log(DEPTH * profiles.shape[1]), 0.35, n_cells)
    rates = rng.gamma(SHAPE, profiles[kinds] * depth[:, None] / SHAPE)
    return scipy.sparse.csr_matrix(rng.poisson(rates).astype(np.float32)), kinds


def draw_cells(n_cells: int, n_genes: int, seed: int) -> tuple[scipy.sparse.csr_matrix, npt.NDArray[np.int64]]:
    """Draw a table of counts, and the kinds of its cells."""
    rng = np.random.default_rng(seed)
    return draw_counts(draw_profiles(n_genes, rng), n_cells, rng)
