"""Models that an earlier version saved still say the same."""

import json

import numpy as np
import pytest
from kept_models import FOLDER, FORESTS

from clusterforests import ClusterForest


@pytest.mark.parametrize("name", FORESTS)
def test_a_kept_model_says_what_it_said(name, record_property):
    forest = ClusterForest.load(FOLDER / f"{name}.cf")
    expected = json.loads((FOLDER / f"{name}.json").read_text())
    rows = FORESTS[name][2]
    assert forest.n_clusters_ == expected["n_clusters"]
    assert forest.labels_.tolist() == expected["labels"]
    assert forest.predict(rows).tolist() == expected["predicted"]
    np.testing.assert_allclose(forest.predict_proba(rows), expected["memberships"], rtol=0, atol=1e-8)
    assert len(set(expected["predicted"])) == forest.n_clusters_
    record_property("models loaded", 1)


def test_features_of_a_model_that_did_not_test_them_are_not_known():
    forest = ClusterForest.load(FOLDER / "default.cf")
    assert np.isnan(forest.feature_importances_).all()
    assert np.isnan(forest.feature_pvalues_).all()
    assert len(forest.feature_importances_) == len(forest.feature_pvalues_) == 6


def test_every_kept_model_is_loaded():
    assert {path.stem for path in FOLDER.glob("*.cf")} == set(FORESTS)
