"""Cluster the wine data: print the agreement with the known classes and the most informative features, save a plot."""

import argparse
import csv
import time
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score, rand_score

from clusterforests import ClusterForest, plots

matplotlib.use("Agg")  # write files without a screen


def draw(forest, names, path):
    """Draw the co-association matrix ordered by cluster, and the importance of each feature."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained", width_ratios=(1.1, 1))
    plots.consensus_heatmap(forest, ax=left).set_title("How often two wines fall into the same cluster")
    plots.feature_importance(forest, names=names, ax=right)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for labels.csv and consensus.png")
    out = parser.parse_args().out
    data = load_wine()
    X, names = data.data, [name.replace("_", " ") for name in data.feature_names]
    started = time.perf_counter()
    forest = ClusterForest(n_clusters=3, random_state=0).fit(X)
    seconds = time.perf_counter() - started

    sizes = ", ".join(map(str, np.bincount(forest.labels_)))
    print(f"wine: {X.shape[0]} rows, {X.shape[1]} features -> 3 clusters of {sizes} rows in {seconds:.2f} s")
    print("agreement with the three cultivars:")
    print(f"  Rand index          {100 * rand_score(data.target, forest.labels_):5.1f} %")
    print(f"  adjusted Rand index {100 * adjusted_rand_score(data.target, forest.labels_):5.1f} %")
    print("most informative features (fraction of their variance between clusters found without them):")
    for j in np.argsort(-forest.feature_importances_)[:5]:
        print(f"  {names[j]:<30} {100 * forest.feature_importances_[j]:4.1f} %")

    out.mkdir(parents=True, exist_ok=True)
    with (out / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "cluster"])
        writer.writerows(enumerate(forest.labels_.tolist()))
    draw(forest, names, out / "consensus.png")
    print(f"wrote {out / 'labels.csv'} and {out / 'consensus.png'}")


if __name__ == "__main__":
    main()
