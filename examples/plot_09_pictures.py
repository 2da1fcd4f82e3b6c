"""
More plots
==========

More of what ``clusterforests.plots`` can draw. Every function accepts ``ax=``, to draw into a figure of your own.
"""

import numpy as np
from sklearn.datasets import load_wine

from clusterforests import ClusterForest, plots

wine = load_wine(as_frame=True).data
forest = ClusterForest(3, random_state=0).fit(wine)

# %%
# Spectral embedding: rows that are often together are near each other.
_ = plots.spectral_embedding(forest)

# %%
# Consensus distribution: whether halves of the forest agree on pairs of rows, for several numbers of clusters.
rng = np.random.default_rng(0)
groups = rng.normal(size=(300, 10))
groups[:, :4] += 5 * rng.normal(size=(5, 4))[np.repeat(np.arange(5), 60)]
_ = plots.consensus_cdf(ClusterForest(5, random_state=0).fit(groups), range(2, 8))
