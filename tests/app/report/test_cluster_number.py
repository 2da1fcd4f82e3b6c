"""What the page says of the number of clusters."""

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.inspection import pac, stability
from clusterforests.judge.evidence import MEASURES


def test_a_number_that_was_chosen(report, three):
    _, X, _ = three
    forest = ClusterForest(range(2, 6), n_estimators=20, random_state=0).fit(X)
    found = forest.n_clusters_evidence_
    entry = report(forest, X)[0]["number"]
    assert (entry["chosen"], entry["reason"], entry["value"]) == (True, found.reason, 3)
    assert entry["candidates"] == [2, 3, 4, 5]
    for name in ("mean_rank", *MEASURES, "valley_p_value"):
        values = [np.inf if value is None else value for value in entry["evidence"][name]]
        assert values == pytest.approx(
            np.where(np.isfinite(found.evidence[name]), found.evidence[name], np.inf), rel=1e-3
        )
    cuts = [forest.recut(k).half_cuts(2) for k in entry["candidates"]]
    assert entry["evidence"]["stability"] == pytest.approx([stability(cut).mean for cut in cuts], rel=1e-3)
    assert entry["evidence"]["pac"] == pytest.approx([pac(cut) for cut in cuts], rel=1e-3)


def test_another_number_of_the_same_forest_was_given(report, three):
    forest, X, _ = three
    chosen = ClusterForest(range(2, 6), n_estimators=20, random_state=0).fit(X)
    for cut in (forest.recut(4), chosen.recut(4)):
        data = report(cut, X)[0]
        assert (data["number"]["chosen"], data["number"]["value"]) == (False, 4)
        assert data["view"]["caveats"][0].startswith("4 clusters were requested")
