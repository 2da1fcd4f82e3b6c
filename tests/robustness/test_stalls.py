"""Nothing waits for what never comes, or counts to a billion because someone wrote that number."""

import os

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.cli.program import main
from clusterforests.diagnostics import cluster_tree


def test_a_range_of_numbers_of_clusters_may_be_far_too_long(tmp_path, blobs, capsys):
    X = blobs[0][::3]
    forest = ClusterForest(range(2, 2**70), n_estimators=10, random_state=0).fit(X)
    assert forest.n_clusters_evidence_.candidates[-1] < len(X)
    assert cluster_tree(forest, n_clusters=range(2, 10**12)).n_clusters[0] == 2
    forest.save(tmp_path / "m.cf")
    assert ClusterForest.load(tmp_path / "m.cf").n_clusters == range(2, 2**70)
    table = tmp_path / "t.csv"
    np.savetxt(table, X, delimiter=",", header=",".join("abcdef"), comments="")
    assert main(["fit", str(table), "--clusters", "2-100000000", "--trees", "10"]) == 0
    assert "25 rows" in capsys.readouterr().out


def test_a_model_is_not_read_from_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is not a regular file"):
        ClusterForest.load(tmp_path / "pipe")
