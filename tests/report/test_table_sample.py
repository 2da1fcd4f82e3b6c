"""Which rows of a large table the report reads."""

import numpy as np
import pandas as pd
import pytest

from clusterforests import ClusterForest
from clusterforests.report.limits import PageLimits
from clusterforests.story.table_sample import representative_rows


def test_large_table_is_read_in_part(report):
    X = np.random.default_rng(0).normal(size=(900, 3)) + 9 * np.repeat([[0], [1]], 450, axis=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(frame)
    limits = PageLimits(splits=2, large_rows=500, sample_rows=200, numbers=1)
    data = report(forest, frame, limits=limits)[0]
    found = data["features"]
    assert {f["name"] for f in found["features"]} == {"a", "b", "c"}
    rows = representative_rows(forest.labels_, 200, 5)
    inside = forest.labels_[rows] == 0
    told = next(trait for trait in data["view"]["story"][0]["traits"] if trait["name"] == "a")
    assert float(told["here"]) == pytest.approx(np.median(X[rows, 0][inside]), abs=0.06)
    assert float(told["others"]) == pytest.approx(np.median(X[rows, 0][~inside]), abs=0.06)
    with pytest.raises(ValueError, match="feature names"):
        report(forest, frame.rename(columns={"a": "z"}), limits=limits)
    with pytest.raises(ValueError, match="X has 2 columns but the forest was fitted on 3"):
        report(forest, frame[["a", "b"]], limits=limits)


def test_the_sample_keeps_every_cluster():
    labels = np.repeat([0, 1, 2], [9000, 990, 10])
    rows = representative_rows(labels, 100, 4)
    assert np.bincount(labels[rows]).tolist() == [90, 9, 4]
    assert (np.diff(rows) > 0).all()
    assert len(representative_rows(np.arange(1000), 100, 4)) == 100
    assert representative_rows(labels[:5], 100, 4).tolist() == [0, 1, 2, 3, 4]
