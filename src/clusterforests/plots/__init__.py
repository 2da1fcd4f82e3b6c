"""Pictures of a fitted forest; they need matplotlib: pip install clusterforests[plot].

Every function draws on the Axes given as `ax` and returns it. Without one it makes a figure with `plt.subplots`, which
is yours to show, save and close; nothing is shown here, and no setting of matplotlib is changed. Where there are too
many rows or features to draw, a fixed sample of the rows or the first features are drawn, and an axis says how many of
how many. Names of columns are text, whatever they contain.
"""

from clusterforests.plots.consensus import consensus_heatmap, item_consensus, spectral_embedding
from clusterforests.plots.features import feature_importance, feature_profile, feature_use
from clusterforests.plots.growth import kappa_growth
from clusterforests.plots.numbers import consensus_cdf, delta_area, tracking
from clusterforests.plots.profiles import cluster_profiles

__all__ = [
    "cluster_profiles",
    "consensus_cdf",
    "consensus_heatmap",
    "delta_area",
    "feature_importance",
    "feature_profile",
    "feature_use",
    "item_consensus",
    "kappa_growth",
    "spectral_embedding",
    "tracking",
]
