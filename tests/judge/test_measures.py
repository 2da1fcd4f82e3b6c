"""Measures of a number of clusters, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import calinski_harabasz_score, silhouette_samples, silhouette_score

from clusterforests._utils.statistics import adjusted_rand
from clusterforests.backends import CpuBackend
from clusterforests.consensus.nodes import CutSettings
from clusterforests.judge import evidence as measures
from clusterforests.judge.evidence import JudgedRows, measure_numbers, wide_gaps

BACKEND = CpuBackend(1)
SETTINGS = CutSettings(2, "kway")
SIZES = [30, 25, 20, 15]
TRUTH = np.repeat(np.arange(4), SIZES).astype(np.int32)


def places(p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(90, p)) + 3 * rng.normal(size=(4, p))[TRUTH]


APART = places(4) + 15 * np.eye(4)[TRUTH]


def judged(weights=None, members=40, noise=0.1):
    """Rows whose trees know the four groups, and so do those of the halves."""
    rng = np.random.default_rng(3)

    def trees():
        wrong = rng.random((members, 90)) < noise
        return np.where(wrong, rng.integers(0, 4, (members, 90)), TRUTH).astype(np.int32)

    mass = np.ones(90) if weights is None else weights
    return JudgedRows(APART, mass, trees(), [(trees(), trees()) for _ in range(2)])


@pytest.mark.parametrize("p", [1, 2, 7])
def test_silhouettes_are_scikit_learns(p):
    X = places(p)
    found = measures._silhouette(measures._distances(X), TRUTH, np.ones(90))
    np.testing.assert_allclose(found, silhouette_samples(X, TRUTH), atol=1e-7)


def test_the_variance_ratio_is_scikit_learns():
    for p in (2, 7):
        found = measures._variance_ratio(places(p), TRUTH, np.ones(90))
        assert found == pytest.approx(calinski_harabasz_score(places(p), TRUTH))
    line = measures._variance_ratio(places(1), TRUTH, np.ones(90))
    assert line == pytest.approx(calinski_harabasz_score(places(1), TRUTH) / 5)  # along a line less, the more groups


def test_a_weight_of_two_is_the_row_twice():
    weights = 1.0 + (np.arange(90) % 3 == 0)
    times = weights.astype(int)
    twice, labels = np.repeat(places(), times, axis=0), np.repeat(TRUTH, times)
    rows = measures._silhouette(measures._distances(places()), TRUTH, weights)
    np.testing.assert_allclose(np.repeat(rows, times), silhouette_samples(twice, labels), atol=1e-7)
    ratio = measures._variance_ratio(places(), TRUTH, weights)
    assert ratio == pytest.approx(calinski_harabasz_score(twice, labels))


def test_a_row_alone_and_rows_in_one_place():
    labels = np.where(np.arange(90) == 0, 1, 0).astype(np.int32)
    rows = measures._silhouette(measures._distances(places()), labels, np.ones(90))
    np.testing.assert_allclose(rows, silhouette_samples(places(), labels), atol=1e-7)
    assert rows[0] == 0
    same = np.zeros((6, 2))
    halves = np.array([0, 0, 0, 1, 1, 1], np.int32)
    assert not measures._silhouette(measures._distances(same), halves, np.ones(6)).any()
    assert measures._variance_ratio(same, halves, np.ones(6)) == 0


def test_every_measure_prefers_the_groups_that_trees_know():
    numbers = [2, 3, 4, 5, 6]
    found = measure_numbers(BACKEND, judged(), numbers, SETTINGS)
    assert set(found) == {"silhouette", "calinski_harabasz", "new_rows", "eigengap"}
    for name, values in found.items():
        assert values.shape == (5,)
        assert numbers[int(np.argmax(values))] == 4, name
    assert found["silhouette"][2] == pytest.approx(silhouette_score(APART, TRUTH))
    assert found["calinski_harabasz"][2] == pytest.approx(calinski_harabasz_score(APART, TRUTH))
    assert found["new_rows"][2] == pytest.approx(1)


def test_agreement_is_the_mean_of_what_is_known():
    a, b, c = (np.array(x, np.int32) for x in ([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1]))
    known = [(a, a), (a, b), (None, c), (c, None)]
    between = adjusted_rand(a, b, np.ones(4), replacement=True)
    assert between < 1
    assert measures._agreement(known, np.ones(4)) == pytest.approx((1 + between) / 2)
    assert np.isnan(measures._agreement([(None, a)], np.ones(4)))


def test_numbers_that_cannot_be_cut_have_no_evidence():
    """Trees that tell two groups apart cannot be cut into three."""
    halves = np.tile(np.arange(90) % 2, (10, 1)).astype(np.int32)
    rows = JudgedRows(places(), np.ones(90), halves, [(halves, halves)])
    found = measure_numbers(BACKEND, rows, [3, 4], SETTINGS)
    for name in ("silhouette", "calinski_harabasz", "new_rows"):
        assert np.isnan(found[name]).all()


def test_eigengaps_are_those_of_the_weighted_graph():
    weights = 1.0 + (np.arange(90) % 4 == 0)
    rows = judged(weights)
    labels = np.repeat(rows.labels, weights.astype(int), axis=1)
    P = (labels[:, :, None] == labels[:, None, :]).mean(axis=0)
    degrees = P.sum(axis=1)
    values = np.linalg.eigvalsh(P / np.sqrt(np.outer(degrees, degrees)))[::-1]
    np.testing.assert_allclose(measures._eigengaps(BACKEND, rows, 8), -np.diff(values)[:8], atol=1e-9)


def test_wide_gaps():
    rows = judged(noise=0.3)
    assert wide_gaps(BACKEND, rows, 50, 0.5) == [4]
    assert wide_gaps(BACKEND, rows, 50, 0.0) == list(range(2, 51))
