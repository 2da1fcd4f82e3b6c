"""
Choosing the number of clusters
===============================

``ClusterForest("auto")`` tests every number from 1 to 10. A number is accepted if all of its clusters are separated:
between any two, the density of the rows must fall and rise again. If there are no clusters, the answer is 1.
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
# The usual plots of consensus clustering show how the clusters change with their number. Here they decide nothing.

_ = plots.delta_area(forest)

# %%
_ = plots.tracking(forest)

# %%
# ``n_clusters_evidence_`` holds the evidence for each number.

evidence = forest.n_clusters_evidence_
for k, p in zip(evidence.candidates, evidence.evidence["p_value"], strict=True):
    print(f"{k:>2} clusters: p = {p:.3f}")
