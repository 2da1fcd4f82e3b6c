"""One of several clusterings: the one that agrees best with the others."""

from collections.abc import Mapping

import numpy as np

from clusterforests._base.typing import FloatArray, IntArray

# Three families of cuts with different failings: linkage follows unequal sizes and strays to outliers, recursive cuts
# favour even sizes, K-way cuts lie between. Where one goes wrong the other two mostly agree.
MEDOID_OF = ("average-trimmed", "kway", "ncut")


def medoid(groupings: Mapping[str, IntArray], weights: FloatArray) -> tuple[str, dict[str, float]]:
    """The name of the grouping with the highest mean agreement with the others, the first on ties; all agreements."""
    names = list(groupings)
    pairs = np.array([[agreement(groupings[a], groupings[b], weights) for b in names] for a in names])
    mean = (pairs.sum(axis=1) - 1) / max(1, len(names) - 1)
    return names[int(mean.argmax())], dict(zip(names, mean.tolist(), strict=True))


def agreement(a: IntArray, b: IntArray, weights: FloatArray) -> float:
    """The adjusted Rand index over pairs of draws from the weighted rows: any weights are allowed, not only counts."""
    width = int(b.max()) + 1
    together = np.bincount(a.astype(np.int64) * width + b, weights, minlength=(int(a.max()) + 1) * width)
    table = together.reshape(-1, width) / weights.sum()
    both, of_a, of_b = (float((t**2).sum()) for t in (table, table.sum(axis=1), table.sum(axis=0)))
    expected, largest = of_a * of_b, (of_a + of_b) / 2
    return 1.0 if largest - both < 1e-15 else (both - expected) / (largest - expected)
