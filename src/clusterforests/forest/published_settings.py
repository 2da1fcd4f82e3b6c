"""The settings of the published algorithm, as `ClusterForest.from_paper` takes them."""

from typing import Any

PUBLISHED_SETTINGS: dict[str, Any] = {
    "n_estimators": 100,
    "trees": "grown",
    "noise_features": "keep",
    "estimator": None,
    "scale": "none",
    "base_clusters": None,
    "features_per_draw": 2,
    "n_candidates": 1,
    "patience": 3,
    "repeat_features": True,
    "quality": "centroid",
    "threshold": 0.4,
    "sharpness": "auto",
    "compete": "start",
    "consensus": "ncut",
    "n_init": 20,
    "max_iter": 200,
    "max_samples": None,
    "landmarks": "auto",
}
