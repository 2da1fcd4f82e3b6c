"""Which features tell the clusters: found in rounds of small clusterings, without labels."""

from clusterforests.signal.honest_scores import HonestScores, score_features, significant
from clusterforests.signal.islands import find_islands, preferences, preferring
from clusterforests.signal.repeated import repeated_features
from clusterforests.signal.search import FeatureSignal, draw_by_weight, find_signal, signal_of_trees

__all__ = [
    "FeatureSignal",
    "HonestScores",
    "draw_by_weight",
    "find_islands",
    "find_signal",
    "preferences",
    "preferring",
    "repeated_features",
    "score_features",
    "signal_of_trees",
    "significant",
]
