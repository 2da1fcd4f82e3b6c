"""The number of clusters: dip and valleys against their definitions, and the whole choice on tables of known kind."""

import itertools

import numpy as np
import pytest
from clusterforests.n_clusters.dendrogram_splits import split_groups
from clusterforests.n_clusters.informative_columns import informative_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.optimize import linprog
from scipy.spatial.distance import squareform
from scipy.stats import binom
from sklearn.metrics import adjusted_rand_score

from clusterforests.backends import CpuBackend
from clusterforests.n_clusters.density_valleys import TRIES, WIDTHS, dip, find_valleys, valley
from clusterforests.n_clusters.null_tables import prepare, principal_axes, without_clusters
from clusterforests.n_clusters.search import EVIDENCE, choose_n_clusters, grow_for_all_k

BACKEND = CpuBackend(1)


def choose(X, candidates=range(1, 8), seed=0, **options):
    return choose_n_clusters(BACKEND, np.asarray(X, dtype=float), candidates, seed, **options)


def mixture(n_clusters, n_noise, seed=0, n=400, distance=7.0):
    """Clusters along the edges of a triangle or longer polygon in two columns, and columns of noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, n)
    angle = 2 * np.pi * np.arange(n_clusters) / n_clusters
    radius = distance / 2 / np.sin(np.pi / max(2, n_clusters))
    centers = radius * np.column_stack([np.cos(angle), np.sin(angle)]) * (n_clusters > 1)
    return np.hstack([rng.normal(size=(n, 2)) + centers[labels], rng.normal(size=(n, n_noise))]), labels


def dip_by_definition(values):
    """The least distance to a distribution function that is convex up to a mode and concave after it: linear programs.

    Unknown are its values at the different data, two at the mode (where it may jump), and the distance.
    """
    x, counts = np.unique(values, return_counts=True)
    above = np.cumsum(counts) / counts.sum()
    below = above - counts / counts.sum()
    best = np.inf
    for mode in range(len(x)):
        places = list(range(mode + 1)) + list(range(mode, len(x)))
        size = len(places)
        rows, limits = [], []

        def at_most(coefficients, limit, size=size, rows=rows, limits=limits):
            row = np.zeros(size + 1)
            for index, value in coefficients:
                row[index] += value
            rows.append(row)
            limits.append(limit)

        for i, j in enumerate(places):
            left_limit, right_limit = i == mode, i == mode + 1
            at_most([(i, 1), (size, -1)], above[j] if right_limit else below[j])
            at_most([(i, -1), (size, -1)], -(below[j] if left_limit else above[j]))
            if i:
                at_most([(i - 1, 1), (i, -1)], 0)
        for i in range(size - 2):
            if mode in (i, i + 1) and i + 2 > mode:  # across the jump
                continue
            a, b = x[places[i + 1]] - x[places[i]], x[places[i + 2]] - x[places[i + 1]]
            sign = 1 if i + 2 <= mode else -1
            at_most([(i, -sign / a), (i + 1, sign / a + sign / b), (i + 2, -sign / b)], 0)
        cost = np.eye(size + 1)[-1]
        solution = linprog(cost, np.array(rows), np.array(limits), bounds=[(None, None)] * size + [(0, None)])
        best = min(best, solution.fun)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_dip_is_the_distance_to_the_nearest_unimodal_distribution(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=rng.integers(3, 14)) + 4 * rng.integers(0, 2)
    values[::2] += rng.uniform(0, 6)
    if seed % 2:
        values = values.round(seed % 4 == 1)
    assert dip(values) == pytest.approx(dip_by_definition(values), abs=1e-9)


def test_dip_of_textbook_cases():
    assert dip(np.arange(10.0)) == pytest.approx(1 / 20)
    assert dip([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]) == pytest.approx(0.25)
    assert dip([3.0, 3.0]) == 0


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=30), st.floats(0.1, 10), st.integers(-5, 5))
@settings(max_examples=50, deadline=None)
def test_dip_ignores_unit_origin_and_direction(values, unit, origin):
    x = np.array(values, dtype=float)
    assert dip(-unit * x + origin) == pytest.approx(dip(x), abs=1e-9)
    assert 0 <= dip(x) <= 0.25 + 1e-12


def test_valley_counts_rows_in_three_intervals():
    rng = np.random.default_rng(3)
    first, second = rng.normal(0, 0.2, 40), rng.normal(1, 0.2, 25)
    middle = first.std() / (first.std() + second.std())
    places = np.concatenate([first, second])
    tests = []
    for h in WIDTHS:
        intervals = [(-h, min(h, middle - h)), (middle - h, middle + h), (max(1 - h, middle + h), 1 + h)]
        low, between, high = (int(((places > a) & (places < b)).sum()) for a, b in intervals)
        w_low, w, w_high = (b - a for a, b in intervals)
        sides = [(low, w_low), (high, w_high)]
        tests.append(max(binom.cdf(between, between + count, w / (w + width)) for count, width in sides))
    assert valley(first, second)[0] == pytest.approx(TRIES * min(tests))
    mirrored = valley(1 - second, 1 - first)
    assert mirrored == pytest.approx(valley(first, second))


def test_valleys_of_flat_rows_are_as_rare_as_their_p_values_say():
    """Flat is the worst case of one mode: there the tests are not conservative."""
    rng = np.random.default_rng(0)
    p = []
    for _ in range(600):
        flat = rng.uniform(-0.5, 1.5, 120)
        p.append(valley(flat[flat < 0.5], flat[flat >= 0.5])[0])
    assert 0.002 < np.mean(np.array(p) <= 0.05) < 0.08


def test_valleys_lie_between_groups_and_not_inside_one():
    X, labels = mixture(3, 2)
    valleys = find_valleys(X, labels, 0)
    off = ~np.eye(3, dtype=bool)
    assert valleys.p_values[off].max() < 1e-6
    assert valleys.depths[off].min() > 0.8
    np.testing.assert_array_equal(valleys.p_values, valleys.p_values.T)
    halves = np.where(labels == 2, np.where(X[:, 0] > X[labels == 2, 0].mean(), 2, 3), labels)
    assert find_valleys(X, halves, 0).p_values[2, 3] > 0.5


def test_an_axis_that_fits_noise_shows_no_valley():
    """With more columns than rows any two groups are apart along some axis, but not for rows it was not fitted to."""
    X = np.random.default_rng(0).normal(size=(60, 200))
    labels = (X[:, :20].sum(axis=1) > 0).astype(int)
    assert find_valleys(X, labels, 0).p_values[0, 1] > 0.2


def test_splits_are_cuts_of_average_linkage():
    X, labels = mixture(4, 0)
    partitions = grow_for_all_k(BACKEND, X, 6, 60, 0)
    splits = split_groups(BACKEND, partitions, 6)
    P = (partitions[:, :, None] == partitions[:, None, :]).mean(axis=0)
    tree = linkage(squareform(1 - P, checks=False), "average")
    assert adjusted_rand_score(splits.labels[3], labels) > 0.98
    assert adjusted_rand_score(splits.labels[3], fcluster(tree, 4, "maxclust")) > 0.98
    np.testing.assert_allclose(splits.heights[:3], tree[::-1, 2][:3], atol=1e-12)
    assert (np.diff(splits.heights) <= 1e-12).all()
    for k, (coarse, fine) in enumerate(itertools.pairwise(splits.labels), start=1):
        assert len(np.unique(fine)) == k + 1
        assert len({(a, b) for a, b in zip(coarse, fine, strict=True)}) == k + 1  # nested


def test_outlying_rows_are_no_group():
    labels = np.repeat([0, 1, 2], [60, 50, 5])
    splits = split_groups(BACKEND, np.tile(labels, (10, 1)).astype(np.int32), 5)
    assert len(splits.labels) == 2
    assert adjusted_rand_score(splits.labels[1][:110], labels[:110]) == 1


def test_informative_columns_are_found_among_correlated_noise():
    X, _ = mixture(5, 98)
    X[:, 2:] += 0.8 * np.random.default_rng(5).normal(size=(len(X), 1))
    np.testing.assert_array_equal(informative_columns(X, 0), [0, 1])
    np.testing.assert_array_equal(informative_columns(X[:, 2:30], 0), np.arange(28))  # none tells: all are used


def test_a_column_with_several_modes_tells_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    X[:, 7] += 7 * rng.integers(0, 3, 300)
    np.testing.assert_array_equal(informative_columns(X, 0), [7])


def test_preparing_a_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:, 1] = 3.0
    X[:, 2] = rng.integers(0, 2, 200)
    X[::10, 3] = np.nan
    X[0, 4] = 1e200
    table, columns = prepare(X, 0)
    np.testing.assert_array_equal(columns, [0, 2, 3, 4])
    np.testing.assert_allclose(table.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(table.std(axis=0), 1)
    assert all(len(np.unique(column)) == 200 for column in table[:, [0, 1]].T)
    assert np.sqrt(200) * dip(table[:, 1]) < 0.6  # yes and no are not two modes
    assert np.corrcoef(table[1:, 3], X[1:, 4])[0, 1] > 0.99  # the extreme value does not squeeze the others
    np.testing.assert_allclose(prepare(X * [2, 1, -4, 1e-9, 1], 0).table[:, [0, 2, 3]], table[:, [0, 2, 3]], atol=1e-9)


def test_the_null_keeps_covariance_and_tails():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4)) @ rng.normal(size=(4, 4))
    table = prepare(X, 0).table
    null = without_clusters(table, 0, 0)
    np.testing.assert_allclose(np.cov(null.T), np.cov(table.T), atol=0.1)
    heavy = prepare(X / np.sqrt(rng.chisquare(3, (2000, 1)) / 3), 0).table
    assert (without_clusters(heavy, 0, 0) ** 4).mean() > 1.5 * (null**4).mean()
    assert not np.array_equal(null, without_clusters(table, 0, 1))


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
@pytest.mark.parametrize("n_noise", [0, 38])
def test_finds_the_number(n_clusters, n_noise):
    X, _ = mixture(n_clusters, n_noise)
    choice = choose(X * np.exp(np.random.default_rng(1).normal(size=X.shape[1])))
    assert choice.n_clusters == n_clusters
    assert set(choice.columns) <= {0, 1}


def structureless(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    X = rng.normal(size=(300, 6))
    factor = rng.normal(size=(300, 1))
    return {
        "independent": X,
        "correlated": X + 3 * factor,
        "wide": rng.normal(size=(60, 150)),
        "heavy": rng.standard_t(2, (300, 6)),
        "elliptical": X @ rng.normal(size=(6, 6)) / np.sqrt(rng.chisquare(2, (300, 1))),
        "uniform": rng.uniform(size=(300, 2)),
        "skewed": rng.exponential(size=(300, 4)),
        "scale": rng.integers(1, 6, (300, 4)),
        "yes or no": rng.integers(0, 2, (300, 3)),
    }[kind]


KINDS = ["independent", "correlated", "wide", "heavy", "elliptical", "uniform", "skewed", "scale", "yes or no"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_clusters_where_there_are_none(kind):
    choice = choose(structureless(kind))
    assert choice.n_clusters == 1
    assert "No candidate above 1" in choice.reason


def test_clusters_among_missing_values():
    X, _ = mixture(3, 3)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    assert choose(X).n_clusters == 3


def test_evidence_names_every_candidate():
    X, _ = mixture(3, 0)
    choice = choose(X, [5, 3, 1, 3])
    assert choice.candidates == (1, 3, 5)
    assert tuple(choice.evidence) == EVIDENCE
    assert all(values.shape == (3,) for values in choice.evidence.values())
    evidence = choice.evidence
    assert np.isnan(evidence["p_value"][0])
    assert evidence["p_value"][1] < 1e-6 < 0.5 < evidence["p_value"][2]
    assert evidence["depth"][1] > evidence["null_mean"][1] + 3 * evidence["null_sd"][1]
    assert evidence["stability"][1] > 0.95 > evidence["stability"][2]
    assert evidence["pac"][1] < 0.05 < evidence["pac"][2]
    assert evidence["eigengap"].argmax() == 1
    assert evidence["lifetime"].argmax() == 1
    assert "3" in choice.reason


def test_one_cluster_only_if_it_is_a_candidate():
    X = structureless("independent")
    choice = choose(X, range(2, 5))
    assert choice.n_clusters == 2
    assert "lowest" in choice.reason
    assert choose(X, [1]).n_clusters == 1


def test_the_level_decides():
    X, _ = mixture(2, 0, distance=4.5, n=120)
    assert choose(X).n_clusters == 2
    assert choose(X, level=1e-9).n_clusters == 1


def test_seed_determines_the_choice_and_threads_do_not():
    X, _ = mixture(3, 4)
    first = choose(X)
    again = choose_n_clusters(CpuBackend(2), X, range(1, 8), 0)
    for name in EVIDENCE:
        np.testing.assert_array_equal(first.evidence[name], again.evidence[name])
    other = choose(X, seed=2**63 + 1)
    assert other.n_clusters == first.n_clusters
    assert not np.array_equal(other.evidence["pac"], first.evidence["pac"])


def test_many_rows_are_judged_by_some():
    X, _ = mixture(4, 0, n=5000)
    assert choose(X, n_null=0).n_clusters == 4


@pytest.mark.parametrize("n_clusters", [1, 2])
def test_more_columns_than_principal_axes(n_clusters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 700)) + 0.5 * rng.integers(0, n_clusters, (400, 1))  # no column tells, all together do
    choice = choose(X, range(1, 4))
    assert choice.n_clusters == n_clusters
    assert len(choice.columns) == 700


def test_principal_axes():
    rng = np.random.default_rng(0)
    for shape in [(30, 8), (8, 30), (400, 350)]:
        table = rng.normal(size=shape)
        left, spread, right = principal_axes(table)
        np.testing.assert_allclose(spread, np.linalg.svd(table, compute_uv=False)[:300], rtol=1e-6)
        np.testing.assert_allclose(left.T @ left, np.eye(len(spread)), atol=1e-8)
        if min(shape) <= 300:
            np.testing.assert_allclose(left * spread @ right, table, atol=1e-8)


@pytest.mark.parametrize("X", [np.zeros((50, 3)), np.random.default_rng(0).normal(size=(9, 3)), np.zeros((1, 1))])
def test_too_little_to_tell(X):
    choice = choose(X)
    assert choice.n_clusters == 1
    assert all(np.isnan(values).all() for values in choice.evidence.values())


@pytest.mark.parametrize("candidates", [[], [0, 1], [1.5], ["2"], [True]])
def test_bad_candidates(candidates):
    with pytest.raises(ValueError, match=r"candidates=.*integer of at least 1"):
        choose(np.zeros((20, 2)), candidates)


def test_infinite_values_are_refused():
    with pytest.raises(ValueError, match="X holds infinite values"):
        choose([[np.inf, 1.0]] * 20)
