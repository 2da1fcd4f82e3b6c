"""
Tutorial: clustering the wine data
==================================

The data are 13 chemical measurements of each of 178 wines, from three cultivars in one region of Italy. The table comes
with scikit-learn, so you can repeat everything here line by line. We pretend not to know the cultivars and use them
only to check the result.
"""

# %%
# The data
# --------
# The features have different units: proline goes up to 1680, hue only from 0.5 to 1.7.

from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, describe, plots

wine = load_wine(as_frame=True)
X = wine.data.rename(columns=lambda name: name.replace("_", " "))
X.describe().loc[["min", "mean", "max"]].T.round(1)

# %%
# Choosing the number of clusters
# -------------------------------
# If you know the number, pass it. If not, ``ClusterForest("auto")`` chooses one from 1 (no clusters at all) to 10: see
# :ref:`sphx_glr_gallery_plot_02_how_many.py`. It counts groups with a valley between them; these wines come from three
# cultivars that touch.

forest = ClusterForest(3, random_state=0).fit(X)
print(forest.chosen_params_["select_features"].reason)

# %%
# The clusters
# ------------
# ``labels_`` is the cluster of each row; cluster 0 is the largest. Different units do no harm, because every tree
# scales the features. K-means on the same table sees little but proline.

kmeans = KMeans(3, n_init=10, random_state=0).fit(X)
print("rows in each cluster:", [int((forest.labels_ == k).sum()) for k in range(forest.n_clusters_)])
print(f"adjusted Rand index with the cultivars: {adjusted_rand_score(wine.target, forest.labels_):.2f}")
print(f"K-means on the same table:              {adjusted_rand_score(wine.target, kmeans.labels_):.2f}")

# %%
# A forest is many small clusterings. The heatmap shows the share of trees in which two wines are together: yellow
# blocks are clusters, and the colour between the blocks comes from wines that some trees put elsewhere.

_ = plots.consensus_heatmap(forest)

# %%
# Stability and confidence
# ------------------------
# ``stability()`` splits the trees into random halves and clusters with each half alone. A value near 1 means that
# another forest would have found the same clusters.

stable = forest.stability()
print(f"halves of the forest agree: {stable.mean:.2f} (from {stable.low:.2f} to {stable.high:.2f})")

# %%
# Some wines belong to their cluster more clearly than others. These are the three least certain ones, with their
# membership in each cluster:

unsure = forest.consensus_silhouette_.argsort()[:3]
for row in unsure:
    shares = ", ".join(f"{share:.2f}" for share in forest.memberships_[row])
    print(f"wine {row}: cluster {forest.labels_[row]}, memberships {shares}")

# %%
# One bar for each row, as long as its membership in its own cluster; rows with short bars do not clearly belong to any.

_ = plots.item_consensus(forest)

# %%
# Cluster profiles and feature importance
# ---------------------------------------
# The mean of each cluster, in standard deviations from the mean of all wines:

_ = plots.cluster_profiles(forest, X)

# %%
# The same in words: what tells each cluster apart from the others, how surely it is there, and what to know before it
# is used.

print(describe(forest, X))

# %%
# Which features tell the clusters apart? A feature always fits clusters that were made with it, so each one is scored
# by small clusterings that did not use it. Features that do no better than chance score 0.

_ = plots.feature_importance(forest)

# %%
# Predicting new rows
# -------------------
# A fitted forest also labels rows that it has not seen. This one is grown on two thirds of the wines.

new = X.index % 3 == 0
part = ClusterForest(3, random_state=0).fit(X[~new])
labels = part.predict(X[new])
print(f"{new.sum()} new wines, adjusted Rand index {adjusted_rand_score(wine.target[new], labels):.2f}")
part.predict_proba(X[new])[:3].round(2)

# %%
# Saving the model and writing a report
# -------------------------------------
# ``forest.save("wine.cf")`` writes a model file (not a pickle) that ``ClusterForest.load`` and the command line can
# read. ``write_report`` writes an HTML page for readers without Python::
#
#     from clusterforests import write_report
#
#     forest.save("wine.cf")
#     write_report(forest, X, "wine.html")
#
# Automatic settings
# ------------------
# Every setting left at "auto", with the value chosen and the reason:

for name, choice in forest.chosen_params_.items():
    print(f"{name} = {choice.value}: {choice.reason}")
