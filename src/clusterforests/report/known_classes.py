"""How the clusters compare with known classes."""

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from clusterforests._base.typing import IntArray
from clusterforests.metrics import clustering_accuracy, rand_index
from clusterforests.report.json_values import rounded
from clusterforests.report.limits import PageLimits
from clusterforests.story.table_sample import shorten
from clusterforests.tables.frames import is_missing


def compare_with_classes(labels: IntArray, truth: Any, limits: PageLimits) -> dict[str, Any]:
    """Measure the agreement over the rows that have a class."""
    if isinstance(truth, (str, bytes)) or not hasattr(truth, "__len__") or len(truth) != len(labels):
        found = len(truth) if hasattr(truth, "__len__") else type(truth).__name__
        raise ValueError(f"truth must hold {len(labels)} classes, one for each row of X; it has {found}.")
    known = np.array([not is_missing(value) for value in truth])
    names = np.array([str(value) for value, there in zip(truth, known, strict=True) if there], dtype=object)
    classes, codes = np.unique(names, return_inverse=True)
    if not len(classes):
        raise ValueError("truth has no class at all: every value is missing.")
    if len(classes) > limits.classes:
        raise ValueError(
            f"truth has {len(classes)} different values, such as {classes[0]!r}; at most {limits.classes} can be "
            "classes. Is it an identifier?"
        )
    mine = labels[known]
    counts = np.zeros((int(labels.max()) + 1, len(classes)), dtype=np.intp)
    np.add.at(counts, (mine, codes), 1)
    listed = len(classes) <= limits.listed_classes
    return {
        "rows": len(mine),
        "rand_index": rounded(rand_index(codes, mine)),
        "adjusted_rand_index": rounded(adjusted_rand_score(codes, mine)),
        "accuracy": rounded(clustering_accuracy(codes, mine)),
        "classes": [shorten(name) for name in classes] if listed else None,
        "counts": counts.tolist() if listed else None,
        "n_classes": len(classes),
    }
