"""
Clustering a large table
========================

The call is the same for a hundred rows and for millions. ``estimate_memory`` says in advance how much memory a fit
needs.
"""

import numpy as np

from clusterforests import ClusterForest, plots

rng = np.random.default_rng(0)
truth = rng.integers(0, 5, 300_000)
X = rng.normal(size=(300_000, 20)).astype(np.float32)
X[:, :10] += (2.5 * rng.normal(size=(5, 10)))[truth]

forest = ClusterForest(5, n_estimators=100, n_jobs=-1, random_state=0)
for rows in (300_000, 10_000_000):
    print(f"{rows:>10,} rows: {forest.estimate_memory(rows, 20).total / 2**30:.2f} GB in addition to the table")

# %%
# Trees grow on a sample, all rows are read in blocks, and landmarks represent the rows in the graph that is cut.

forest.fit(X)
for name in ("max_samples", "n_landmarks"):
    print(f"{name} = {forest.chosen_params_[name].value}: {forest.chosen_params_[name].reason}")

# %%
# Plots show a sample of the rows, and say so.

_ = plots.consensus_heatmap(forest)

# %%
# Every row has a label, and ``predict`` gives the same one.

print("agree:", bool((forest.predict(X[:1000]) == forest.labels_[:1000]).all()))
