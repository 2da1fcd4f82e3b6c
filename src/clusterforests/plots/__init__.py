"""Pictures of a fitted forest. They need matplotlib: pip install clusterforests[plot].

Every function draws on the Axes passed as `ax` and returns it. Without one it makes a new figure with `plt.subplots`,
which is yours to show, save and close. Nothing is shown here, and no matplotlib setting is changed. Where there are too
many rows or features to draw, a fixed sample of the rows or the first features are drawn, and an axis says how many out
of how many. Column names are drawn as plain text, whatever they contain.
"""

from clusterforests.plots.consensus import consensus_heatmap, item_consensus, spectral_embedding
from clusterforests.plots.features import cluster_profiles, feature_importance
from clusterforests.plots.number_of_clusters import cluster_tree, consensus_cdf

__all__ = [
    "cluster_profiles",
    "cluster_tree",
    "consensus_cdf",
    "consensus_heatmap",
    "feature_importance",
    "item_consensus",
    "spectral_embedding",
]
