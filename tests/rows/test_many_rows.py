"""Tables of many rows: a sample by hash, passes over blocks, and labels for all."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, _core
from clusterforests._utils.arrays import row_keys
from clusterforests._utils.memory import SizeLimits
from clusterforests.backends import CpuBackend
from clusterforests.rows.sampled import LocalBlocks, settle_centers
from clusterforests.table.feature_columns import numeric_table
from clusterforests.table.row_sampling import draw_rows
from clusterforests.table.row_sources import ArraySource, large_numeric_table, scan_table
from clusterforests.table.scaling import fit_scaling
from clusterforests.trees.forest import grow_forest
from clusterforests.trees.growth import GrowthSettings

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 4, 3000)
X = RNG.normal(size=(3000, 6)) + 6 * RNG.normal(size=(4, 6))[TRUTH] * [1, 1, 1, 0, 0, 0]
X[:, 2] = X[:, 2].round() * 1e5 + 3e6
WHOLE = RNG.integers(0, 4, 3000).astype(np.float64)
SOME = [0, *RNG.permutation(np.arange(1, 3000))[:399]]


@pytest.fixture
def few(lower_limits):
    """Limits so low that 3,000 rows are many."""
    lower_limits(large_rows=1000, sample_rows=500, least_sample=500)


def many(rows, weights=None, threads=1, progress=None, **limits):
    table = ArraySource(rows)
    return LocalBlocks(
        large_numeric_table(table, scan_table(table)), weights, CpuBackend(threads), progress, SizeLimits(**limits)
    )


def settings(n_trees=7):
    return GrowthSettings(
        n_base_clusters=np.arange(2, 2 + n_trees, dtype=np.int32),
        fewer_clusters=True,
        features_per_draw=2,
        n_candidates=1,
        patience=2,
        repeat_features=True,
        compete_always=False,
        quality="centroid",
        n_init=1,
        max_iter=50,
    )


def spread(forest, scaling, rows):
    """Settle the centres by all rows that a reader has, then label these."""
    reader, threads = rows, rows.backend.threads
    trees = settle_centers(forest, scaling, reader.ends(), reader.table.source, reader.weights, threads)
    return replace(forest, centers=trees.centers, partitions=reader.label(trees))


def grown(scale):
    """A forest of some of the rows, their scaling, and the true centres of its trees."""
    part = numeric_table(np.ascontiguousarray(X[SOME]))
    scaling = fit_scaling(part, scale)
    forest = grow_forest(CpuBackend(1), scaling.apply(part.values), scaling.views, settings(), 0)
    columns = [scaling.views.columns(t, f) for t, f in enumerate(forest.features)]
    return forest, scaling, columns, true_centers(forest, columns)


def true_centers(forest, columns):
    exponent, origin, _ = forest.coordinates
    return [np.ldexp(c + origin[f], exponent[f]) for c, f in zip(forest.centers, columns, strict=True)]


@pytest.mark.parametrize("weights", [None, WHOLE, RNG.exponential(size=3000), WHOLE * 1e-200])
@pytest.mark.parametrize("scale", ["mixed", "none"])
def test_passes_do_what_the_plain_ones_do(scale, weights):
    forest, scaling, columns, centers = grown(scale)
    found = spread(forest, scaling, many(X, weights, threads=2))
    expected, labels = reference.spread(scaling.apply(X), columns, centers, weights)
    for mine, theirs in zip(true_centers(found, columns), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    assert (found.partitions == labels).all()
    assert found.partitions.dtype == np.int8
    assign = CpuBackend(1).assign
    before = assign(columns, forest.centers, scaling.apply(X), forest.coordinates)
    after = assign(columns, found.centers, scaling.apply(X), found.coordinates)
    assert (found.partitions != before).any()
    assert (found.partitions == after).all()


def test_a_centre_without_rows_stays():
    forest, scaling, *_ = grown("mixed")
    forest.centers[0][1] += 1000.0
    found = spread(forest, scaling, many(X))
    assert (found.centers[0][1] == forest.centers[0][1]).all()
    assert not (found.partitions[0] == 1).any()


@pytest.mark.parametrize("weights", [None, WHOLE, RNG.exponential(size=3000)])
def test_threads_blocks_and_order_do_not_change_a_bit(weights):
    forest, scaling, *_ = grown("mixed")
    first = spread(forest, scaling, many(X, weights))
    for rows, threads in ((2999, 1), (256, 3), (1000, 2)):
        again = spread(forest, scaling, many(X, weights, threads, least_block_rows=rows, block_bytes=1))
        assert all((a == b).all() for a, b in zip(first.centers, again.centers, strict=True))
        assert (first.partitions == again.partitions).all()
    order = RNG.permutation(3000)
    mixed = spread(forest, scaling, many(X[order], None if weights is None else weights[order]))
    assert all((a == b).all() for a, b in zip(first.centers, mixed.centers, strict=True))
    assert (first.partitions[:, order] == mixed.partitions).all()


@pytest.mark.parametrize("instruction_set", _core.instruction_sets(), indirect=True)
def test_instruction_sets_agree(instruction_set):
    forest, scaling, columns, centers = grown("mixed")
    found = spread(forest, scaling, many(X))
    assert (found.partitions == reference.spread(scaling.apply(X), columns, centers)[1]).all()


def test_the_last_word_is_in_float64():
    """Rows between two centres, as close as doubles get, and equal centres: what float32 cannot tell apart."""
    backend = CpuBackend(1)
    for gap in (1e-3, 1e-7, 1e-11, 1e-15):
        centers = np.array([[0.25, 0.5], [0.5, 0.25], [0.25, 0.5], [-0.5, -0.5], *RNG.normal(size=(13, 2))])
        rows = np.repeat(RNG.uniform(-1, 1, 500)[:, None], 2, axis=1) + gap * RNG.normal(size=(500, 2))
        rows = np.concatenate([rows, centers, rows * 1e30, -rows * 1e-30])
        coordinates = (np.zeros(2, np.int32), np.zeros(2), np.ones(2, np.int32))
        features = [np.array([0, 1], np.int32)]
        found = backend.assign(features, [centers], rows, coordinates)[0]
        squares = ((rows[:, None] / 2 - centers[None] / 2) ** 2).sum(axis=2)
        assert (found == squares.argmin(axis=1)).all()


def test_columns_of_very_different_size():
    """Beyond the range of float32 all rows are compared in float64."""
    x = np.column_stack([RNG.normal(size=300), RNG.normal(size=300) * 1e-25, RNG.normal(size=300) * 1e12])
    features = [np.array([0, 1, 2], np.int32), np.array([1, 1], np.int32)]
    backend = CpuBackend(1)
    exponent, origin, _ = backend.load(x).coordinates
    centers = [np.ldexp(x[:9][:, f], -exponent[f]) - origin[f] for f in features]
    for f, found in zip(features, backend.assign(features, centers), strict=True):
        assert (found == reference.nearest(x[:, f], x[:9][:, f])).all()


def test_many_clusters_need_wider_labels():
    part = numeric_table(X)
    scaling = fit_scaling(part, "none")
    backend = CpuBackend(1)
    backend.load(X)
    forest, *_ = grown("none")
    for k, dtype in ((128, np.int8), (129, np.int16)):
        rows = np.ldexp(X[:k], -forest.coordinates.exponent) - forest.coordinates.origin
        forest.columns[:] = [np.arange(6, dtype=np.int32)] * 7
        forest.centers[:] = [rows] * 7
        found = spread(forest, scaling, many(X))
        assert found.partitions.dtype == dtype
        assert found.partitions.min() >= 0


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("seed", range(4))
def test_a_cluster_of_equal_rows_is_found(seed):
    repeated = X.copy()
    repeated[:900] = X.max(axis=0) + 3
    truth = np.where(np.arange(3000) < 900, 4, TRUTH)
    labels = ClusterForest(5, n_estimators=100, random_state=seed).fit_predict(repeated)
    assert (np.flatnonzero(labels == labels[0]) == np.arange(900)).all()
    assert adjusted_rand_score(truth, labels) > 0.94


@pytest.mark.usefixtures("few")
def test_a_fit_of_many_rows(lower_limits):
    forest = ClusterForest(4, n_estimators=20, random_state=0).fit(X)
    assert forest.partitions_.dtype == np.int8
    assert forest.partitions_.shape == (20, 3000)
    agreement = (forest.labels_[:, None] == forest.labels_) == (TRUTH[:, None] == TRUTH)
    assert agreement.mean() > 0.95
    for change in ({"n_jobs": 2}, {"verbose": 1}):
        again = ClusterForest(4, n_estimators=20, random_state=0, **change).fit(X)
        assert (again.labels_ == forest.labels_).all()
    lower_limits(block_bytes=1)
    again = ClusterForest(4, n_estimators=20, random_state=0).fit(X)
    assert (again.partitions_ == forest.partitions_).all()


@pytest.mark.usefixtures("few")
def test_order_and_repeats_of_many_rows_do_not_show():
    settings = {"n_estimators": 20, "random_state": 0}
    plain = ClusterForest(4, **settings).fit(X)
    order = RNG.permutation(3000)
    mixed = ClusterForest(4, **settings).fit(X[order])
    assert (mixed.partitions_ == plain.partitions_[:, order]).all()
    weighted = ClusterForest(4, **settings).fit(X, sample_weight=WHOLE)
    times = WHOLE.astype(int)
    repeated = ClusterForest(4, **settings).fit(np.repeat(X, times, axis=0))
    assert (repeated.partitions_ == np.repeat(weighted.partitions_, times, axis=1)).all()
    assert (repeated.labels_ == np.repeat(weighted.labels_, times)).all()
    without = ClusterForest(4, **settings).fit(X[WHOLE > 0], sample_weight=WHOLE[WHOLE > 0])
    assert (without.partitions_ == weighted.partitions_[:, WHOLE > 0]).all()


@pytest.mark.usefixtures("few")
def test_max_samples_none_sees_all_rows():
    assert ClusterForest(4, n_estimators=5, max_samples=None, random_state=0).fit(X).partitions_.dtype == np.int32


@pytest.mark.usefixtures("few")
def test_values_far_beyond_the_sample():
    for row in range(100):
        far = X.copy()
        far[row, 1] = 1e300
        if row not in draw_rows(row_keys(far), None, 500, 0).rows:
            break
    with pytest.raises(ValueError, match="column 1"):
        ClusterForest(4, n_estimators=5, random_state=0, scale="none").fit(far)


@pytest.mark.usefixtures("few")
def test_a_stop_between_blocks():
    forest, scaling, *_ = grown("mixed")
    told = []

    def stop(read, total):
        told.append((read, total))
        if read > 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spread(forest, scaling, many(X, progress=stop, block_bytes=1))
    assert told[0] == (256, 3000)
    assert told[-1] == (1024, 3000)


@pytest.mark.usefixtures("few")
def test_a_sparse_table_stays_sparse(monkeypatch, lower_limits):
    """Nothing makes the whole of it dense: blocks are small."""
    table = sparse.random_array((3000, 400), density=0.02, format="csr", rng=np.random.default_rng(0))
    dense = type(table).toarray
    shapes = []

    def watched(self, *args, **kwargs):
        shapes.append(self.shape)
        return dense(self, *args, **kwargs)

    monkeypatch.setattr(type(table), "toarray", watched)
    lower_limits(block_bytes=1)
    ClusterForest(4, n_estimators=5, random_state=0, scale="mixed").fit(table)
    assert shapes
    assert max(rows for rows, _ in shapes) <= 1000
    shapes.clear()
    forest = ClusterForest(4, n_estimators=5, random_state=0).fit(table)  # reduced to components
    assert (forest.predict(table) == forest.labels_).all()
    assert all(rows <= 4 for rows, _ in shapes)  # sums of clusters


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_rare_group_is_a_cluster_of_kway(seed):
    """0.2 % of the rows, like the first group but ten standard deviations away in four features."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(6, 70_000, p=[*5 * [0.1996], 0.002])
    centers = rng.normal(0, 2.5, (6, 20)) * (np.arange(20) < 10)
    centers[5] = centers[0] + 10 * np.isin(np.arange(20), [2, 5, 12, 15])
    table = centers[truth] + rng.normal(size=(70_000, 20))
    forest = ClusterForest(6, n_estimators=100, consensus="kway", n_jobs=-1, random_state=seed).fit(table)
    found = forest.labels_ == np.bincount(forest.labels_[truth == 5]).argmax()
    assert found[truth == 5].mean() > 0.99
    assert (truth == 5)[found].mean() > 0.9
    assert forest.chosen_params_["n_base_clusters"].value == (2, 70)
