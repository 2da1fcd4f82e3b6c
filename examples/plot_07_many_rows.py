"""
Many rows
=========

The same call from a hundred rows to millions. What a fit will need is known before it starts.
"""

import numpy as np

from clusterforests import ClusterForest, plots

rng = np.random.default_rng(0)
truth = rng.integers(0, 5, 300_000)
X = rng.normal(size=(300_000, 20)).astype(np.float32)
X[:, :10] += (2.5 * rng.normal(size=(5, 10)))[truth]

forest = ClusterForest(5, n_estimators=100, n_jobs=-1, random_state=0)
for rows in (300_000, 10_000_000):
    print(f"{rows:>10,} rows: {forest.estimate_memory(rows, 20).total / 2**30:.2f} GB beyond the table")

# %%
# Trees are grown on a sample, all rows are read in blocks, and landmarks stand for the rows in the graph that is cut.

forest.fit(X)
for name in ("max_samples", "landmarks"):
    print(f"{name} = {forest.selection_[name].value}: {forest.selection_[name].reason}")

# %%
# Pictures draw a sample of the rows, and say so.

_ = plots.consensus_heatmap(forest)

# %%
# Every row has a label, and gets the same one again as a new row.

print("agree:", bool((forest.predict(X[:1000]) == forest.labels_[:1000]).all()))
