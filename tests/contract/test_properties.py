"""Properties that hold for every table and every setting, tried on random ones; `make test-slow` tries many more."""

import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, consensus_clustering

EXAMPLES = pytest.mark.parametrize("examples", [25, pytest.param(1000, marks=pytest.mark.slow)])
COLUMNS = ("normal", "whole numbers", "two values", "constant", "heavy tails", "large", "tiny")
METHODS = ("auto", "ncut", "kway", "gaps", "average", "average-trimmed", "medoid")
TREES = 9
IMPOSSIBLE = ("groups of rows that the partitions tell apart", "had fewer distinct rows than clusters")


def column(kind, n, rng):
    values = {
        "normal": lambda: rng.normal(size=n) + rng.integers(0, 3, n) * 4,
        "whole numbers": lambda: rng.integers(-3, 4, n),
        "two values": lambda: rng.integers(0, 2, n),
        "constant": lambda: np.full(n, rng.normal()),
        "heavy tails": lambda: rng.standard_cauchy(n),
        "large": lambda: 1e6 + rng.normal(size=n),
        "tiny": lambda: 1e-30 * rng.normal(size=n),
    }
    return values[kind]()


@st.composite
def tables(draw):
    """Draw columns of several kinds; in some tables a few rows are repeated often."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=8))
    n = draw(st.integers(4, 60))
    X = np.column_stack([column(kind, n, rng) for kind in kinds]).astype(np.float64)
    return X[rng.integers(0, draw(st.integers(1, n)), n)] if draw(st.booleans()) else X


FORESTS = st.fixed_dictionaries(
    {"n_clusters": st.integers(1, 6), "random_state": st.integers(0, 99), "consensus": st.sampled_from(METHODS)},
    optional={
        "scale": st.sampled_from(["none", "standard", "range", "rank", "mixed"]),
        "n_base_clusters": st.sampled_from([None, (1, 4)]),
        "trees": st.sampled_from(["varied", "fine"]),
        "select_features": st.booleans(),
        "max_samples": st.sampled_from([None, 8]),
        "n_landmarks": st.sampled_from([None, 7]),
    },
)


def for_all(holds, examples, *inputs):
    """Check a property on random inputs, the same in every run."""

    @settings(max_examples=examples, derandomize=True, database=None)
    @given(st.tuples(*inputs))
    def check(case):
        holds(*case)

    check()


def fit(X, forest, sample_weight=None, **changes):
    """Return a fitted forest or, where the table cannot have so many groups, the message that says so."""
    counted = X if sample_weight is None else X[sample_weight > 0]
    k = min(forest["n_clusters"], len(np.unique(counted, axis=0)))
    try:
        return ClusterForest(**{"n_estimators": TREES, **forest, "n_clusters": k, **changes}).fit(
            X, sample_weight=sample_weight
        )
    except ValueError as error:
        assert any(known in str(error) for known in IMPOSSIBLE)  # noqa: PT017
        return str(error)


def assert_same(a, b, rows=slice(None)):
    """Check that b is the forest of some rows of a's table."""
    if isinstance(a, str):
        assert a == b
        return
    assert np.array_equal(a.labels_[rows], b.labels_)
    assert np.array_equal(a.partitions_[:, rows], b.partitions_)
    assert np.array_equal(a.kappas_, b.kappas_)
    for one, other in zip(a.estimators_features_, b.estimators_features_, strict=True):
        assert np.array_equal(one, other)


@EXAMPLES
def test_threads_do_not_change_a_bit(examples):
    def holds(X, forest):
        assert_same(fit(X, forest, n_jobs=1), fit(X, forest, n_jobs=3))

    for_all(holds, examples, tables(), FORESTS)


@pytest.fixture
def few(lower_limits):
    """Limits so low that ten rows are many."""
    lower_limits(large_rows=9, least_block_rows=1, sample_rows=25, least_sample=25)


@EXAMPLES
@pytest.mark.usefixtures("few")
def test_blocks_do_not_change_a_bit(examples, lower_limits):
    def holds(X, forest, rows):
        lower_limits(block_bytes=2**24)
        whole = fit(X, forest)
        lower_limits(block_bytes=8 * X.shape[1] * rows)
        assert_same(whole, fit(X, forest))

    for_all(holds, examples, tables(), FORESTS, st.integers(1, 30))


@EXAMPLES
@pytest.mark.parametrize("many", [False, True])
def test_the_order_of_rows_does_not_show(many, examples, request):
    if many:
        request.getfixturevalue("few")

    def holds(X, forest, seed):
        order = np.random.default_rng(seed).permutation(len(X))
        assert_same(fit(X, forest), fit(X[order], forest), order)

    for_all(holds, examples, tables(), FORESTS, st.integers(0, 99))


@EXAMPLES
def test_a_power_of_two_does_not_show(examples):
    """It holds where trees see all rows; those of a sample are chosen by a hash of their values."""

    def holds(X, forest, exponent):
        every = {**forest, "max_samples": None}
        assert_same(fit(X, every), fit(np.ldexp(X, exponent), every))

    for_all(holds, examples, tables(), FORESTS, st.integers(-400, 400))


