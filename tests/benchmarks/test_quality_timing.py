"""The settings that a fit chose, given as parameters, make the same fit."""

import pytest
from quality_timing import settings_of

from clusterforests import ClusterForest


@pytest.mark.parametrize("settings", [{}, {"trees": "grown"}, {"select_features": False}])
def test_what_was_chosen_can_be_given(blobs, settings):
    automatic = ClusterForest(3, n_estimators=20, random_state=0, **settings).fit(blobs[0])
    given = ClusterForest(random_state=0, **settings_of(automatic)).fit(blobs[0])
    assert (given.labels_ == automatic.labels_).all()
    assert {name: choice.value for name, choice in given.chosen_params_.items()} == {
        name: choice.value for name, choice in automatic.chosen_params_.items()
    }
