"""
Choosing the number of clusters
===============================

``ClusterForest("auto")`` cuts one forest into every number of clusters and ranks the numbers by five measures, none of
which needs known classes. If the table cannot be told from tables without clusters, the answer is 1.
"""

import numpy as np
import pandas as pd

from clusterforests import ClusterForest, plots

rng = np.random.default_rng(0)
names = [f"gene {j}" for j in range(10)]
groups = pd.DataFrame(rng.normal(size=(300, 10)), columns=names)
centers = np.array([[0, 0, 0, 0], [0, 0, 0, 6], [8, 0, 0, 0], [8, 6, 0, 0], [8, 0, 6, 0]])
groups.iloc[:, :4] += centers[np.repeat(np.arange(5), 60)]
noise = rng.normal(size=(300, 10))

forest = ClusterForest("auto", random_state=0).fit(groups)
cloud = ClusterForest("auto", random_state=0).fit(noise)
print("five groups:", forest.n_clusters_evidence_.reason)
print("one cloud:  ", cloud.n_clusters_evidence_.reason)

# %%
# ``n_clusters_evidence_`` holds the evidence for each number. The lowest mean rank over the five measures is chosen.

print(forest.n_clusters_evidence_.to_frame().iloc[:8, :6].round(2).to_string())

# %%
# The forest gives every other number without growing again. ``forest.recut(3)`` has the same attributes and methods.

print(np.bincount(forest.recut(3).labels_))

# %%
# How do the clusters of one number become those of the next? The width of a band is the number of rows that clusters
# share. On the right are the features that drive each split. Up to five clusters, groups part; beyond, they are cut in
# two.

_ = plots.cluster_tree(forest, groups)

# %%
# The usual plots of consensus clustering show how far halves of the forest agree. Here they decide nothing.

_ = plots.consensus_cdf(forest, range(2, 9))