@EXAMPLES
@pytest.mark.parametrize("many", [False, True])
def test_a_whole_weight_is_so_many_equal_rows(many, examples, request):
    if many:
        request.getfixturevalue("few")

    def holds(X, forest, seed):
        times = np.random.default_rng(seed).integers(0, 4, len(X))
        times[0] += 10
        X = np.resize(X, (max(len(X), 10), X.shape[1])) if many else X  # both are tables of many rows
        times = np.resize(times, len(X))
        rows = np.repeat(np.arange(len(X)), times)
        assert_same(fit(X, forest, sample_weight=times), fit(X[rows], forest), rows)

    for_all(holds, examples, tables(), FORESTS, st.integers(0, 99))


@EXAMPLES
def test_more_trees_keep_the_first_ones(examples):
    def holds(X, forest, more):
        fewer, further = fit(X, forest), fit(X, forest, n_estimators=TREES + more)
        if isinstance(fewer, str) or isinstance(further, str):
            return
        assert np.array_equal(fewer.partitions_, further.partitions_[:TREES])
        assert np.array_equal(fewer.kappas_, further.kappas_[:TREES])
        for one, other in zip(fewer.estimators_features_, further.estimators_features_, strict=False):
            assert np.array_equal(one, other)

    for_all(holds, examples, tables(), FORESTS, st.integers(1, 12))


@EXAMPLES
@pytest.mark.parametrize("many", [False, True])
def test_fitted_rows_are_predicted_as_they_are_labelled(many, examples, request):
    if many:
        request.getfixturevalue("few")

    def holds(X, forest):
        fitted = fit(X, forest)
        if isinstance(fitted, str):
            return
        assert np.array_equal(fitted.predict(X), fitted.labels_)
        soft = fitted.predict_proba(X)
        assert np.allclose(soft.sum(axis=1), 1, rtol=0, atol=1e-12)
        mine = fitted.memberships_
        assert np.allclose(mine.sum(axis=1), 1, rtol=0, atol=1e-12)
        assert np.array_equal(
            fitted.consensus_silhouette_ < 0, mine[np.arange(len(mine)), fitted.labels_] < mine.max(axis=1)
        )

    for_all(holds, examples, tables(), FORESTS)


@EXAMPLES
def test_a_prediction_does_not_depend_on_the_other_rows(examples):
    def holds(X, forest, seed):
        fitted = fit(X, forest)
        if isinstance(fitted, str):
            return
        rng = np.random.default_rng(seed)
        new = X[rng.integers(0, len(X), 30)] + rng.normal(size=(30, X.shape[1])) * X.std(axis=0)
        some = rng.permutation(30)[: rng.integers(1, 31)]
        for result in (fitted.predict, fitted.predict_proba, fitted.transform):
            assert np.array_equal(result(new)[some], result(new[some]))

    for_all(holds, examples, tables(), FORESTS, st.integers(0, 99))


@st.composite
def partitions(draw):
    """Draw a few clusterings of the same rows; -1 is "not clustered", but every row is clustered somewhere."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(2, 12)), draw(st.integers(4, 50))
    labels = rng.integers(-draw(st.integers(0, 1)), draw(st.integers(2, 6)), shape)
    labels[0] = np.abs(labels[0])
    return labels


def combined(labels, k, method):
    try:
        return consensus_clustering(labels, min(k, labels.shape[1]), method=method).tolist()
    except ValueError as error:
        assert re.search("tell apart|different clusters in the partitions", str(error))  # noqa: PT017
        return str(error)


@EXAMPLES
def test_names_of_labels_do_not_show(examples):
    def holds(labels, k, method, seed):
        rng = np.random.default_rng(seed)
        renamed = np.full_like(labels, -1)
        for member, other in zip(labels, renamed, strict=True):
            names = rng.permutation(1000)[: labels.max() + 1]
            other[member >= 0] = names[member[member >= 0]]
        assert combined(labels, k, method) == combined(renamed, k, method)

    methods = st.sampled_from([method for method in METHODS if method != "auto"])
    for_all(holds, examples, partitions(), st.integers(1, 5), methods, st.integers(0, 99))


CHANGES = {
    "order of features": lambda X, rng: X[:, rng.permutation(X.shape[1])],
    "constant columns": lambda X, rng: np.column_stack([X, np.ones((len(X), 5)), np.zeros(len(X))]),
    "float32": lambda X, rng: X.astype(np.float32),
    "translation": lambda X, rng: X + 1000.0 * rng.normal(size=X.shape[1]),
    "units": lambda X, rng: X * 10.0 ** rng.integers(-6, 7, X.shape[1]),
}


@cache
def score(seed, change=None):
    """Return the adjusted Rand index of a forest's labels and the true groups of a table, changed or not."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 10))
    X[:, :4] += 1.6 * rng.normal(size=(3, 4))[truth]
    table = X if change is None else CHANGES[change](X, rng)
    return adjusted_rand_score(truth, ClusterForest(3, n_estimators=50, random_state=seed).fit_predict(table))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seeds", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_what_changes_the_trees_does_not_change_how_good_they_are(change, seeds):
    before, after = np.array([[score(seed), score(seed, change)] for seed in range(seeds)]).T
    difference = after - before
    error = difference.std(ddof=1) / np.sqrt(seeds)
    assert 0.3 < before.mean() < 0.95  # neither hopeless nor too easy to show a difference
    assert error < 0.02
    assert abs(difference.mean()) <= 3 * error
