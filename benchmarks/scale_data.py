"""Tables of many rows, made block by block so that making them needs no more memory than they do."""

import numpy as np

BLOCK = 1_000_000


def gaussians(n, k=5, *, informative=10, noise=10, sizes=None, spread=2.5, dtype=np.float64, seed=0):
    """k Gaussians of unit variance with centres N(0, spread^2) in some features; the others are noise."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((k, informative + noise))
    centers[:, :informative] = rng.normal(0, spread, (k, informative))
    shares = np.full(k, 1 / k) if sizes is None else np.asarray(sizes) / np.sum(sizes)
    truth = rng.choice(k, n, p=shares).astype(np.int8)
    X = np.empty((n, informative + noise), dtype)
    for start in range(0, n, BLOCK):
        some = slice(start, start + BLOCK)
        X[some] = centers[truth[some]] + rng.normal(size=(len(truth[some]), X.shape[1]))
    return X, truth


def with_rare_group(n, share=0.002, away=10.0, seed=0):
    """Five Gaussians, and a rare group like the first of them but for two features in which it is far away."""
    X, truth = gaussians(n, seed=seed)
    rng = np.random.default_rng([seed, 1])
    rare = rng.choice(n, round(share * n), replace=False)
    first = np.flatnonzero(truth == 0)
    X[rare] = X[rng.choice(first, len(rare))] + rng.normal(0, 1e-3, (len(rare), X.shape[1]))
    X[np.ix_(rare, [3, 14])] += away  # one of the features that tell the others apart, and one of noise
    truth[rare] = 5
    return X, truth


def unequal(k, ratio):
    """Sizes in geometric progression, the largest `ratio` times the smallest."""
    return np.geomspace(ratio, 1, k)
