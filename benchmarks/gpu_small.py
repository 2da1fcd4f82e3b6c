"""Fits that reach every kernel, small enough for compute-sanitizer."""

import cupy
import numpy as np

from clusterforests import ClusterForest
from clusterforests._utils.memory import SizeLimits

ClusterForest._limits = SizeLimits(large_rows=1000)
rng = np.random.default_rng(0)
X = rng.normal(size=(3001, 7)) + 4 * rng.integers(0, 3, (3001, 1))
weights = rng.integers(0, 3, 3001)
for consensus in ("refined", "kway", "ncut", "average"):
    for dtype, given in ((np.float32, None), (np.float64, weights)):
        settings = {"n_estimators": 9, "consensus": consensus, "n_landmarks": 150, "random_state": 0}
        table = X.astype(dtype)
        cpu, gpu = (ClusterForest(3, backend=b, **settings).fit(table, sample_weight=given) for b in ("cpu", "gpu"))
        assert (cpu.labels_ == gpu.labels_).all()
        assert gpu.chosen_params_["backend"].value == "gpu"
        there = cupy.asarray(table)
        assert (cupy.asnumpy(gpu.predict(there)) == gpu.predict(table)).all()
forest = ClusterForest(3, n_estimators=9, random_state=0).fit(there)
for name in ("predict_proba", "transform"):
    assert (cupy.asnumpy(getattr(forest, name)(there)) == getattr(forest, name)(X)).all()
assert cupy.asnumpy(forest.memberships_).shape == (3001, 3)
