"""Draw every picture of clusterforests.plots: on the wine data, and on simulated groups for the number of clusters."""

import argparse
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from clusterforests import ClusterForest, plots

matplotlib.use("Agg")  # writes files, needs no screen


def make_groups():
    """Five groups of 60 rows in four of ten columns; the others are noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    X[:, :4] += 5 * rng.normal(size=(5, 4))[np.repeat(np.arange(5), 60)]
    return X


def pictures():
    """Functions that draw, by name."""
    wine, names = load_wine().data, [name.replace("_", " ") for name in load_wine().feature_names]
    forest = ClusterForest(3, random_state=0).fit(wine)
    groups = make_groups()
    chosen = ClusterForest("auto", random_state=0).fit(groups)
    several = [ClusterForest.from_paper(k, random_state=0).fit(groups) for k in range(2, 8)]
    return {
        "consensus_heatmap": lambda: plots.consensus_heatmap(forest),
        "item_consensus": lambda: plots.item_consensus(forest),
        "spectral_embedding": lambda: plots.spectral_embedding(forest),
        "cluster_profiles": lambda: plots.cluster_profiles(forest, wine, names=names),
        "feature_importance": lambda: plots.feature_importance(forest, wine, names=names),
        "feature_use": lambda: plots.feature_use(forest, names=names),
        "feature_use_per_tree": lambda: plots.feature_use(forest, per_tree=True, names=names),
        "feature_profile": lambda: plots.feature_profile(forest, wine),
        "kappa_growth": lambda: plots.kappa_growth(forest),
        "consensus_cdf": lambda: plots.consensus_cdf(several),
        "delta_area": lambda: plots.delta_area(chosen),
        "tracking": lambda: plots.tracking(chosen),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/gallery"), help="folder for the pictures")
    parser.add_argument("--dark", action="store_true", help="on a dark page")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.dark:
        plt.style.use("dark_background")
    for name, draw in pictures().items():
        figure = draw().figure
        figure.savefig(options.out / f"{name}.png", dpi=110)
        plt.close(figure)
        print(f"wrote {options.out / name}.png")


if __name__ == "__main__":
    main()
