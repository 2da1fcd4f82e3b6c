"""
Feature importance and feature selection
========================================

Thirty measurements of each of 569 tumours: which of them define the two clusters?
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, plots
from clusterforests.feature_selection import SelectInformative

data = load_breast_cancer(as_frame=True)
X, truth = data.data, data.target
forest = ClusterForest(2, random_state=0).fit(X)
print(f"adjusted Rand index with the diagnosis: {adjusted_rand_score(truth, forest.labels_):.2f}")

# %%
# Each feature is scored by clusterings that did not use it. Features that do no better than chance score 0.

_ = plots.feature_importance(forest, max_features=15)

# %%
# ``SelectInformative`` keeps the features that pass the test, as a step in a pipeline. Here ten noise columns are
# added. Each of them passes by chance with the probability ``alpha``.

rng = np.random.default_rng(0)
noisy = X.join(pd.DataFrame(rng.normal(size=(len(X), 10)), columns=[f"noise {j}" for j in range(10)]))
selector = SelectInformative(ClusterForest(2, random_state=0), alpha=0.01).fit(noisy)
kept = selector.get_feature_names_out()
real = sum(name in X for name in kept)
print(f"kept {real} of 30 measurements and {len(kept) - real} of 10 noise columns")
