"""A description, a report or a picture is of the table that the forest was fitted on, rows in the same order."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans

from clusterforests import ClusterForest, PaperForest, describe, plots
from clusterforests.app.command_line.program import main
from clusterforests.app.report.json_values import PageLimits
from clusterforests.app.report.writing import gather, write_report


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 4)) + 3 * rng.integers(0, 3, size=(1500, 1))
    X[rng.random(X.shape) < 0.05] = np.nan
    return ClusterForest(3, n_estimators=20, random_state=0).fit(X), X


def test_the_fitted_table_is_known_again(fitted):
    forest, X = fitted
    assert forest.check_table(X) == []
    assert forest.check_table(pd.DataFrame(X)) == []


def test_another_order_of_the_rows_is_refused(fitted, tmp_path):
    forest, X = fitted
    for other in (X[::-1], np.random.default_rng(1).permutation(X), X + 3):
        for use in (forest.check_table, lambda X: describe(forest, X), lambda X: plots.cluster_profiles(forest, X)):
            with pytest.raises(ValueError, match=r"not the table that the forest was fitted on.* of 1,500 rows"):
                use(other)
    with pytest.raises(ValueError, match="not the table that the forest was fitted on"):
        write_report(forest, X[::-1], tmp_path / "page.html")
    with pytest.raises(ValueError, match="X has 1499 rows but the forest was fitted on 1500"):
        forest.check_table(X[1:])
    assert not (tmp_path / "page.html").exists()


def test_a_few_shuffled_rows_of_many_are_a_caveat(separated):
    forest, X = separated
    many = np.tile(X, (20, 1))
    forest = ClusterForest(3, n_estimators=10, random_state=0).fit(many)
    shuffled = many.copy()
    shuffled[9000:9300] = np.random.default_rng(0).permutation(many[9000:9300])
    assert "of 12,000 rows of this table into other clusters than the fit" in forest.check_table(shuffled)[0]


def test_a_few_other_rows_are_a_caveat(fitted):
    forest, X = fitted
    changed = X.copy()
    changed[:20] = X[[*np.flatnonzero(forest.labels_ != forest.labels_[0])[:20]]]
    said = "rows of this table into other clusters than the fit"
    assert said in describe(forest, changed).caveats[0]
    assert said not in " ".join(describe(forest, X).caveats)
    few = PageLimits(splits=2, numbers=2, numbers_of_many=2)
    assert all(said in view["caveats"][0] for view in gather(forest, changed, limits=few)["views"])
    assert not any(said in line for view in gather(forest, X, limits=few)["views"] for line in view["caveats"])


@pytest.mark.parametrize("clusterer", [KMeans(n_init=1), AgglomerativeClustering(linkage="single")])
def test_of_other_clusterers_only_many_rows_are_a_caveat(blobs, clusterer):
    forest = PaperForest(3, n_estimators=5, estimator=clusterer, random_state=0).fit(blobs[0])
    assert forest.check_table(blobs[0]) == []
    (said,) = forest.check_table(blobs[0][::-1])
    assert "rows of this table into other clusters than the fit: it may be another table, or in another order" in said


def test_the_command_refuses_a_shuffled_file(fitted, tmp_path, capsys):
    _, X = fitted
    frame = pd.DataFrame(X[:200], columns=list("abcd"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "shuffled.csv", index=False)
    model, page = str(tmp_path / "m.cf"), str(tmp_path / "page.html")
    assert main(["fit", str(tmp_path / "t.csv"), "--clusters", "3", "--trees", "10", "--model", model, "--quiet"]) == 0
    assert main(["report", model, str(tmp_path / "shuffled.csv"), "--out", page]) == 1
    assert "rows are in another order" in capsys.readouterr().err
    assert main(["report", model, str(tmp_path / "t.csv"), "--out", page]) == 0


@pytest.mark.parametrize(
    ("settings", "known"),
    [
        ({}, {"must_link": [(i, 75 + i) for i in range(30)]}),
        ({}, {"known_labels": np.repeat([0, 1, 2], [40, 35, 30])}),
        ({"contamination": "auto"}, {"known_labels": np.where(np.arange(105) == 0, 0, -1)}),
    ],
)
def test_rows_of_which_something_is_known_are_not_compared(settings, known):
    X = np.random.default_rng(0).normal(size=(105, 4)) + 8 * np.repeat(np.eye(3, 4), [40, 35, 30], axis=0)
    X[0] = 60
    forest = ClusterForest(3, n_estimators=20, random_state=0, **settings).fit(X, **known)
    assert forest.check_table(X) == []


@pytest.fixture(scope="module")
def separated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)) + 8 * rng.integers(0, 3, size=(600, 1)) * [1, 1, 1, 0]
    return ClusterForest(3, n_estimators=20, random_state=0).fit(X), X
