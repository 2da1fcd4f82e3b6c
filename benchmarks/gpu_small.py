"""Fits that reach every kernel, small enough for compute-sanitizer."""

import numpy as np

from clusterforests import ClusterForest
from clusterforests._base.size_limits import SizeLimits

ClusterForest._limits = SizeLimits(large_rows=1000)
rng = np.random.default_rng(0)
X = rng.normal(size=(3001, 7)) + 4 * rng.integers(0, 3, (3001, 1))
weights = rng.integers(0, 3, 3001)
for consensus in ("kway", "ncut", "average"):
    for dtype, given in ((np.float32, None), (np.float64, weights)):
        settings = {"n_estimators": 9, "consensus": consensus, "landmarks": 150, "random_state": 0}
        table = X.astype(dtype)
        cpu, gpu = (ClusterForest(3, backend=b, **settings).fit(table, sample_weight=given) for b in ("cpu", "gpu"))
        assert (cpu.labels_ == gpu.labels_).all()
        assert gpu.selection_["backend"].value == "gpu"
