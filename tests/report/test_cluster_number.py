"""What the page says of the number of clusters."""

import numpy as np
import pytest

from clusterforests import ClusterForest, diagnostics
from clusterforests.n_clusters.evidence import MEASURES
from clusterforests.report.limits import PageLimits

FEW_SPLITS = PageLimits(splits=2)


def test_a_number_that_was_chosen(report, three):
    _, X, _ = three
    forest = ClusterForest(range(2, 6), n_estimators=20, random_state=0).fit(X)
    found = forest.n_clusters_evidence_
    entry = report(forest, X, limits=FEW_SPLITS)[0]["number"]
    assert (entry["chosen"], entry["reason"], entry["value"]) == (True, found.reason, 3)
    assert entry["candidates"] == [2, 3, 4, 5]
    assert list(entry["evidence"]) == ["mean_rank", *MEASURES, "valley_p_value", "stability", "pac"]
    halves = [forest.at(k).half_cuts(FEW_SPLITS.splits) for k in found.candidates]
    expected = found.evidence | {
        "stability": [diagnostics.stability(half).mean for half in halves],
        "pac": [diagnostics.pac(half) for half in halves],
    }
    for name, values in entry["evidence"].items():
        shown = [np.inf if value is None else value for value in values]  # JSON has no infinity
        assert shown == pytest.approx(expected[name], rel=1e-3, abs=1e-4)


def test_another_number_of_the_same_forest_was_given(report, three):
    forest, X, _ = three
    chosen = ClusterForest(range(2, 6), n_estimators=20, random_state=0).fit(X)
    for cut in (forest.at(4), chosen.at(4)):
        data = report(cut, X)[0]
        assert (data["number"]["chosen"], data["number"]["value"]) == (False, 4)
        assert data["cautions"][0].startswith("4 clusters were requested")
