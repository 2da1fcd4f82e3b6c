"""How the clusters compare with known classes."""

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from clusterforests._base.typing import IndexArray
from clusterforests.metrics import clustering_accuracy, rand_index
from clusterforests.report.json_values import rounded
from clusterforests.report.limits import PageLimits
from clusterforests.story.table_sample import shorten
from clusterforests.tables.frames import is_missing


class KnownClasses:
    """The classes of the rows that have one."""

    def __init__(self, truth: Any, n_rows: int, limits: PageLimits) -> None:
        if isinstance(truth, (str, bytes)) or not hasattr(truth, "__len__") or len(truth) != n_rows:
            found = len(truth) if hasattr(truth, "__len__") else type(truth).__name__
            raise ValueError(f"truth must hold {n_rows} classes, one for each row of X; it has {found}.")
        self.known = np.array([not is_missing(value) for value in truth])
        names = np.array([str(value) for value, there in zip(truth, self.known, strict=True) if there], dtype=object)
        self.classes, self.codes = np.unique(names, return_inverse=True)
        if not len(self.classes):
            raise ValueError("truth has no class at all: every value is missing.")
        if len(self.classes) > limits.classes:
            raise ValueError(
                f"truth has {len(self.classes)} different values, such as {self.classes[0]!r}; at most "
                f"{limits.classes} can be classes. Is it an identifier?"
            )
        self.listed = len(self.classes) <= limits.listed_classes

    def compare(self, labels: IndexArray) -> dict[str, Any]:
        """Measure the agreement of clusters with the classes."""
        mine = labels[self.known]
        counts = np.zeros((int(labels.max()) + 1, len(self.classes)), dtype=np.intp)
        np.add.at(counts, (mine, self.codes), 1)
        return {
            "rows": len(mine),
            "rand_index": rounded(rand_index(self.codes, mine)),
            "adjusted_rand_index": rounded(adjusted_rand_score(self.codes, mine)),
            "accuracy": rounded(clustering_accuracy(self.codes, mine)),
            "classes": [shorten(name) for name in self.classes] if self.listed else None,
            "counts": counts.tolist() if self.listed else None,
            "n_classes": len(self.classes),
        }
