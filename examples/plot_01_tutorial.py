"""
Tutorial: what is in a table of wines
=====================================

178 wines from three cultivars of one region of Italy, 13 chemical measurements of each. The table comes with
scikit-learn, so everything here can be repeated line by line. We pretend not to know the cultivars, and use them only
to see in the end how well it went.
"""

# %%
# The table
# ---------
# The features have different units: proline goes up to 1680, hue from 0.5 to 1.7.

from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, plots

wine = load_wine(as_frame=True)
X = wine.data.rename(columns=lambda name: name.replace("_", " "))
X.describe().loc[["min", "mean", "max"]].T.round(1)

# %%
# How many clusters
# -----------------
# If you know the number, give it. If not, ``"auto"`` looks for it, from 1 (no clusters at all) to 10.

forest = ClusterForest("auto", random_state=0).fit(X)
print(forest.n_clusters_, "clusters:", forest.selection_["n_clusters"].reason)

# %%
# What was found
# --------------
# ``labels_`` is the cluster of each row; cluster 0 is the largest. Units need not agree: every tree scales the
# features in one of three ways. K-means on the same table takes proline for everything that matters.

kmeans = KMeans(3, n_init=10, random_state=0).fit(X)
print("rows in each cluster:", [int((forest.labels_ == k).sum()) for k in range(forest.n_clusters_)])
print(f"adjusted Rand index with the cultivars: {adjusted_rand_score(wine.target, forest.labels_):.2f}")
print(f"K-means on the same table:              {adjusted_rand_score(wine.target, kmeans.labels_):.2f}")

# %%
# A forest is many small clusterings. The picture shows in which share of its trees two wines are together: yellow
# blocks are clusters, and what lies between blocks are wines that some trees put elsewhere.

_ = plots.consensus_heatmap(forest)

# %%
# How sure is it
# --------------
# ``stability()`` splits the trees into halves and cuts each on its own. A value near 1 says that another forest would
# have found the same.

stable = forest.stability()
print(f"halves of the forest agree: {stable.mean:.2f} (from {stable.low:.2f} to {stable.high:.2f})")

# %%
# Single wines differ in how surely they belong. These are the three that are least sure, and where else they could be:

unsure = forest.silhouette_.argsort()[:3]
for row in unsure:
    shares = ", ".join(f"{share:.2f}" for share in forest.memberships_[row])
    print(f"wine {row}: cluster {forest.labels_[row]}, memberships {shares}")

# %%
# A bar for each row; short ones belong to no cluster very surely.

_ = plots.item_consensus(forest)

# %%
# What the clusters are
# ---------------------
# Means of each cluster in standard deviations from the mean of all wines.

_ = plots.cluster_profiles(forest, X)

# %%
# Which features do the clusters rest on? A feature always fits clusters that were made with it, so each is held against
# clusters that were made without it, and against its own values shuffled.

_ = plots.feature_importance(forest, X)

# %%
# New rows
# --------
# A fitted forest labels rows that it has not seen. Here it is grown on two thirds of the wines.

new = X.index % 3 == 0
part = ClusterForest(3, random_state=0).fit(X[~new])
labels = part.predict(X[new])
print(f"{new.sum()} new wines, adjusted Rand index {adjusted_rand_score(wine.target[new], labels):.2f}")
part.predict_proba(X[new])[:3].round(2)

# %%
# Keep it, share it
# -----------------
# ``forest.save("wine.cf")`` writes a model that ``ClusterForest.load`` and the command line read: no pickle.
# ``write_report`` makes one page for people without Python::
#
#     from clusterforests.report import write_report
#
#     forest.save("wine.cf")
#     write_report(forest, X, "wine.html")
#
# What it chose
# -------------
# Every setting that was left at "auto", what it came to and why:

for name, choice in forest.selection_.items():
    print(f"{name} = {choice.value}: {choice.reason}")
