"""Which features tell the clusters: found in rounds of small clusterings, without labels."""

from clusterforests.feature_screening.out_of_bag_scores import HonestScores, score_features, significant
from clusterforests.feature_screening.rare_groups import find_islands, preferences, preferring
from clusterforests.feature_screening.screening import FeatureSignal, draw_by_weight, find_signal, signal_of_trees

__all__ = [
    "FeatureSignal",
    "HonestScores",
    "draw_by_weight",
    "find_islands",
    "find_signal",
    "preferences",
    "preferring",
    "score_features",
    "signal_of_trees",
    "significant",
]
