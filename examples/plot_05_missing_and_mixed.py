"""
Missing values and categorical columns
======================================

Real tables are seldom complete, and seldom all numbers. Pass the data frame as it is.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest

wine = load_wine(as_frame=True)
rng = np.random.default_rng(0)

# %%
# Values missing at random are filled in from similar rows. No row is dropped.

shares, scores = [0, 0.1, 0.2, 0.3, 0.4, 0.5], []
for share in shares:
    X = wine.data.mask(rng.random(wine.data.shape) < share)
    scores.append(adjusted_rand_score(wine.target, ClusterForest(3, random_state=0).fit_predict(X)))

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot([100 * share for share in shares], scores, marker="o")
ax.set(xlabel="missing values, %", ylabel="adjusted Rand index", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# Categorical columns are taken as they are; ``TableReader`` makes such columns of text. Here the hue is only known as a
# word.

hue = np.where(wine.data["hue"] < 0.8, "brown", "red").astype(object)
hue[::7] = None
words = wine.data.assign(hue=pd.Categorical(hue))
labels = ClusterForest(3, random_state=0).fit_predict(words)
print(f"hue as a word: adjusted Rand index {adjusted_rand_score(wine.target, labels):.2f}")

# %%
# A limit: a categorical column with few levels makes tight clusters all by itself, which trees mistake for structure.
# If its levels are ordered, numbers are the safer choice.

classes = pd.cut(wine.data["alcohol"], 3, labels=["light", "medium", "strong"])
for name, alcohol in (("a category", classes), ("0, 1, 2", classes.cat.codes)):
    labels = ClusterForest(3, random_state=0).fit_predict(wine.data.assign(alcohol=alcohol))
    print(f"alcohol in three classes, as {name}: {adjusted_rand_score(wine.target, labels):.2f}")
