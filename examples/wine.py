"""Cluster the wine data: agreement with the known classes, which features mattered, labels and a picture."""

import argparse
import csv
import time
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from clusterforests import ClusterForest
from clusterforests.metrics import clustering_accuracy, rand_index

matplotlib.use("Agg")  # writes files, needs no screen
BLUE = "#3b6ea5"


def draw(forest, names, path):
    """The co-association matrix ordered by cluster, and how much each feature was used."""
    P = forest.coassociation()
    # Within a cluster, the rows that belong most clearly first.
    own = np.array([row[forest.labels_ == label].mean() for row, label in zip(P, forest.labels_, strict=True)])
    order = np.lexsort((-own, forest.labels_))
    ends = np.cumsum(np.bincount(forest.labels_))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", width_ratios=(1, 1.1))
    labels = [f"cluster {c}" for c in range(len(ends))]
    image = left.imshow(P[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    for end in ends[:-1]:
        left.axhline(end - 0.5, color="white", linewidth=1.5)
        left.axvline(end - 0.5, color="white", linewidth=1.5)
    middles = ends - np.bincount(forest.labels_) / 2
    left.set_xticks(middles, labels)
    left.set_yticks(middles, labels, rotation=90, va="center")
    left.tick_params(length=0)
    left.set_title("How often two wines land together", loc="left")
    figure.colorbar(image, ax=left, label="share of trees", shrink=0.8)
    rank = np.argsort(forest.feature_importances_)
    right.barh([names[j].replace("_", " ") for j in rank], 100 * forest.feature_importances_[rank], color=BLUE)
    right.set_xlabel("share of the trees' features, %")
    right.set_title("Which features the trees kept", loc="left")
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for labels.csv and consensus.png")
    out = parser.parse_args().out
    data = load_wine()
    X = data.data
    started = time.perf_counter()
    forest = ClusterForest(n_clusters=3, random_state=0).fit(X)
    seconds = time.perf_counter() - started

    sizes = ", ".join(map(str, np.bincount(forest.labels_)))
    print(f"wine: {X.shape[0]} rows, {X.shape[1]} features -> 3 clusters of {sizes} rows in {seconds:.2f} s")
    print("agreement with the three cultivars:")
    print(f"  Rand index          {100 * rand_index(data.target, forest.labels_):5.1f} %")
    print(f"  clustering accuracy {100 * clustering_accuracy(data.target, forest.labels_):5.1f} %")
    print("features the trees kept (1/13 = 7.7 % each if at random):")
    for j in np.argsort(-forest.feature_importances_)[:5]:
        print(f"  {data.feature_names[j]:<30} {100 * forest.feature_importances_[j]:4.1f} %")

    out.mkdir(parents=True, exist_ok=True)
    with (out / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "cluster"])
        writer.writerows(enumerate(forest.labels_.tolist()))
    draw(forest, data.feature_names, out / "consensus.png")
    print(f"wrote {out / 'labels.csv'} and {out / 'consensus.png'}")


if __name__ == "__main__":
    main()
