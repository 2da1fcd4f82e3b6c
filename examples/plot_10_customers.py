"""
Guide: segments of customers
============================

A shop exports its customers: identifiers, amounts with a currency, dates, percent, words, gaps. The question is which
kinds of customers there are and what to call them. We draw such a table with three known kinds, so that the answer can
be checked.
"""

import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from clusterforests import ClusterForest, TableReader, describe, plots

rng = np.random.default_rng(0)
kind = rng.choice(3, size=600, p=(0.5, 0.3, 0.2))
revenue = np.array([250, 1200, 6000])[kind] * np.exp(rng.normal(0, 0.3, 600))
joined = pd.Timestamp("2025-12-31") - pd.to_timedelta(np.array([150, 900, 1500])[kind] + rng.integers(0, 200, 600), "D")
channel = np.where(rng.random(600) < 0.8, np.array(["app", "web", "store"])[kind], "phone")
customers = pd.DataFrame(
    {
        "customer": [f"C-{number}" for number in rng.permutation(100_000)[:600]],
        "joined": joined.strftime("%d.%m.%Y"),
        "revenue": [f"{value:,.2f} €".translate(str.maketrans(",.", ".,")) for value in revenue],
        "returns": [f"{value:.1f}%" for value in np.clip(rng.normal(np.array([28, 15, 5])[kind], 4), 0, None)],
        "channel": channel,
        "newsletter": np.where(rng.random(600) < 0.5, "yes", "no"),
        "lucky number": rng.integers(1, 50, 600),
    }
)
customers.loc[rng.choice(600, 60, replace=False), "returns"] = "n/a"
customers.head()

# %%
# Look before you cluster
# -----------------------
# ``TableReader`` reads every column as what its cells say it is, with a reason, and says what it drops. Correct what is
# wrong with ``overrides={"zip": "category"}`` and the like.

with warnings.catch_warnings(record=True) as notes:
    warnings.simplefilter("always")
    reader = TableReader().fit(customers)
for note in notes:
    print("note:", note.message)
print(reader.columns_)

# %%
# Cluster
# -------
# The forest takes the typed columns. Without a number, it chooses one.

with warnings.catch_warnings(record=True) as notes:
    warnings.simplefilter("always")
    forest = ClusterForest(random_state=0).fit(reader.transform(customers))
for note in notes:
    print("note:", note.message)
print(forest.chosen_params_["n_clusters"].reason)

# %%
# Take the warnings seriously
# ---------------------------
# The clusters repeat one column: groups of a category are perfectly tight, so that customers of one channel look alike
# whatever they buy. If the channel is not what you want segments of, leave it out. It can still be compared with the
# result.

reader = TableReader(overrides={"channel": "ignore", "customer": "id"})
model = make_pipeline(reader, ClusterForest(random_state=0)).fit(customers)
forest = model[-1]
print(forest.chosen_params_["n_clusters"].reason)
pd.crosstab(customers["channel"], forest.labels_)

# %%
# What each segment is
# --------------------
# The lucky number and the newsletter have nothing to do with the kinds of customers, so no sentence mentions them.

print(describe(model, customers))

# %%
# Is it right? Here we know the kinds that the table was made of; 1 would be perfect.

print(f"adjusted Rand index: {adjusted_rand_score(kind, forest.labels_):.2f}")

# %%
# Which columns tell the segments apart, and how surely each row belongs to its own.

_ = plots.feature_importance(forest)

# %%
_ = plots.item_consensus(forest)

# %%
# Use it
# ------
# New customers get a segment from the same trees; their cells may be as messy. Rows with a low probability are better
# looked at by a person.

new = customers.sample(5, random_state=1)
pd.DataFrame({"segment": model.predict(new), "probability": model.predict_proba(new).max(axis=1).round(2)})
