"""
Guide: subtypes from gene expression
====================================

Few samples, thousands of genes, most of which have nothing to do with the subtypes. That is where K-means on all genes
fails and where feature screening matters. We draw 120 samples of 5,000 genes; 60 genes differ
between three subtypes.
"""

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from clusterforests import ClusterForest, plots

rng = np.random.default_rng(0)
subtype = np.repeat([0, 1, 2], [50, 40, 30])
log_expression = rng.normal(rng.uniform(2, 8, 5000), 1, size=(120, 5000))
for number in range(3):
    own = slice(20 * number, 20 * (number + 1))
    log_expression[subtype == number, own] += 2
counts = rng.poisson(np.exp2(log_expression))
genes = pd.DataFrame(
    counts, index=[f"sample {i}" for i in range(1, 121)], columns=[f"gene{j:04d}" for j in range(1, 5001)]
)
genes.iloc[:4, :6]

# %%
# Prepare
# -------
# Counts are taken to logarithms, as usual: otherwise the few genes with the largest counts decide everything. Nothing
# else is needed: no scaling, no choice of "highly variable" genes.

X = np.log2(genes + 1)

# %%
# Cluster
# -------

forest = ClusterForest(3, random_state=0).fit(X)
plain = KMeans(3, n_init=20, random_state=0).fit_predict(StandardScaler().fit_transform(X))
print(f"forest:             adjusted Rand index {adjusted_rand_score(subtype, forest.labels_):.2f}")
print(f"K-means, all genes: adjusted Rand index {adjusted_rand_score(subtype, plain):.2f}")

# %%
# Which genes tell
# ----------------
# ``feature_importances_`` is 0 for genes that do not pass the test. Clusterings that did *not* use a gene judge it, so
# that noise does not vouch for itself.

informative = np.flatnonzero(forest.feature_importances_ > 0)
print(f"{len(informative)} genes are informative; {np.sum(informative < 60)} of them are among the 60 that differ")

# %%
_ = plots.feature_importance(forest)

# %%
# How sure is it?
# ---------------
# Dark blocks on the diagonal are samples that nearly all trees keep together.

print(f"stability {forest.stability().mean:.2f} (1: halves of the forest find the same subtypes)")
_ = plots.consensus_heatmap(forest)

# %%
# If there are no subtypes
# ------------------------
# Ask without a number: a table without groups gives the answer 1. Shuffling each gene destroys the subtypes.

shuffled = pd.DataFrame(np.column_stack([rng.permutation(X.iloc[:, j]) for j in range(500)]))
print("shuffled:", ClusterForest(random_state=0).fit(shuffled).chosen_params_["n_clusters"].reason)
