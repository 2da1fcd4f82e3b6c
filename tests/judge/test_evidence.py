"""Ranks of numbers of clusters, by hand, and how they are told."""

import sys

import numpy as np
import pytest

from clusterforests.judge.choice import _reason
from clusterforests.judge.evidence import EVIDENCE, MEASURES, NClustersEvidence, mean_ranks, ranked_measures


def measured(silhouette, ratio, new_rows, p_values):
    named = zip((*MEASURES, "valley_p_value"), (silhouette, ratio, new_rows, p_values), strict=True)
    return {name: np.array(values, dtype=float) for name, values in named}


def test_mean_ranks_by_hand():
    found = mean_ranks([2, 3, 4], measured([0.5, 0.6, 0.4], [10, 30, 20], [0.9, 0.8, 0.8], [1, 1, 0.5]))
    root = np.sqrt(0.5)  # of the rank of the second of three
    np.testing.assert_allclose(found, [(root + 1 + 0) / 3, (0 + 0 + root) / 3, (1 + root + root) / 3])


def test_what_is_missing_is_worst():
    found = mean_ranks([2, 3, 4], measured([0.5, np.nan, 0.4], [1, np.nan, 0], [0.9, np.nan, 0.8], [1, 1, np.nan]))
    np.testing.assert_allclose(found, [0, 1, np.sqrt(0.5)])


def test_valleys_rule_lower_numbers_out_and_prefer_the_next():
    alike = measured([0.5] * 4, [10] * 4, [0.9] * 4, [0.001, 0.01, 0.3, 0.03])
    assert len(ranked_measures([2, 3, 4, 5], alike)) == 4
    found = mean_ranks([2, 3, 4, 5], alike)
    assert found[0] == np.inf
    np.testing.assert_allclose(found[1:], [0, np.sqrt(1 / 3) / 4, np.sqrt(2 / 3) / 4])
    none = measured([0.5] * 4, [10] * 4, [0.9] * 4, [0.03] * 4)
    assert len(ranked_measures([2, 3, 4, 5], none)) == 3
    assert not mean_ranks([2, 3, 4, 5], none).any()


def test_one_number_is_best():
    np.testing.assert_array_equal(mean_ranks([3], measured([0.1], [1], [np.nan], [1])), [0])


def reason(numbers, measures):
    return _reason(numbers, measures, mean_ranks(numbers, measures))


def test_reasons_name_the_number_and_the_runner_up():
    clear = measured([0.5, 0.9, 0.4], [10, 30, 20], [0.8, 0.9, 0.2], [1, 1, 1])
    assert reason([2, 3, 7], clear) == "3 clusters: clearest by 3 of 3 measures; 2 is next."
    apart = clear | {"valley_p_value": np.array([1e-9, 1e-9, 1])}
    assert reason([2, 3, 7], apart) == "3 clusters: clearest by 4 of 4 measures; 7 is next."
    tied = measured([0.9, 0.8], [10, 20], [0.5, 0.5], [1, 1])
    assert reason([2, 3], tied) == "2 clusters: clearest by 2 of 3 measures; 3 is nearly as good."
    second = measured([9, 8, 7, 1], [7, 8, 1, 9], [1, 8, 9, 7], [1] * 4)
    assert reason([2, 3, 4, 5], second) == "3 clusters: best on average over 3 measures; 2 is nearly as good."
    assert reason([4], measured([0.5], [1], [1], [1])) == "4 clusters: the only number that was judged."


@pytest.fixture
def evidence():
    return NClustersEvidence(
        3, (2, 3), {name: np.array([i, np.nan]) for i, name in enumerate(EVIDENCE)}, "3 clusters.", np.arange(2)
    )


def test_the_frame_has_a_line_for_each_candidate(evidence):
    frame = evidence.to_frame()
    assert frame.index.tolist() == [2, 3]
    assert frame.index.name == "n_clusters"
    assert tuple(frame.columns) == EVIDENCE
    assert frame.loc[2].tolist() == [0, 1, 2, 3, 4, 5]
    assert frame.loc[3].isna().all()


def test_the_frame_needs_pandas(evidence, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        evidence.to_frame()
