"""
The algorithm as published
==========================

``PaperForest(k)`` is the algorithm of the paper with its parameters: raw features, K-means with K
clusters in every tree, kappa = SS_W / SS_B, threshold 0.4, normalised cuts.
"""

from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score, rand_score

from clusterforests import ClusterForest, PaperForest

X, truth = load_wine(return_X_y=True)
for name, forest in (
    ("PaperForest(3), patience=1", PaperForest(3, patience=1, random_state=0)),
    ("ClusterForest(3)", ClusterForest(3, random_state=0)),
):
    labels = forest.fit_predict(X)
    print(
        f"{name:<26} Rand index {100 * rand_score(truth, labels):.1f}, "
        f"adjusted {100 * adjusted_rand_score(truth, labels):.1f}"
    )
