"""Stability, PAC, membership and consensus are the same numbers wherever they are shown."""

import contextlib
import io
import json

import matplotlib.pyplot as plt
import numpy as np
import pytest

from clusterforests import ClusterForest, diagnostics, plots
from clusterforests.cli.program import main
from clusterforests.report.json_values import unpacked
from clusterforests.report.writing import gather

N = 150
SHOWN = 5e-4  # the page rounds to four digits


def far_groups():
    """Three groups that no tree of three clusters or more mistakes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 4)) + 50 * np.repeat([[0], [1], [2]], N // 3, axis=0)


def without_groups():
    return np.random.default_rng(1).normal(size=(N, 4))


class Said:
    """What every place says of one table."""

    def __init__(self, X, folder):
        self.forest = ClusterForest(3, n_estimators=60, random_state=0).fit(X)
        page = gather(self.forest, X)
        (self.page,) = [view for view in page["views"] if view["k"] == 3]
        self.rows = {key: unpacked(part) for key, part in self.page["rows"].items()}
        self.parts = page["rows"]["parts"]
        self.legend = plots.consensus_cdf(self.forest).lines[0].get_label()
        bars = plots.item_consensus(self.forest)
        self.drawn = np.array([line.get_segments()[0][0][0] for line in bars.collections])
        plt.close("all")
        table, labels, printed = str(folder / "table.npy"), str(folder / "labels.csv"), io.StringIO()
        np.save(table, X)
        with contextlib.redirect_stdout(printed):
            assert main(["fit", table, "--clusters", "3", "--trees", "60", "--json", "--out", labels]) == 0
        self.json = json.loads(printed.getvalue())
        self.column = np.loadtxt(labels, delimiter=",", skiprows=1, usecols=2)


@pytest.fixture(scope="module", params=[far_groups, without_groups])
def said(request, tmp_path_factory):
    return Said(request.param(), tmp_path_factory.mktemp("words")), request.param is far_groups


@pytest.fixture(scope="module")
def cuts(said):
    return diagnostics.half_cuts(said[0].forest)


def test_stability(said, cuts):
    places, perfect = said
    forest = places.forest
    mean = forest.stability().mean
    assert diagnostics.stability(forest).mean == diagnostics.stability(cuts).mean == mean
    assert places.json["stability"] == mean
    assert places.page["stability"]["mean"] == pytest.approx(mean, rel=SHOWN)
    assert mean == 1 if perfect else mean < 0.6


def test_pac(said, cuts):
    places, perfect = said
    share = diagnostics.pac(places.forest)
    assert diagnostics.pac(cuts) == diagnostics.pac(diagnostics.consensus_cdf(places.forest)) == share
    assert places.json["pac"] == share
    assert places.page["pairs"]["pac"] == pytest.approx(share, rel=SHOWN)
    assert places.legend == f"K = 3, PAC {share:.2f}"
    assert share == 0 if perfect else share > 0.2


def test_areas(said, cuts):
    places, perfect = said
    area = diagnostics.cdf_area(places.forest)
    assert diagnostics.cdf_area(cuts) == area
    assert diagnostics.delta_area([places.forest]).tolist() == [area]
    if perfect:  # the share of pairs of rows in different groups
        assert area == pytest.approx(100 / 149)


def test_membership(said):
    places, perfect = said
    forest, every = places.forest, np.arange(N)
    soft, labels = forest.memberships_, forest.labels_
    own = soft[every, labels]
    assert np.array_equal(diagnostics.memberships(forest), soft)
    assert np.array_equal(diagnostics.memberships(forest.partitions_, labels), soft)
    assert places.rows["membership"] / places.parts == pytest.approx(own, abs=SHOWN / 5)
    assert places.column == pytest.approx(own, abs=1e-4)
    assert np.array_equal(soft.argmax(axis=1) != labels, forest.silhouette_ < 0)
    # A tree of two clusters has to join two of the three groups, so that 1 is not quite reached.
    assert own.mean() > 0.98 if perfect else 1 / 3 < own.mean() < 0.8


def test_consensus(said):
    places, perfect = said
    forest = places.forest
    own = diagnostics.item_consensus(forest)
    means = diagnostics.cluster_consensus(forest)
    assert np.array_equal(own, forest.item_consensus_)
    assert np.array_equal(means, forest.cluster_consensus_)
    assert means == pytest.approx([own[forest.labels_ == c].mean() for c in range(3)])
    assert [cluster["membership"] for cluster in places.page["clusters"]] == pytest.approx(means, rel=SHOWN)
    assert np.diagonal(places.page["between"]) == pytest.approx(means, rel=SHOWN)
    assert places.json["cluster_consensus"] == pytest.approx(means)
    assert places.drawn == pytest.approx(means)
    assert means.min() > 0.97 if perfect else means.max() < 0.9


def test_silhouette(said):
    places, perfect = said
    found = diagnostics.consensus_silhouette(places.forest)
    assert np.array_equal(found, places.forest.silhouette_)
    own, other = (places.rows[key] / places.parts for key in ("membership", "next_membership"))
    assert (own - other) / np.maximum(own, other) == pytest.approx(found, abs=SHOWN)
    doubtful = sum(cluster["doubtful"] for cluster in places.page["clusters"])
    assert doubtful == (found < 0).sum()
    assert found.mean() > 0.98 if perfect else found.mean() < 0.75
