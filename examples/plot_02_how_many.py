"""
How many clusters, and whether there are any
============================================

``ClusterForest("auto")`` tests every number from 1 to 10. A number stands if all of its clusters are apart: between
any two the density of the rows must fall and rise again.
"""

import numpy as np

from clusterforests import ClusterForest, plots

rng = np.random.default_rng(0)
groups = rng.normal(size=(300, 10))
groups[:, :4] += 5 * rng.normal(size=(5, 4))[np.repeat(np.arange(5), 60)]
noise = rng.normal(size=(300, 10))

forest = ClusterForest("auto", random_state=0).fit(groups)
cloud = ClusterForest("auto", random_state=0).fit(noise)
print("five groups:", forest.selection_["n_clusters"].reason)
print("one cloud:  ", cloud.selection_["n_clusters"].reason)

# %%
# The usual pictures of consensus clustering. They show how the forest changes with the number, and decide nothing here.

_ = plots.delta_area(forest)

# %%
_ = plots.tracking(forest)

# %%
# The evidence for each number is in ``n_clusters_evidence_``.

evidence = forest.n_clusters_evidence_
for k, p in zip(evidence.candidates, evidence.evidence["p_value"], strict=True):
    print(f"{k:>2} clusters: p = {p:.3f}")
