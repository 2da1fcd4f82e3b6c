"""Nothing waits for what never comes, or counts to a billion because someone wrote that number."""

import os

import numpy as np
import pandas as pd
import pytest

from clusterforests import ClusterForest, TableReader
from clusterforests.app.command_line.program import main


def test_a_range_of_numbers_of_clusters_may_be_far_too_long(tmp_path, blobs, capsys):
    X = blobs[0][::3]
    forest = ClusterForest(range(2, 2**70), n_estimators=10, random_state=0).fit(X)
    assert forest.n_clusters_evidence_.candidates[-1] < len(X)
    assert forest.cluster_tree(n_clusters=range(2, 10**12)).n_clusters[0] == 2
    forest.save(tmp_path / "m.cf")
    assert ClusterForest.load(tmp_path / "m.cf").n_clusters == range(2, 2**70)
    table = tmp_path / "t.csv"
    np.savetxt(table, X, delimiter=",", header=",".join("abcdef"), comments="")
    assert main(["fit", str(table), "--clusters", "2-100000000", "--trees", "10"]) == 0
    assert "25 rows" in capsys.readouterr().out


@pytest.mark.parametrize("levels", [range(10**8), range(2**70), list(map(str, range(10_001)))])
def test_a_list_of_levels_may_be_far_too_long(blobs, levels):
    """A model of a few kilobytes can name such a range: it must not become a list."""
    with pytest.raises(ValueError, match="at most 10,000"):
        TableReader({"a": levels}).fit(pd.DataFrame(blobs[0][:, :2], columns=["a", "b"]))


def test_a_range_may_be_the_order_of_levels():
    frame = pd.DataFrame({"a": [1, 2, 3, 4, 5] * 8, "b": np.arange(40.0) % 7})
    assert TableReader({"a": range(1, 6)}).fit(frame).columns_[0].kind == "ordered"


def test_a_model_is_not_read_from_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is not a regular file"):
        ClusterForest.load(tmp_path / "pipe")
