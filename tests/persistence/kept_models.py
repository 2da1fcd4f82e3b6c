"""The models in tests/persistence/models: how they were made, and the rows whose clusters are written beside them.

`python tests/persistence/kept_models.py` writes those that are not there yet, and leaves the others as they are.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from clusterforests import ClusterForest

FOLDER = Path(__file__).parent / "models"


def numbers(n=30):
    """Three groups in four of six columns, without a random generator: these cells must never change."""
    i, j = np.indices((n, 6))
    noise = (i * 7919 + j * 104729) * 2654435761 % 2**20 / 2**20
    return np.where(j < 4, 3.0 * ((i + j) % 3 == 0), 0.0) + noise


def mixed(n=30):
    frame = pd.DataFrame(numbers(n), columns=[f"x{j}" for j in range(6)])
    frame.loc[::7, "x1"] = np.nan
    frame["kind"] = np.array(["red", "green", "bläu"])[np.arange(n) % 3]
    frame["flag"] = pd.Categorical(np.arange(n) % 2 == 0)
    return frame


SMALL = {"n_estimators": 6, "random_state": 0}
# name: the forest, its table, new rows
FORESTS = {
    "default": (ClusterForest(3, **SMALL), numbers(), numbers(60)[30:]),
    "landmarks": (ClusterForest(3, consensus="kway", landmarks=8, **SMALL), numbers(), numbers(60)[30:]),
    "mixed": (ClusterForest(3, **SMALL), mixed(), mixed(60)[30:]),
    "cut_tree": (ClusterForest(3, consensus="ncut-best", **SMALL), numbers(), numbers(60)[30:]),
    "single": (ClusterForest(3, consensus="single", **SMALL), numbers(), numbers(60)[30:]),
    "paper": (ClusterForest.from_paper(3, **SMALL), numbers(), numbers(60)[30:]),
    "chosen": (ClusterForest(range(2, 5), **SMALL), numbers(), numbers(60)[30:]),
}


def answers(forest, rows):
    return {
        "n_clusters": forest.n_clusters_,
        "labels": forest.labels_.tolist(),
        "predicted": forest.predict(rows).tolist(),
        "memberships": forest.predict_proba(rows).round(9).tolist(),
    }


if __name__ == "__main__":
    for name, (forest, table, rows) in FORESTS.items():
        if not (FOLDER / f"{name}.cf").exists():
            forest.fit(table).save(FOLDER / f"{name}.cf")
            (FOLDER / f"{name}.json").write_text(json.dumps(answers(forest, rows)) + "\n")
