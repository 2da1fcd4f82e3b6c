"""
Clustering with noise features
==============================

Four features separate two clusters. The more noise features are added, the more of the distance that K-means measures
is noise. A forest first finds the features that go with each other, and its trees see only these.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from clusterforests import ClusterForest

rng = np.random.default_rng(0)
truth = np.repeat([0, 1], 150)
informative = rng.normal(size=(300, 4)) + 2.5 * truth[:, None]
numbers = [0, 30, 100, 300]
scores = {"K-means on z-scores": [], "ClusterForest": []}
for number in numbers:
    X = StandardScaler().fit_transform(np.hstack([informative, 1.5 * rng.standard_t(5, size=(300, number))]))
    found = (
        KMeans(2, n_init=10, random_state=0).fit_predict(X),
        ClusterForest(2, n_jobs=-1, random_state=0).fit_predict(X),
    )
    for values, labels in zip(scores.values(), found, strict=True):
        values.append(adjusted_rand_score(truth, labels))

# %%
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), marker in zip(scores.items(), "so", strict=True):
    ax.plot(range(len(numbers)), values, marker=marker, label=name)
ax.set_xticks(range(len(numbers)), [str(number) for number in numbers])
ax.set(xlabel="noise features added to 4 informative ones", ylabel="adjusted Rand index", ylim=(-0.05, 1.05))
ax.spines[["top", "right"]].set_visible(False)
_ = ax.legend(frameon=False)
