"""
Consensus of existing clusterings
=================================

``consensus`` combines labels from any source: other methods, other people, other days. A negative label means "not
clustered".
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from clusterforests import consensus_clustering

X, truth = load_wine(return_X_y=True)
Z = StandardScaler().fit_transform(X)
partitions = [
    *(KMeans(k, n_init=1, random_state=k).fit_predict(Z) for k in range(3, 9)),
    *(GaussianMixture(k, covariance_type="diag", random_state=k).fit_predict(Z) for k in range(3, 9)),
    *(AgglomerativeClustering(k).fit_predict(Z) for k in range(3, 9)),
    HDBSCAN(min_cluster_size=10, copy=True).fit_predict(Z),  # -1 where it finds noise
]

# %%
# Every way of combining them does better than a single one does on average.

alone = np.mean([adjusted_rand_score(truth, labels) for labels in partitions])
methods = ["kway", "ncut", "gaps", "average", "average-trimmed", "medoid"]
scores = [adjusted_rand_score(truth, consensus_clustering(partitions, 3, method=method)) for method in methods]

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
bars = ax.barh(methods, scores)
ax.bar_label(bars, fmt="%.2f", padding=3)
ax.axvline(alone, color="black", linestyle="--", label=f"mean of single partitions: {alone:.2f}")
ax.set(xlabel="adjusted Rand index with the cultivars", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
_ = ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False)
