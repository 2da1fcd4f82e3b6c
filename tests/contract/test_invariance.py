"""The same random_state, the same answer: threads, instruction sets, order, scale, dtype, weights."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, HartiganWongKMeans, PaperForest, _core

SETS = _core.instruction_sets()


def fitted(X, **changes):
    return ClusterForest(3, **({"n_estimators": 25, "random_state": 3} | changes)).fit(X)


def assert_identical(a, b):
    assert a.labels_.tobytes() == b.labels_.tobytes()
    assert a.partitions_.tobytes() == b.partitions_.tobytes()
    assert a.kappas_.tobytes() == b.kappas_.tobytes()
    assert a.feature_importances_.tobytes() == b.feature_importances_.tobytes()
    for one, other in zip(a.estimators_features_, b.estimators_features_, strict=True):
        assert one.tobytes() == other.tobytes()


def mixed_table():
    """Make continuous, discrete, constant and repeated columns, with duplicate rows."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(150, 10))
    X[:50, :4] += 4
    X[:, 4] = np.round(X[:, 4])
    X[:, 5] = rng.integers(0, 2, 150)
    X[:, 6] = 1.0
    X[100:110] = X[90:100]
    return X


def test_repeated_runs_and_threads():
    X = mixed_table()
    one = fitted(X)
    for n_jobs in (1, 2, 4):
        assert_identical(one, fitted(X, n_jobs=n_jobs))


@pytest.mark.parametrize("instruction_set", SETS, indirect=True)
def test_instruction_sets(instruction_set):
    X = mixed_table()
    forced, grown = fitted(X), PaperForest(3, n_estimators=25, random_state=3).fit(X)
    wide = HartiganWongKMeans(9, random_state=0).fit(np.tile(X, (1, 2)))
    _core.use_instruction_set("auto")
    assert_identical(forced, fitted(X))
    assert_identical(grown, PaperForest(3, n_estimators=25, random_state=3).fit(X))
    auto = HartiganWongKMeans(9, random_state=0).fit(np.tile(X, (1, 2)))
    assert wide.labels_.tobytes() == auto.labels_.tobytes()
    assert wide.cluster_centers_.tobytes() == auto.cluster_centers_.tobytes()
    assert wide.inertia_ == auto.inertia_


def test_unknown_instruction_set():
    with pytest.raises(ValueError, match="choose one of: auto"):
        _core.use_instruction_set("avx1024")


def test_threads_of_one_problem():
    X = np.random.default_rng(0).normal(size=(2000, 6))  # with 7 clusters enough for several threads
    fits = [HartiganWongKMeans(7, random_state=1, n_jobs=jobs).fit(X) for jobs in (1, 2, 4)]
    assert len({f.cluster_centers_.tobytes() for f in fits}) == 1


@pytest.mark.parametrize("exponent", [-900, -40, 1, 900])
def test_powers_of_two(exponent):
    X = mixed_table()
    assert_identical(fitted(X), fitted(np.ldexp(X, exponent)))


def test_offset_changes_little():
    X = mixed_table()  # of two groups: a third would be a matter of chance
    labels = [ClusterForest(2, n_estimators=25, random_state=3).fit_predict(table) for table in (X, X + 1e6)]
    assert adjusted_rand_score(*labels) > 0.95


def test_order_of_rows():
    X = mixed_table()
    order = np.random.default_rng(5).permutation(len(X))
    straight, shuffled = fitted(X), fitted(X[order])
    assert (straight.labels_[order] == shuffled.labels_).all()
    assert straight.kappas_.tobytes() == shuffled.kappas_.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, bool, ">f8", ">i4"])
def test_dtypes(dtype):
    X = (mixed_table() * 4).astype(dtype)
    assert_identical(fitted(X), fitted(X.astype(np.float64)))


def test_layouts():
    X = mixed_table()
    frozen = X.copy()
    frozen.setflags(write=False)
    for other in (np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2], frozen, X.tolist()):
        assert_identical(fitted(X), fitted(other))


def test_global_generator_is_left_alone():
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    fitted(mixed_table(), random_state=None)
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_random_states():
    X = mixed_table()
    assert_identical(
        fitted(X, random_state=np.random.RandomState(1)),
        fitted(X, random_state=np.random.RandomState(1)),
    )
    assert_identical(fitted(X, random_state=np.random.default_rng(1)), fitted(X, random_state=np.random.default_rng(1)))
    assert fitted(X, random_state=1).partitions_.tobytes() != fitted(X, random_state=2).partitions_.tobytes()


def test_signed_zeros():
    rng = np.random.default_rng(2)
    X = rng.integers(-1, 2, size=(60, 4)).astype(float)
    signed = np.where((X == 0) & (rng.random(X.shape) < 0.5), -0.0, X)
    order = rng.permutation(60)
    assert_identical(fitted(signed), fitted(signed + 0.0))
    assert (fitted(signed).labels_[order] == fitted(signed[order]).labels_).all()


@pytest.mark.parametrize("rows", [200, 70_000])
def test_memory_that_is_not_aligned(rows):
    """np.frombuffer gives such arrays at odd offsets; the core takes only aligned ones."""
    X = np.random.default_rng(0).normal(size=(rows, 4))
    odd = np.zeros(X.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(X.shape)
    odd[...] = X
    assert not odd.flags.aligned
    forest = ClusterForest(3, n_estimators=5, random_state=0)
    expected = forest.fit_predict(X)
    assert (forest.fit_predict(odd) == expected).all()
    assert (forest.predict(odd) == forest.predict(X)).all()
    assert (HartiganWongKMeans(3, random_state=0).fit_predict(odd[:100]) < 3).all()
    with pytest.raises(ValueError, match="aligned"):
        _core.Table(odd)
