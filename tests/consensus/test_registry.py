"""What the registry says of every method, and what the methods of the ensemble literature promise."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noisy_partitions import SEVEN, SEVEN_ANSWER, noisy, small_partitions, uncollapsed
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, consensus_clustering
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import collapse
from clusterforests.consensus.cut import ConsensusGraph, cut_graph
from clusterforests.consensus.methods import METHODS, AtGapsOr, FromAffinity, MedoidOf, Refined, works_without_matrix
from clusterforests.consensus.placement import Embedding, MostLinked, MostShared, NearestNode, Walk
from clusterforests.consensus.settings import CutSettings


def cut_nodes(backend, signatures, settings):
    return cut_graph(ConsensusGraph(backend, signatures, settings), settings)


METHODS_OF_ENSEMBLES = ["cspa", "hbgf", "mcla", "mixture", "agreement"]


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_placed_as_the_method_says(method):
    """Cuts by trees walk, K-way cuts have centres, refined ones count links, others take shares or a nearest node."""
    labels, truth = noisy()
    nodes = replace(uncollapsed(labels), values=truth[:, None] + labels[:2].T)
    kept = cut_nodes(CpuBackend(), nodes, CutSettings(3, method, 0.4, "auto", None))
    assert kept.method in METHODS
    assert (kept.method == method) != isinstance(METHODS[method], MedoidOf | AtGapsOr)
    assert (kept.tree is not None) == kept.method.startswith("ncut")
    expected = {"kway": Embedding, "refined": MostLinked, "single": NearestNode, "gaps": NearestNode}.get(
        kept.method, Walk if kept.tree else MostShared
    )
    forest = ClusterForest(3, n_estimators=20, consensus=kept.method, random_state=0)
    X = np.random.default_rng(0).normal(size=(60, 3)) + 5 * np.arange(60)[:, None] // 20
    assert type(forest.fit(X)._placement.rule) is expected


def test_a_medoid_is_of_methods_that_there_are():
    for method in METHODS.values():
        if isinstance(method, MedoidOf):
            assert set(method.methods) <= set(METHODS)


def test_only_cuts_of_the_regularised_graph_need_no_matrix():
    for name, method in METHODS.items():
        assert works_without_matrix(name) == isinstance(method, FromAffinity | Refined)
    assert not works_without_matrix("auto")


@pytest.mark.parametrize("method", METHODS_OF_ENSEMBLES)
@given(partitions=small_partitions(-1, rows=9), k=st.integers(1, 9))
@settings(max_examples=50)
def test_labels_are_complete_or_refused(method, partitions, k):
    partitions[0] = np.abs(partitions[0])
    k = min(k, partitions.shape[1])
    most = len(collapse(partitions))
    if method == "mcla":
        most = min(most, len({tuple(member == c) for member in partitions for c in set(member) - {-1}}))
    if k > most:
        with pytest.raises(ValueError, match=f"n_clusters={k} is more than the"):
            consensus_clustering(partitions, k, method=method)
        return
    labels = consensus_clustering(partitions, k, method=method)
    sizes = np.bincount(labels)
    assert len(sizes) == k
    assert sizes.all()
    assert (np.diff(sizes) <= 0).all()
    assert (labels == consensus_clustering(partitions, k, method=method)).all()
    signatures = collapse(partitions)
    for signature in range(len(signatures)):
        assert len(set(labels[signatures.inverse == signature])) == 1


@pytest.mark.parametrize("method", METHODS_OF_ENSEMBLES)
@pytest.mark.parametrize("hidden", [0.0, 0.4])
def test_weights_are_repeated_rows(method, hidden):
    labels, truth = noisy(members=40, hidden=hidden)
    rows = np.repeat(np.arange(60), np.random.default_rng(1).integers(1, 4, 60))
    asked = CutSettings(3, method, 0.4, "auto", None)
    plain = cut_nodes(CpuBackend(2), uncollapsed(labels[:, rows]), asked).cut.groups
    assert adjusted_rand_score(consensus_clustering(labels[:, rows], 3, method=method), plain) == 1
    assert adjusted_rand_score(truth[rows], plain) > 0.9


@pytest.mark.parametrize("method", METHODS_OF_ENSEMBLES)
@pytest.mark.parametrize("hidden", [0.0, 0.4])
def test_names_and_order_do_not_matter(method, hidden):
    labels, _ = noisy(members=40, hidden=hidden, seed=1)
    found = consensus_clustering(labels, 3, method=method)
    spaced = np.where(labels < 0, labels, labels * 100 + 7)
    assert (consensus_clustering(spaced, 3, method=method) == found).all()
    order = np.random.default_rng(2).permutation(60)
    assert (consensus_clustering(labels[:, order], 3, method=method) == found[order]).all()
    renamed = labels.copy()
    for t, member in enumerate(renamed):
        names = np.random.default_rng(t).permutation(3)
        member[member >= 0] = names[member[member >= 0]]
    assert adjusted_rand_score(consensus_clustering(renamed, 3, method=method), found) == 1


@pytest.mark.parametrize("method", METHODS_OF_ENSEMBLES)
def test_one_partition_is_its_own_consensus(method):
    labels = [[4, 4, 4, 1, 1, 9, -1], [-1, -1, -1, -1, -1, -1, 0]]
    assert consensus_clustering(labels[:1] * 3 + labels[1:], 3 + 1, method=method).tolist() == [0, 0, 0, 1, 1, 2, 3]


@pytest.mark.parametrize("method", ["hbgf", "mcla", "mixture", "agreement"])
def test_seven_objects(method):
    """CSPA is left out: recursive halves of the plain shares put object 5 with 6 and 7."""
    assert consensus_clustering(SEVEN, 3, method=method).tolist() == SEVEN_ANSWER
