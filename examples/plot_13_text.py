"""
Guide: topics of short texts
============================

Texts become a sparse table of word weights, most of them zero. The forest reduces such a table to components and then
clusters it; the description of each cluster names the words that mark it.
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, plots

rng = np.random.default_rng(0)
WORDS = {
    "delivery": ["parcel", "courier", "late", "delivered", "address", "tracking", "shipped", "damaged", "box", "door"],
    "payment": ["invoice", "card", "charged", "refund", "paid", "bank", "receipt", "double", "amount", "billing"],
    "account": ["password", "login", "email", "reset", "locked", "account", "username", "code", "verify", "settings"],
    "product": ["size", "colour", "fabric", "broken", "quality", "fits", "material", "smaller", "seam", "zip"],
}
COMMON = ["hello", "please", "help", "thanks", "today", "again", "order", "still", "cannot", "know", "would", "week"]
RARE = [f"{start}{end}" for start in ("ba", "do", "ki", "lu", "me", "no", "ra", "ti") for end in range(150)]  # names
topic = rng.choice(list(WORDS), size=600)
texts = [
    " ".join(rng.permutation([*rng.choice(WORDS[own], 5), *rng.choice(COMMON, 8), *rng.choice(RARE, 6)]))
    for own in topic
]
print(texts[0])
print(texts[1])

# %%
# From texts to numbers
# ---------------------

vectorizer = TfidfVectorizer(min_df=2)  # words of a single text tell nothing
X = vectorizer.fit_transform(texts)
print(f"{X.shape[0]} texts, {X.shape[1]} words, {100 * X.nnz / np.prod(X.shape):.0f} % of the cells are not zero")

# %%
# Topics
# ------

forest = ClusterForest(4, random_state=0).fit(X)
print(forest.chosen_params_["scale"].reason)
print(f"adjusted Rand index with the true topics: {adjusted_rand_score(topic, forest.labels_):.2f}")

# %%
# What each topic is about
# ------------------------
# Words that are frequent in a cluster and rare in the others. ``describe(forest, frame)`` says the same in sentences if
# the table is a sparse data frame with names.

names = vectorizer.get_feature_names_out()
for number in range(4):
    inside, outside = X[forest.labels_ == number], X[forest.labels_ != number]
    gap = np.asarray((inside > 0).mean(axis=0) - (outside > 0).mean(axis=0)).ravel()
    print(f"cluster {number}, {inside.shape[0]} texts: {', '.join(names[np.argsort(-gap)[:5]])}")

# %%
# New texts
# ---------

new = ["the courier left a damaged box at the door", "I was charged a double amount, please refund my card"]
for text, cluster in zip(new, forest.predict(vectorizer.transform(new)), strict=True):
    print(f"cluster {cluster}: {text}")

# %%
# The texts as the cut of the graph sees them.

_ = plots.spectral_embedding(forest)
