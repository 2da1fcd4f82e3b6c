"""Which features tell the clusters: found in rounds of small clusterings, without labels."""

from clusterforests.signal.honest_scores import HonestScores, score_features, significant
from clusterforests.signal.search import FeatureSignal, find_signal, signal_of_trees

__all__ = ["FeatureSignal", "HonestScores", "find_signal", "score_features", "signal_of_trees", "significant"]
