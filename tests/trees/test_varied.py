"""Trees of several kinds, planned before they are made."""

import numpy as np
import pytest
import reference

from clusterforests import ClusterForest
from clusterforests.table.feature_columns import numeric_table
from clusterforests.table.scaling import ScaledRows, fit_scaling
from clusterforests.trees.kinds import FINE, RANKS, WHITENED, WHOLE, kinds_of_trees, plan_trees, with_fine_trees

RNG = np.random.default_rng(0)


def plan(X, kinds, scale="mixed", seed=0):
    scaling = fit_scaling(numeric_table(X), scale)
    clusters = np.full(len(kinds), 4, np.int32)
    trees, projections = plan_trees(
        ScaledRows(scaling, X, np.arange(len(X))), np.ones(len(X)), scaling.views, kinds, clusters, seed
    )
    return trees, scaling.project(projections)


def test_whole_trees_see_all_features_and_components_of_many():
    trees, scaling = plan(RNG.normal(size=(100, 6)), [WHOLE] * 3)
    assert all((columns == np.arange(6)).all() for columns in trees.columns)
    assert len(scaling.projections) == 0
    trees, scaling = plan(RNG.normal(size=(300, 50)), [WHOLE, FINE])
    assert (trees.columns[0] == 100 + np.arange(20)).all()
    assert (trees.columns[1] == trees.columns[0]).all()
    assert (trees.features[0] == np.arange(50)).all()


def test_ranks_are_drawn_from_the_second_view():
    trees, _ = plan(RNG.normal(size=(100, 9)), [RANKS] * 9)
    assert all((columns == 9 + features).all() for columns, features in zip(trees.columns, trees.features, strict=True))
    assert len({features.tobytes() for features in trees.features}) >= 6  # each third has all
    trees, _ = plan(RNG.normal(size=(100, 30)), [RANKS] * 9)
    assert len({features.tobytes() for features in trees.features}) == 3  # three trees share a draw of many
    trees, _ = plan(RNG.normal(size=(100, 9)), [RANKS] * 3, scale="standard")
    assert all((columns == features).all() for columns, features in zip(trees.columns, trees.features, strict=True))


@pytest.mark.parametrize("p", [5, 40])
def test_whitened_draws_have_no_correlations(p):
    X = RNG.normal(size=(400, p)) @ RNG.normal(size=(p, p))
    trees, scaling = plan(X, [WHITENED] * 4)
    table = scaling.apply(X)
    white = table[:, trees.columns[0]]
    np.testing.assert_allclose(np.cov(white.T, bias=True), np.eye(white.shape[1]), atol=1e-4)
    given = scaling.projections
    projected = reference.project(table[:, : 2 * p], given.starts, given.columns, given.coefficients)
    assert (table[:, 2 * p :] == projected).all()


def test_fine_trees_have_more_clusters_than_the_root_of_the_rows():
    kinds = kinds_of_trees(50, fine=True)
    clusters = with_fine_trees(np.full(50, 3, np.int32), kinds, 900, 900, 0)
    fine = np.array(kinds) == FINE
    assert fine.mean() == 0.3
    assert (clusters[~fine] == 3).all()
    assert clusters[fine].min() >= 30
    assert clusters[fine].max() <= 75
    assert FINE not in kinds_of_trees(50, fine=False)


def test_some_trees_of_a_plan():
    trees, _ = plan(RNG.normal(size=(60, 5)), kinds_of_trees(10, fine=False))
    assert len(trees.some(3, 7).features) == 4
    assert trees.some(3, None).columns[0] is trees.columns[3]


def test_trees_see_what_they_say():
    """Each tree is the nearest centre in its columns."""
    X = RNG.normal(size=(80, 30)) + 3 * np.arange(80)[:, None] // 20
    forest = ClusterForest(4, n_estimators=12, random_state=0).fit(X)
    table = forest._predictor.scaling.apply(X)
    exponent, origin, _ = forest._predictor.trees.coordinates
    for labels, columns, centers in zip(
        forest.partitions_, forest._predictor.trees.columns, forest._predictor.trees.centers, strict=True
    ):
        values = (centers + origin[columns]) * 2.0 ** exponent[columns]
        assert (reference.nearest(table[:, columns], values) == labels).all()


@pytest.mark.filterwarnings("ignore:The clusters repeat")  # of eight different rows there is not much else to find
def test_yes_no_answers_get_trees_of_fewer_clusters():
    X = RNG.integers(0, 2, size=(300, 3)).astype(float)
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(X)
    assert len(forest.partitions_) == 20
    assert forest.partitions_.max() <= 7
