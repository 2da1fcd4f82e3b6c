"""The paper's comparison with K-means, cell by cell."""

import numpy as np
import pytest

from clusterforests import HartiganWongKMeans
from paper.metrics import clustering_accuracy, rand_index

CLUSTERS = {"soybean": 4, "spect": 2, "imgseg": 7, "heart": 2, "wine": 3, "wdbc": 2, "robot": 5, "madelon": 2}
# (rho_r, rho_c) in percent.
K_MEANS_1 = {
    "soybean": (83.16, 72.34),
    "spect": (50.58, 56.18),
    "imgseg": (81.04, 48.06),
    "heart": (51.53, 59.25),
    "wine": (71.86, 70.23),
    "wdbc": (75.03, 85.41),
    "robot": (39.76, 35.37),
    "madelon": (49.98, 50.20),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_paper_k_means_cells(uci, name):
    data = uci(name)
    # imgseg has several optima of nearly the same value: few seeds scatter by more than the bar.
    seeds = 100 if name == "imgseg" else 3
    scores = []
    for seed in range(seeds):
        found = HartiganWongKMeans(CLUSTERS[name], random_state=seed, n_jobs=2).fit(data.data).labels_
        scores.append([100 * rand_index(data.target, found), 100 * clustering_accuracy(data.target, found)])
    off = np.abs(np.mean(scores, axis=0) - K_MEANS_1[name])
    assert (off <= (1.0 if name == "imgseg" else 0.05)).all()
