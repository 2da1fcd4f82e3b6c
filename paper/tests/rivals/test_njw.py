"""Spectral clustering: bandwidths by hand, and what kernlab finds."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from paper.metrics import clustering_accuracy, rand_index
from paper.rivals import NJWSpectralClustering
from paper.rivals.njw import candidate_bandwidths, kernel, local_bandwidths


def test_a_bandwidth_without_neighbours_is_refused(blobs):
    with pytest.raises(ValueError, match="bandwidth=1e-09 leaves rows without any neighbour"):
        NJWSpectralClustering(3, bandwidth=1e-9).fit(blobs[0])


def test_kernel_and_local_bandwidths_by_hand():
    rows = np.array([[0.0], [1.0], [3.0], [7.0], [15.0], [31.0]])
    distances = cdist(rows, rows)
    widths = local_bandwidths(distances)
    assert widths.tolist() == [3.0, 2.0, 3.0, 6.0, 12.0, 24.0]
    local = kernel(distances, widths)
    assert local[0, 1] == pytest.approx(np.exp(-1 / (3 * 2)))
    assert (np.diag(local) == 1).all()
    one = kernel(distances, 2.0)
    assert one[0, 2] == pytest.approx(np.exp(-9 / 8))
    assert (np.diag(one) == 0).all()


def test_candidate_bandwidths_span_the_distances():
    rows = np.random.default_rng(0).normal(size=(60, 4))
    distances = cdist(rows, rows)
    widths = candidate_bandwidths(distances)
    apart = distances[distances > 0]
    assert widths.min() >= apart.min() * (1 - 1e-12)
    assert widths.max() <= apart.max() * (1 + 1e-12)
    assert 15 < len(widths) < 45


@pytest.mark.parametrize(
    ("name", "k", "bandwidth", "rho_r", "rho_c"),
    [  # medians over seeds of kernlab's specc
        ("wine", 3, "local", 71.91, 70.79),
        ("wdbc", 2, "local", 81.10, 89.46),
        ("soybean", 4, "local", 83.72, 76.60),
        ("spect", 2, "automatic", 53.77, 64.04),
        ("heart", 2, "automatic", 51.82, 60.00),
    ],
)
def test_spectral_clustering_gives_what_kernlab_gives(uci, name, k, bandwidth, rho_r, rho_c):
    data = uci(name)
    runs = [NJWSpectralClustering(k, bandwidth=bandwidth, random_state=r).fit_predict(data.data) for r in range(15)]
    found = [[100 * score(data.target, run) for score in (rand_index, clustering_accuracy)] for run in runs]
    np.testing.assert_allclose(np.median(found, axis=0), (rho_r, rho_c), atol=0.011)


def test_rows_that_occur_three_times_have_a_local_bandwidth():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.integers(0, 2, size=(60, 3)), 20 + rng.integers(0, 2, size=(40, 3))]).astype(float)
    truth = np.repeat([0, 1], [60, 40])
    found = NJWSpectralClustering(2, random_state=0).fit(X)
    assert (found.bandwidth_ > 0).all()
    assert np.array_equal(found.labels_, truth)
    assert (NJWSpectralClustering(1, random_state=0).fit(np.ones((5, 2))).labels_ == 0).all()
    apart = local_bandwidths(np.abs(np.subtract.outer([0.0, 0, 0, 1, 3, 7], [0.0, 0, 0, 1, 3, 7])))
    assert apart[0] == 2.0  # of 0, 1, 3, 7
    assert apart[3] == 1.0  # of 0, 1, 1, 1, 2
