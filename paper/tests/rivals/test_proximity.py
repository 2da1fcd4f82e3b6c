"""Random-forest proximities."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from paper.rivals.proximity import RandomForestProximity


@parametrize_with_checks([RandomForestProximity(n_estimators=5, n_forests=2)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def dependent_table():
    """Two groups along different lines: only how columns depend on each other tells a table from its shuffled copy."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [70, 50])
    common = rng.normal(size=(120, 1)) * 0.3
    return np.hstack([common + 3 * truth[:, None] + rng.normal(size=(120, 4)) * 0.3, rng.normal(size=(120, 2))]), truth


def test_proximity_finds_groups():
    X, truth = dependent_table()
    fitted = RandomForestProximity(2, n_estimators=50, n_forests=2, random_state=0).fit(X)
    assert adjusted_rand_score(truth, fitted.labels_) > 0.9
    assert (np.diff(np.bincount(fitted.labels_)) <= 0).all()
    assert fitted.labels_[fitted.medoid_indices_].tolist() == [0, 1]
    assert fitted.partitions_.shape == (100, 120)
    assert fitted.partitions_.min() == 0
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert set(np.argsort(fitted.feature_importances_)[:2]) == {4, 5}
    distances = np.sqrt(1 - (fitted.partitions_[:, :, None] == fitted.partitions_[:, None, :]).mean(axis=0))
    assert (
        distances[fitted.medoid_indices_].min(axis=0) == distances[fitted.medoid_indices_[fitted.labels_], range(120)]
    ).all()


def test_proximity_copies_keep_the_margins(monkeypatch):
    seen = []

    class Forest:
        feature_importances_ = np.ones(6) / 6

        def __init__(self, n_estimators, *, n_jobs, random_state):
            self.seed = random_state

        def fit(self, X, y):
            seen.append((X, y, self.seed))
            return self

        def apply(self, X):
            return np.argsort(np.argsort(X[:, :1], axis=0), axis=0)

    monkeypatch.setattr("paper.rivals.proximity.RandomForestClassifier", Forest)
    X, _ = dependent_table()
    RandomForestProximity(2, n_forests=3, random_state=0).fit(X)
    X = np.argsort(np.argsort(X, axis=0), axis=0)  # ranks
    assert len({seed for _, _, seed in seen}) == 3
    copies = [both[120:] for both, _, _ in seen]
    for (both, y, _), copy in zip(seen, copies, strict=True):
        assert (both[:120] == X).all()
        assert y.tolist() == [0] * 120 + [1] * 120
        assert all(np.isin(copy[:, j], X[:, j]).all() for j in range(6))
        assert abs(np.corrcoef(copy.T)[0, 1]) < 0.3 < np.corrcoef(X.T)[0, 1]
        assert len(np.unique(copy[:, 0])) < 100  # with replacement
    assert (copies[0] != copies[1]).any()


@pytest.mark.parametrize("change", [{"n_estimators": 11}, {"n_forests": 3}, {"random_state": 1}, {"n_clusters": 3}])
def test_proximity_parameters_have_effects(change):
    X, _ = dependent_table()
    plain = {"n_clusters": 2, "n_estimators": 10, "n_forests": 2, "random_state": 0}

    def outcome(**parameters):
        fitted = RandomForestProximity(**parameters).fit(X)
        return fitted.partitions_.tobytes(), fitted.labels_.tobytes()

    assert outcome(**plain) == outcome(**plain, n_jobs=2)
    assert outcome(**plain) != outcome(**(plain | change))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_forests": 0}, "n_forests=0 is not allowed"),
        ({"n_estimators": 60_000, "n_forests": 2}, "must be at most 65535"),
        ({"n_clusters": 121}, "n_clusters=121 is more than the number of rows, n_samples=120"),
    ],
)
def test_bad_proximity_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomForestProximity(**parameters).fit(dependent_table()[0])
