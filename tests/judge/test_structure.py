"""Is anything there: never in tables without clusters, always where there are clear ones."""

import numpy as np
import pytest

from clusterforests.judge.structure import CLEAR_STRUCTURE, KINDS, find_structure, tidy_points


def structure(X, categorical=None, seed=0):
    X = np.asarray(X, dtype=float)
    p = X.shape[1]
    marked = np.zeros(p, dtype=bool) if categorical is None else categorical
    return find_structure(X, np.arange(p, dtype=np.int32), marked, seed)


def cloud(rng, shape=(400, 5)):
    return rng.normal(size=shape)


WITHOUT_CLUSTERS = {
    "normal": cloud,
    "correlated": lambda rng: cloud(rng) + 2 * cloud(rng, (400, 1)),
    "uniform": lambda rng: rng.uniform(size=(400, 3)),
    "t3": lambda rng: rng.standard_t(3, (400, 4)),
    "elliptical t3": lambda rng: cloud(rng) @ cloud(rng, (5, 5)) / np.sqrt(rng.chisquare(3, (400, 1))),
    "lognormal": lambda rng: np.exp(cloud(rng, (400, 4))),
    "correlated lognormal": lambda rng: np.exp(cloud(rng, (400, 4)) + cloud(rng, (400, 1))),
    "wide": lambda rng: cloud(rng, (60, 150)),
    "scale": lambda rng: rng.integers(1, 6, (400, 4)),
    "one column": lambda rng: cloud(rng, (400, 1)),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", WITHOUT_CLUSTERS)
def test_nothing_is_found_in_tables_without_clusters(kind, seed):
    found = structure(WITHOUT_CLUSTERS[kind](np.random.default_rng(seed)), seed=seed)
    assert not found.found
    assert found.clearness < CLEAR_STRUCTURE
    assert found.like in KINDS


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("p", [2, 6])
def test_three_clear_groups_are_found(p, seed):
    rng = np.random.default_rng(seed)
    X = cloud(rng, (300, p))
    X += np.tile([[0, 9], [9, 18], [18, 0]], p // 2)[np.arange(300) % 3]
    found = structure(X, seed=seed)
    assert found.found
    assert found.clearness >= CLEAR_STRUCTURE


def test_a_single_column_is_left_to_its_valleys():
    """Any distribution is that of a table without clusters here: the copula keeps it."""
    assert not structure(cloud(np.random.default_rng(0), (300, 1)) + 20 * (np.arange(300) % 2)[:, None]).found


def levels(members, n_levels):
    return np.eye(n_levels)[members]


def test_only_categories():
    rng = np.random.default_rng(0)
    owners = np.repeat(np.arange(4, dtype=np.int32), 3)
    members = rng.integers(0, 3, 400)
    random = np.hstack([levels(rng.integers(0, 3, 400), 3) for _ in range(4)])
    wrong = rng.random((4, 400)) < 0.1
    agreeing = np.hstack([levels(np.where(w, rng.integers(0, 3, 400), members), 3) for w in wrong])
    assert not find_structure(random, owners, np.ones(12, bool), 0).found
    assert find_structure(agreeing, owners, np.ones(12, bool), 0).found


def test_a_random_category_beside_noise_is_no_structure():
    rng = np.random.default_rng(0)
    X = np.hstack([cloud(rng), levels(rng.integers(0, 4, 400), 4)])
    owners = np.array([0, 1, 2, 3, 4, 5, 5, 5, 5], dtype=np.int32)
    assert not find_structure(X, owners, owners == 5, 0).found


@pytest.mark.parametrize("X", [np.ones((40, 3)), np.arange(30.0).reshape(15, 2), np.ones((40, 0))])
def test_too_small_to_tell(X):
    assert structure(X) == (False, 0.0, "a table that is too small")


def test_the_seed_determines_the_answer():
    X = cloud(np.random.default_rng(0)) ** 3
    assert structure(X) == structure(X)
    assert structure(X).clearness != structure(X, seed=1).clearness


def test_many_features_are_tested_by_some():
    rng = np.random.default_rng(0)
    groups = np.arange(200)[:, None] % 2
    assert structure(cloud(rng, (200, 300)) + 2 * groups).found
    assert not structure(cloud(rng, (200, 300))).found


def test_places_are_columns_or_components():
    rng = np.random.default_rng(0)
    owners = np.arange(30, dtype=np.int32)
    few, many = (tidy_points(cloud(rng, (100, p)), owners[:p], np.zeros(p, bool), 0) for p in (3, 30))
    np.testing.assert_allclose(few.std(axis=0), 1)
    assert many.shape == (100, 20)
    assert (np.diff(many.std(axis=0)) < 1e-9).all()
