"""
More plots
==========

More of what ``clusterforests.plots`` can draw. Every function accepts ``ax=``, to draw into a figure of your own.
"""

import numpy as np
from sklearn.datasets import load_wine

from clusterforests import ClusterForest, PaperForest, plots

wine = load_wine(as_frame=True).data
forest = ClusterForest(3, random_state=0).fit(wine)

# %%
# Spectral embedding: the rows as the cut sees them.
_ = plots.spectral_embedding(forest)

# %%
# Features that the trees use, over all trees and in each tree.
_ = plots.feature_use(forest)

# %%
_ = plots.feature_use(forest, per_tree=True)

# %%
# Feature profile: how well each feature alone makes clusters.
_ = plots.feature_profile(forest, wine)

# %%
# Kappa as the trees grow.
_ = plots.kappa_growth(forest)

# %%
# Consensus distribution: whether halves of the forest agree on pairs of rows, for several numbers of clusters.
rng = np.random.default_rng(0)
groups = rng.normal(size=(300, 10))
groups[:, :4] += 5 * rng.normal(size=(5, 4))[np.repeat(np.arange(5), 60)]
_ = plots.consensus_cdf([PaperForest(k, random_state=0).fit(groups) for k in range(2, 8)])
