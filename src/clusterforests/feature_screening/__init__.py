"""Which features are informative: found in rounds of probe clusterings, without labels."""

from clusterforests.feature_screening.rare_groups import draw_preferences, find_rare_groups, with_preferences
from clusterforests.feature_screening.screening import (
    ScreeningResult,
    draw_by_weight,
    screen_by_trees,
    screen_features,
)

__all__ = [
    "ScreeningResult",
    "draw_by_weight",
    "draw_preferences",
    "find_rare_groups",
    "screen_by_trees",
    "screen_features",
    "with_preferences",
]
