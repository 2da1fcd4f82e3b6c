"""CSPA, HBGF and MCLA against plain versions and textbook cases."""

import itertools

import numpy as np
import pytest
import reference
from noisy_partitions import SEVEN, noisy
from sklearn.metrics import adjusted_rand_score

from clusterforests.consensus.affinity import LIMITS, GraphLimits, collapse
from paper.consensus import cspa, hbgf, mcla
from paper.consensus.hypergraph import bipartite_embedding, jaccard
from paper.consensus.nodes import incidence

SOLVERS = ["dense", "iterated", "no convergence"]


@pytest.mark.parametrize("seed", range(4))
def test_cspa_is_the_recursive_cut_of_the_shares(seed):
    labels, _ = noisy(seed=seed, k=4, members=40, hidden=0.2)
    expected = reference.recursive_cut(reference.coassociation(labels, labels), 4)
    assert adjusted_rand_score(expected, cspa(labels, 4)) == 1


def plain_bipartite_embedding(labels, count):
    clusters = np.array([member == c for member in labels for c in np.unique(member[member >= 0])], dtype=float).T
    normalised = clusters / np.sqrt(np.outer(clusters.sum(axis=1), clusters.sum(axis=0)))
    left, values, _ = np.linalg.svd(normalised)
    assert count == len(values) or values[count - 1] - values[count] > 1e-3
    return left[:, :count] / np.linalg.norm(left[:, :count], axis=1, keepdims=True)


@pytest.mark.parametrize(
    "limits", [LIMITS, GraphLimits(dense_solver=4), GraphLimits(dense_solver=4, max_products=2)], ids=SOLVERS
)
@pytest.mark.parametrize(("n", "members"), [(40, 30), (300, 4)])
def test_bipartite_embedding(limits, n, members):
    """Angles between rows do not depend on the basis; wide and tall tables, equal rows kept once."""
    labels, _ = noisy(n=n, members=members, hidden=0.1)
    signatures = collapse(labels)
    rows = bipartite_embedding(signatures, 3, limits)[signatures.inverse]
    expected = plain_bipartite_embedding(labels, 3)
    assert rows @ rows.T == pytest.approx(expected @ expected.T, abs=1e-7)


def test_bipartite_embedding_of_low_rank():
    """Two partitions into two clusters: four different rows but rank 3."""
    signatures = collapse(np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.int32))
    rows = bipartite_embedding(signatures, 4)
    assert rows.shape == (4, 3)
    assert len(np.unique(rows.round(6), axis=0)) == 4
    assert sorted(hbgf([[0, 0, 1, 1], [0, 1, 0, 1]], 4)) == [0, 1, 2, 3]


def test_jaccard():
    labels, _ = noisy(n=20, members=4, hidden=0.3)
    weights = np.random.default_rng(0).integers(1, 4, 20)
    members = incidence(labels).rows
    rows = [set(np.flatnonzero(column)) for column in np.repeat(members.toarray(), weights, axis=0).T]
    expected = [[len(a & b) / len(a | b) for b in rows] for a in rows]
    assert jaccard(members, weights.astype(float)) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("seed", range(6))
def test_mcla_is_the_plain_one(seed):
    labels, _ = noisy(n=40, members=15, k=4, noise=0.45, seed=seed)
    labels = np.repeat(labels, np.where(np.arange(40) < 10, 6, 1), axis=1)
    clusters = np.array([member == c for member in labels for c in np.unique(member)])
    similarity = np.array([[(a & b).sum() / (a | b).sum() for b in clusters] for a in clusters])
    groups = reference.recursive_cut(similarity, 4)
    association = np.array([clusters[groups == group].mean(axis=0) for group in range(4)])
    winners = association == association.max(axis=0)
    found = mcla(labels, 4)
    for group in range(4):  # a row for which groups tie may be in any of them
        names = set(found[winners[group] & (winners.sum(axis=0) == 1)])
        assert len(names) == 1


def test_mcla_association_of_seven_objects():
    """The published meta-cluster of the clusters {6, 7}, {6, 7} and {5, 6, 7} wins objects 6 and 7."""
    clusters = incidence(np.array(SEVEN, dtype=np.int32)).rows.toarray()
    published = clusters[:, [2, 3, 8]].mean(axis=1)
    assert published == pytest.approx([0, 0, 0, 0, 1 / 3, 1, 1])
    found = mcla(SEVEN, 3)
    assert set(np.flatnonzero(found == found[6])) == set(np.flatnonzero(published > 0.5))


def test_mcla_needs_as_many_clusters():
    partitions = np.array(list(itertools.product([0, 1], repeat=3))).T
    assert len(set(mcla(partitions, 6))) == 6
    with pytest.raises(ValueError, match="n_clusters=7 is more than the 6 different clusters"):
        mcla(partitions, 7)


def test_mcla_keeps_equal_clusters_once():
    labels = np.tile(np.arange(300) // 100, (4000, 1))
    assert (mcla(labels, 3) == labels[0]).all()
