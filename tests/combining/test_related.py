"""The other ways of combining partitions that the paper names, against plain versions and textbook cases."""

import itertools

import numpy as np
import pytest
import reference
import scipy.sparse.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import ConvexHull
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from clusterforests import consensus
from clusterforests.backends import CpuBackend
from clusterforests.baselines.proximity import RandomForestProximity
from clusterforests.combining.affinity import Signatures, coassociate, collapse
from clusterforests.combining.aggregation import _best_given, _linked, aggregate, local_search, pair_votes
from clusterforests.combining.combine import FROM_LABELS
from clusterforests.combining.grouping import best_groups, incidence
from clusterforests.combining.hypergraph import bipartite_embedding, jaccard
from clusterforests.combining.library_selection import hull_corners, pairwise_nmi, select_partitions
from clusterforests.combining.mixture import Mixture, em, log_probabilities, maximise, spread_signatures, spread_start

BACKEND = CpuBackend(2)
METHODS = ["cspa", "hbgf", "mcla", "mixture", "agreement"]

# Strehl and Ghosh (2002), section 3: four partitions of seven objects, the last one incomplete.
SEVEN = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, -1, 1, 2, -1, -1]]
SEVEN_ANSWER = [0, 0, 0, 1, 1, 2, 2]

# Gionis, Mannila and Tsaparas (2005), figure 1: the third partition is the best, with 5 disagreements.
SIX = [[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]]


def noisy(n=60, members=30, k=3, noise=0.25, hidden=0.0, seed=0):
    """Copies of a truth in which some labels are random and some are missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.tile(truth, (members, 1))
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, k, wrong.sum())
    labels[1:][rng.random((members - 1, n)) < hidden] = -1
    return labels.astype(np.int32), truth


def uncollapsed(labels):
    n = labels.shape[1]
    return Signatures(labels, np.arange(n), np.ones(n))


def small_partitions(low, rows=7, members=5):
    return arrays(np.int32, st.tuples(st.integers(1, members), st.integers(1, rows)), elements=st.integers(low, 2))


# What all of them promise


@pytest.mark.parametrize("method", METHODS)
@given(partitions=small_partitions(-1, rows=9), k=st.integers(1, 9))
@settings(max_examples=50, deadline=None)
def test_labels_are_complete_or_refused(method, partitions, k):
    partitions[0] = np.abs(partitions[0])
    k = min(k, partitions.shape[1])
    most = len(collapse(partitions))
    if method == "mcla":
        most = min(most, len({tuple(member == c) for member in partitions for c in set(member) - {-1}}))
    if k > most:
        with pytest.raises(ValueError, match=f"n_clusters={k} is more than the"):
            consensus(partitions, k, method=method)
        return
    labels = consensus(partitions, k, method=method)
    sizes = np.bincount(labels)
    assert len(sizes) == k
    assert sizes.all()
    assert (np.diff(sizes) <= 0).all()
    assert (labels == consensus(partitions, k, method=method)).all()
    signatures = collapse(partitions)
    for signature in range(len(signatures)):
        assert len(set(labels[signatures.inverse == signature])) == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("hidden", [0.0, 0.4])
def test_weights_are_repeated_rows(method, hidden):
    labels, truth = noisy(members=40, hidden=hidden)
    rows = np.repeat(np.arange(60), np.random.default_rng(1).integers(1, 4, 60))
    plain = FROM_LABELS[method](BACKEND, uncollapsed(labels[:, rows]), 3)
    assert adjusted_rand_score(consensus(labels[:, rows], 3, method=method), plain) == 1
    assert adjusted_rand_score(truth[rows], plain) > 0.9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("hidden", [0.0, 0.4])
def test_names_and_order_do_not_matter(method, hidden):
    labels, _ = noisy(members=40, hidden=hidden, seed=1)
    found = consensus(labels, 3, method=method)
    spaced = np.where(labels < 0, labels, labels * 100 + 7)
    assert (consensus(spaced, 3, method=method) == found).all()
    order = np.random.default_rng(2).permutation(60)
    assert (consensus(labels[:, order], 3, method=method) == found[order]).all()
    renamed = labels.copy()
    for t, member in enumerate(renamed):
        names = np.random.default_rng(t).permutation(3)
        member[member >= 0] = names[member[member >= 0]]
    assert adjusted_rand_score(consensus(renamed, 3, method=method), found) == 1


@pytest.mark.parametrize("method", METHODS)
def test_one_partition_is_its_own_consensus(method):
    labels = [[4, 4, 4, 1, 1, 9, -1], [-1, -1, -1, -1, -1, -1, 0]]
    assert consensus(labels[:1] * 3 + labels[1:], 3 + 1, method=method).tolist() == [0, 0, 0, 1, 1, 2, 3]


@pytest.mark.parametrize("method", ["hbgf", "mcla", "mixture", "agreement"])
def test_seven_objects(method):
    """CSPA is left out: recursive halves of the plain shares put object 5 with 6 and 7."""
    assert consensus(SEVEN, 3, method=method).tolist() == SEVEN_ANSWER


# Shared parts


@given(partitions=small_partitions(-1))
@settings(max_examples=60, deadline=None)
def test_incidence(partitions):
    found = incidence(partitions)
    columns = [
        (t, c, partitions[t] == c) for t in range(len(partitions)) for c in range(3) if (partitions[t] == c).any()
    ]
    assert found.rows.toarray().T.tolist() == [member.tolist() for _, _, member in columns]
    owners = found.partitions.toarray()
    assert owners.sum() == len(columns)
    assert all(owners[t, j] == 1 for j, (t, _, _) in enumerate(columns))


@given(
    scores=arrays(np.int8, st.tuples(st.integers(3, 5), st.integers(1, 3)), elements=st.integers(0, 4)),
    weights=arrays(np.int8, 5, elements=st.integers(1, 3)),
)
@settings(max_examples=100, deadline=None)
def test_best_groups(scores, weights):
    scores, weights = scores.astype(float), weights[: len(scores)].astype(float)
    m, k = scores.shape
    full = (g for g in itertools.product(range(k), repeat=m) if len(set(g)) == k)
    best = max(weights @ scores[np.arange(m), list(g)] for g in full)
    found = best_groups(scores, weights)
    assert len(set(found)) == k
    assert weights @ scores[np.arange(m), found] == best
    if len(set(scores.argmax(axis=1))) == k:
        assert (found == scores.argmax(axis=1)).all()


def test_an_empty_group_takes_the_row_that_loses_least():
    scores = np.array([[2.0, 0.0], [1.0, 0.0]])
    assert best_groups(scores, np.array([1.0, 1.0])).tolist() == [0, 1]
    assert best_groups(scores, np.array([1.0, 3.0])).tolist() == [1, 0]


# Hypergraphs


@pytest.mark.parametrize("seed", range(4))
def test_cspa_is_the_recursive_cut_of_the_shares(seed):
    labels, _ = noisy(seed=seed, k=4, members=40, hidden=0.2)
    expected = reference.recursive_cut(reference.coassociation(labels, labels), 4)
    assert adjusted_rand_score(expected, consensus(labels, 4, method="cspa")) == 1


def plain_bipartite_embedding(labels, count):
    clusters = np.array([member == c for member in labels for c in np.unique(member[member >= 0])], dtype=float).T
    normalised = clusters / np.sqrt(np.outer(clusters.sum(axis=1), clusters.sum(axis=0)))
    left, values, _ = np.linalg.svd(normalised)
    assert count == len(values) or values[count - 1] - values[count] > 1e-3
    return left[:, :count] / np.linalg.norm(left[:, :count], axis=1, keepdims=True)


@pytest.mark.parametrize("solver", ["dense", "sparse", "no convergence"])
@pytest.mark.parametrize(("n", "members"), [(40, 30), (300, 4)])
def test_bipartite_embedding(monkeypatch, solver, n, members):
    """Angles between rows do not depend on the basis; wide and tall tables, equal rows kept once."""
    if solver != "dense":
        monkeypatch.setattr("clusterforests.combining.hypergraph.DENSE", 4)
    if solver == "no convergence":

        def give_up(*args, **kwargs):
            raise scipy.sparse.linalg.ArpackNoConvergence("", np.empty(0), np.empty(0))

        monkeypatch.setattr("scipy.sparse.linalg.eigsh", give_up)
    labels, _ = noisy(n=n, members=members, hidden=0.1)
    signatures = collapse(labels)
    rows = bipartite_embedding(signatures, 3)[signatures.inverse]
    expected = plain_bipartite_embedding(labels, 3)
    assert rows @ rows.T == pytest.approx(expected @ expected.T, abs=1e-7)


def test_bipartite_embedding_of_low_rank():
    """Two partitions into two clusters: four different rows but rank 3."""
    signatures = collapse(np.array([[0, 0, 1, 1], [0, 1, 0, 1]], dtype=np.int32))
    rows = bipartite_embedding(signatures, 4)
    assert rows.shape == (4, 3)
    assert len(np.unique(rows.round(6), axis=0)) == 4
    assert sorted(consensus([[0, 0, 1, 1], [0, 1, 0, 1]], 4, method="hbgf")) == [0, 1, 2, 3]


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
    found = consensus(labels, 4, method="mcla")
    for group in range(4):  # a row for which groups tie may be in any of them
        names = set(found[winners[group] & (winners.sum(axis=0) == 1)])
        assert len(names) == 1


def test_mcla_association_of_seven_objects():
    """The published meta-cluster of the clusters {6, 7}, {6, 7} and {5, 6, 7} wins objects 6 and 7."""
    clusters = incidence(np.array(SEVEN, dtype=np.int32)).rows.toarray()
    published = clusters[:, [2, 3, 8]].mean(axis=1)
    assert published == pytest.approx([0, 0, 0, 0, 1 / 3, 1, 1])
    found = consensus(SEVEN, 3, method="mcla")
    assert set(np.flatnonzero(found == found[6])) == set(np.flatnonzero(published > 0.5))


def test_mcla_needs_as_many_clusters():
    partitions = np.array(list(itertools.product([0, 1], repeat=3))).T
    assert len(set(consensus(partitions, 6, method="mcla"))) == 6
    with pytest.raises(ValueError, match="n_clusters=7 is more than the 6 different clusters"):
        consensus(partitions, 7, method="mcla")


def test_mcla_keeps_equal_clusters_once():
    labels = np.tile(np.arange(300) // 100, (4000, 1))
    assert (consensus(labels, 3, method="mcla") == labels[0]).all()


# Mixtures


def plain_log_joint(labels, shares, chances):
    """chances[t][c][j]: of label c of partition t in cluster j."""
    out = np.zeros((labels.shape[1], len(shares)))
    for i, row in enumerate(labels.T):
        for j, share in enumerate(shares):
            factors = [chances[t][label][j] for t, label in enumerate(row) if label >= 0]
            out[i, j] = np.log(share * np.prod(factors)) if share * np.prod(factors) > 0 else -np.inf
    return out


def plain_maximum(labels, posterior):
    chances = []
    for member in labels:
        counts = np.array([posterior[member == c].sum(axis=0) for c in range(member.max() + 1)])
        chances.append(counts / counts.sum(axis=0))
    return posterior.mean(axis=0), chances


@pytest.mark.parametrize("hidden", [0.0, 0.3])
def test_em_steps_are_the_plain_ones(hidden):
    labels, _ = noisy(n=30, members=6, hidden=hidden)
    posterior = np.random.default_rng(0).dirichlet(np.ones(3), size=30)
    shares, chances = plain_maximum(labels, posterior)
    signatures = collapse(labels)
    mean = np.array([posterior[signatures.inverse == s].mean(axis=0) for s in range(len(signatures))])
    members = incidence(signatures.labels)
    model = maximise(members, signatures.weights, mean)
    assert model.shares == pytest.approx(shares)
    assert model.chances == pytest.approx(np.concatenate(chances))
    expected = plain_log_joint(labels, shares, chances)
    assert log_probabilities(members, model)[signatures.inverse] == pytest.approx(expected)
    run = em(members, signatures.weights, model)
    assert run.log_likelihood[0] == pytest.approx(np.log(np.exp(expected).sum(axis=1)).sum())


@pytest.mark.parametrize("hidden", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_likelihood_never_falls(hidden, seed):
    labels, _ = noisy(n=80, members=12, noise=0.6, hidden=hidden, seed=seed)
    signatures = collapse(labels)
    members = incidence(signatures.labels)
    run = em(members, signatures.weights, spread_start(BACKEND, members, signatures, 3, seed))
    steps = np.array(run.log_likelihood)
    assert len(steps) > 3
    assert (np.diff(steps) >= -1e-10 * abs(steps[-1])).all()
    chances = np.split(run.model.chances, np.cumsum(members.partitions.sum(axis=1).astype(int))[:-1])
    assert [part.sum(axis=0).tolist() for part in chances] == [pytest.approx([1, 1, 1])] * 12
    assert run.model.shares.sum() == pytest.approx(1)


def test_em_with_weights_is_em_of_repeated_rows():
    labels, _ = noisy(n=200, members=4, noise=0.4, hidden=0.2)
    signatures = collapse(labels)
    assert len(signatures) < 150
    members = incidence(signatures.labels)
    start = spread_start(BACKEND, members, signatures, 3, 0)
    once, each = em(members, signatures.weights, start), em(incidence(labels), np.ones(200), start)
    assert each.log_likelihood == pytest.approx(once.log_likelihood)
    assert each.log_joint == pytest.approx(once.log_joint[signatures.inverse])


def test_mixture_recovers_its_own_parameters():
    rng = np.random.default_rng(0)
    shares = np.array([0.5, 0.3, 0.2])
    cluster = rng.choice(3, size=4000, p=shares)
    chances = rng.dirichlet(np.ones(3) / 2, size=(8, 3))  # [partition, cluster]
    labels = np.array([[rng.choice(3, p=chances[t, c]) for c in cluster] for t in range(8)], dtype=np.int32)
    signatures = collapse(labels)
    members = incidence(signatures.labels)
    starts = [spread_start(BACKEND, members, signatures, 3, start) for start in range(3)]
    best = max((em(members, signatures.weights, start) for start in starts), key=lambda run: run.log_likelihood[-1])
    order = np.argsort(-best.model.shares)
    assert best.model.shares[order] == pytest.approx(shares, abs=0.03)
    assert best.model.chances[:, order] == pytest.approx(chances.transpose(0, 2, 1).reshape(24, 3), abs=0.06)
    truth = Mixture(shares, chances.transpose(0, 2, 1).reshape(24, 3))
    assert best.log_likelihood[-1] > em(members, signatures.weights, truth).log_likelihood[0]


def test_cluster_without_observations_in_a_partition():
    labels = np.array([[0, 1, 2, 2], [0, 1, -1, -1]], dtype=np.int32)
    model = maximise(incidence(labels), np.ones(4), np.eye(3)[[0, 1, 2, 2]])
    assert model.chances[3:, 2].tolist() == [0.5, 0.5]
    assert model.chances[:3].tolist() == np.eye(3).tolist()


def test_starts_are_different_signatures():
    """Even where those left agree with the chosen ones wherever both are clustered."""
    signatures = collapse(np.array([[0, 0, -1, 1], [0, -1, 0, 1]], dtype=np.int32))
    for start in range(20):
        assert sorted(spread_signatures(BACKEND, signatures, 4, start)) == [0, 1, 2, 3]
    draws = {tuple(spread_signatures(BACKEND, signatures, 2, start)) for start in range(20)}
    assert len(draws) > 1


# Agreement


def plain_disagreements(partitions, labels):
    return sum(
        (member[i] == member[j]) != (labels[i] == labels[j])
        for member in np.asarray(partitions)
        for i, j in itertools.combinations(range(len(labels)), 2)
        if member[i] >= 0 and member[j] >= 0
    )


def every_partition(n):
    """All partitions of n rows, each once: a label is at most one more than those before it."""
    grown = [[0]]
    for _ in range(n - 1):
        grown = [[*labels, c] for labels in grown for c in range(max(labels) + 2)]
    return grown


def least_disagreements(partitions, n_clusters=None):
    """By trying all partitions that keep equal rows together."""
    signatures = collapse(np.asarray(partitions, dtype=np.int32))
    candidates = (np.array(groups) for groups in every_partition(len(signatures)))
    return min(
        plain_disagreements(partitions, groups[signatures.inverse])
        for groups in candidates
        if n_clusters is None or groups.max() + 1 == n_clusters
    )


def test_every_partition():
    assert [len(every_partition(n)) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]


def test_six_objects():
    found = aggregate(SIX)
    assert found.disagreements == 5 == least_disagreements(SIX)
    assert found.labels.tolist() == [0, 1, 0, 1, 2, 2]
    assert aggregate(SIX, 3).labels.tolist() == found.labels.tolist()
    assert consensus(SIX, 3, method="agreement").tolist() == found.labels.tolist()


@given(partitions=small_partitions(0, rows=6))
@settings(max_examples=40, deadline=None)
def test_agreement_is_within_its_bound(partitions):
    found = aggregate(partitions)
    assert found.disagreements == plain_disagreements(partitions, found.labels)
    least = least_disagreements(partitions)
    assert least <= found.disagreements <= (2 - 2 / len(partitions)) * least


@given(partitions=small_partitions(-1, rows=6), k=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_no_single_row_improves_the_agreement(partitions, k):
    partitions[0] = np.abs(partitions[0])
    k = min(k, len(collapse(partitions)))
    for n_clusters in (None, k):
        found = aggregate(partitions, n_clusters)
        assert found.disagreements == plain_disagreements(partitions, found.labels)
        if n_clusters is not None:
            assert found.labels.max() + 1 == k
        new = found.labels.max() + (n_clusters is None) + 1
        for i, c in itertools.product(range(len(found.labels)), range(new)):
            moved = found.labels.copy()
            moved[i] = c
            if n_clusters is None or len(set(moved)) == k:
                same = (partitions == partitions[:, [i]]).all(axis=0)
                moved[same] = c
                if n_clusters is None or len(set(moved)) == k:
                    assert plain_disagreements(partitions, moved) >= found.disagreements


@pytest.mark.parametrize("n_clusters", [None, 2, 3])
def test_agreement_mostly_reaches_the_optimum(n_clusters):
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(30):
        partitions = rng.integers(-1, 3, size=(5, 6))
        partitions[0] = rng.integers(0, 3, 6)
        found = aggregate(partitions, min(n_clusters, len(collapse(partitions))) if n_clusters else None)
        hits += found.disagreements == least_disagreements(partitions, n_clusters)
    assert hits >= 27


def test_votes():
    labels, _ = noisy(n=15, members=8, hidden=0.3)
    signatures = uncollapsed(labels)
    votes = pair_votes(BACKEND, signatures, coassociate(BACKEND, labels, labels))
    for i, j in itertools.permutations(range(15), 2):
        both = (labels[:, i] >= 0) & (labels[:, j] >= 0)
        same = labels[both, i] == labels[both, j]
        assert votes[i, j] == same.sum() - (~same).sum()


def test_local_search_opens_and_closes_groups():
    votes = np.where(np.arange(6)[:, None] // 2 == np.arange(6) // 2, 3.0, -3.0)
    np.fill_diagonal(votes, 0.0)
    for start in (np.zeros(6), np.arange(6)):
        found = local_search(votes, np.ones(6), start.astype(np.int32), free=True)
        assert adjusted_rand_score(found, np.arange(6) // 2) == 1
    kept = local_search(votes, np.ones(6), np.array([0, 0, 0, 0, 0, 1], dtype=np.int32), free=False)
    assert set(kept) == {0, 1}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("free", [True, False])
def test_local_search_ends_where_no_move_gains(seed, free):
    rng = np.random.default_rng(seed)
    votes = np.triu(rng.integers(-5, 6, size=(14, 14)), 1).astype(float)
    votes += votes.T
    weights = rng.integers(1, 6, 14).astype(float)
    found = local_search(votes, weights, rng.permutation(np.arange(14) % 4).astype(np.int32), free=free)
    sizes = np.bincount(found)
    for i in range(14):
        pull = np.array([weights[found == group] @ votes[i, found == group] for group in range(len(sizes))])
        assert pull[found[i]] == max(pull.max(), 0.0 if free else -np.inf) or (sizes[found[i]] == 1 and not free)


@pytest.mark.parametrize("seed", range(5))
def test_linkage_start_stops_half_way(seed):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((25, 25)), 1)
    P, weights = upper + upper.T + np.eye(25), rng.integers(1, 4, 25)
    rows = np.repeat(np.arange(25), weights)
    merged = linkage(squareform(1 - P[np.ix_(rows, rows)], checks=False), "average")
    expected = fcluster(merged, 0.5, criterion="distance")
    assert adjusted_rand_score(expected, _linked(P, weights.astype(float), None)[rows]) == 1


@pytest.mark.parametrize(
    ("partitions", "n_clusters"),
    [
        ([[0, 1, 2, 1, 0, 1, 1], [1, 2, 1, 1, 0, 1, 2], [0, 2, 0, 1, 0, 0, 0]], None),
        ([[1, 0, 2, 0, 0, 0, 1], [1, 0, 0, 1, 0, 0, 2], [1, 2, 2, 0, 0, 0, 0]], 3),
    ],
)
def test_given_partitions_can_be_the_better_start(partitions, n_clusters):
    signatures = collapse(np.array(partitions, dtype=np.int32))
    P = coassociate(BACKEND, signatures.labels, signatures.labels)
    start = _linked(P, signatures.weights, n_clusters)
    linked = local_search(pair_votes(BACKEND, signatures, P), signatures.weights, start, free=n_clusters is None)
    found = aggregate(partitions, n_clusters).disagreements
    assert found == least_disagreements(partitions, n_clusters)
    assert found < plain_disagreements(partitions, linked[signatures.inverse])


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_best_given_partition(n_clusters):
    rng = np.random.default_rng(0)
    for _ in range(20):
        partitions = rng.integers(0, 3, size=(5, 8)).astype(np.int32)
        partitions[0] = np.arange(8) % 2
        partitions[4, 0] = -1
        fits = [p for p in partitions[:4] if n_clusters is None or len(set(p)) == n_clusters]
        signatures = collapse(partitions)
        votes = pair_votes(BACKEND, signatures, coassociate(BACKEND, signatures.labels, signatures.labels))
        found = _best_given(votes, signatures, n_clusters)[signatures.inverse]
        assert plain_disagreements(partitions, found) == min(plain_disagreements(partitions, p) for p in fits)
        assert any(adjusted_rand_score(found, p) == 1 for p in fits)
    assert _best_given(votes, signatures, 7) is None


def test_more_clusters_than_signatures():
    with pytest.raises(ValueError, match="n_clusters=4 is more than the 3 groups of rows"):
        aggregate([[0, 0, 1, 2]], 4)
    with pytest.raises(ValueError, match="n_clusters=0 is not allowed"):
        aggregate([[0, 0, 1, 2]], 0)


# Selection


def library(seed=0, n=40):
    """Three families of partitions, of which the first is the largest."""
    rng = np.random.default_rng(seed)
    families = rng.integers(0, 3, size=(3, n))
    labels = families[[0, 0, 0, 0, 1, 1, 1, 2, 2]]
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    return labels.astype(np.int32)


def plain_nmi(labels):
    def nmi(a, b):
        both = (a >= 0) & (b >= 0)
        return normalized_mutual_info_score(a[both], b[both], average_method="geometric") if both.any() else 0.0

    return np.array([[nmi(a, b) if a is not b else 1.0 for b in labels] for a in labels])


@pytest.mark.parametrize("hidden", [0.0, 0.3])
def test_nmi(hidden):
    labels, _ = noisy(members=8, noise=0.5, hidden=hidden)
    labels[3] = 0  # one cluster
    labels[4] = np.where(labels[4] < 0, -1, 0)
    assert pairwise_nmi(collapse(labels)) == pytest.approx(plain_nmi(labels), abs=1e-12)


def test_nmi_without_common_rows():
    labels = np.array([[0, 1, -1, -1], [-1, -1, 0, 1], [0, 0, 1, 1]], dtype=np.int32)
    assert pairwise_nmi(collapse(labels)).tolist() == np.eye(3).tolist()


def test_cluster_and_select_takes_the_best_of_each_family():
    labels = library()
    similarity = plain_nmi(labels)
    quality = similarity.sum(axis=1)
    families = [range(4), range(4, 7), range(7, 9)]
    assert select_partitions(labels, 3).tolist() == [max(f, key=lambda i: quality[i]) for f in families]
    sides = [np.array(s, dtype=bool) for s in itertools.product([0, 1], repeat=9) if 0 < sum(s) < 9]
    best = min(sides, key=lambda side: reference.ncut_value(similarity, side))
    expected = sorted(np.where(side, quality, -1).argmax() for side in (best, ~best))
    assert select_partitions(labels, 2).tolist() == expected


@pytest.mark.parametrize("balance", [0.0, 0.5, 1.0])
def test_joint_criterion_is_greedy(balance):
    labels = library(1)
    similarity = plain_nmi(labels)

    def criterion(chosen):
        diverse = sum(1 - similarity[i, j] for i, j in itertools.permutations(chosen, 2))
        return balance * similarity[chosen].sum() + (1 - balance) * diverse

    chosen = [int(similarity.sum(axis=1).argmax())]
    for size in range(1, 8):
        assert select_partitions(labels, size, strategy="joint", balance=balance).tolist() == sorted(chosen)
        chosen.append(max(set(range(9)) - set(chosen), key=lambda i: criterion([*chosen, i])))
    if balance == 1:
        assert chosen == np.argsort(-similarity.sum(axis=1), kind="stable")[:8].tolist()


def plain_corners(points):
    """Corners of the whole hull that are the best for some weights of the two coordinates."""
    corners = ConvexHull(points).vertices
    angles = np.linspace(1e-6, np.pi / 2 - 1e-6, 20_001)
    return set(corners[np.unique((points[corners] @ [np.cos(angles), np.sin(angles)]).argmax(axis=0))])


@pytest.mark.parametrize("seed", range(5))
def test_hull_corners(seed):
    points = np.random.default_rng(seed).normal(size=(30, 2))
    assert set(hull_corners(*points.T)) == plain_corners(points)


def test_hull_corners_of_few_points():
    line = np.arange(4.0)
    assert hull_corners(line, -line) == [3, 0]
    assert hull_corners(line, line) == [3]
    assert hull_corners(np.zeros(3), np.array([1.0, 2.0, 2.0])) == [1]


def test_convex_hull():
    labels = library(2)
    similarity = plain_nmi(labels)
    quality = similarity.sum(axis=1)
    pairs = np.array(list(itertools.combinations(range(9), 2)))
    points = np.array([[(quality[i] + quality[j]) / 2, 1 - similarity[i, j]] for i, j in pairs])
    first = np.unique(pairs[list(plain_corners(points))])
    assert select_partitions(labels, None, strategy="convex-hull").tolist() == first.tolist()
    smaller = select_partitions(labels, 2, strategy="convex-hull")
    assert smaller.tolist() == sorted(sorted(first, key=lambda i: -quality[i])[:2])
    for size in range(1, 10):
        assert len(set(select_partitions(labels, size, strategy="convex-hull"))) == size
    assert set(first) <= set(select_partitions(labels, 8, strategy="convex-hull"))


@pytest.mark.parametrize("strategy", ["cluster-and-select", "joint", "convex-hull"])
def test_selection_of_equal_partitions(strategy):
    labels = np.tile([0, 0, 1, 1, 2], (6, 1))
    for size in (1, 3, 6):
        assert len(set(select_partitions(labels, size, strategy=strategy))) == size
    assert select_partitions(labels[:1], 1, strategy=strategy).tolist() == [0]
    spaced = np.where(labels < 0, labels, labels * 9 + 4)
    assert (select_partitions(spaced, 3, strategy=strategy) == select_partitions(labels, 3, strategy=strategy)).all()


@pytest.mark.parametrize(
    ("n_selected", "options", "message"),
    [
        (0, {}, "n_selected=0 is not allowed"),
        (10, {}, "n_selected=10 is more than the 9 partitions"),
        (None, {}, "n_selected=None is not allowed with strategy='cluster-and-select'"),
        (3, {"strategy": "random"}, "strategy='random' is not allowed"),
        (3, {"balance": 2}, "balance=2 is not allowed"),
    ],
)
def test_bad_selection(n_selected, options, message):
    with pytest.raises(ValueError, match=message):
        select_partitions(library(), n_selected, **options)


# Random-forest proximities


@parametrize_with_checks([RandomForestProximity(n_estimators=5, n_forests=2)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def dependent_table():
    """Two groups along different lines: only how columns depend on each other tells a table from its shuffled copy."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [70, 50])
    common = rng.normal(size=(120, 1)) * 0.3
    return np.hstack([common + 3 * truth[:, None] + rng.normal(size=(120, 4)) * 0.3, rng.normal(size=(120, 2))]), truth


def test_proximity_finds_groups():
    X, truth = dependent_table()
    fitted = RandomForestProximity(2, n_estimators=50, n_forests=2, random_state=0).fit(X)
    assert adjusted_rand_score(truth, fitted.labels_) > 0.9
    assert (np.diff(np.bincount(fitted.labels_)) <= 0).all()
    assert fitted.labels_[fitted.medoid_indices_].tolist() == [0, 1]
    assert fitted.partitions_.shape == (100, 120)
    assert fitted.partitions_.min() == 0
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert set(np.argsort(fitted.feature_importances_)[:2]) == {4, 5}
    distances = np.sqrt(1 - (fitted.partitions_[:, :, None] == fitted.partitions_[:, None, :]).mean(axis=0))
    assert (
        distances[fitted.medoid_indices_].min(axis=0) == distances[fitted.medoid_indices_[fitted.labels_], range(120)]
    ).all()


def test_proximity_copies_keep_the_margins(monkeypatch):
    seen = []

    class Forest:
        feature_importances_ = np.ones(6) / 6

        def __init__(self, n_estimators, *, n_jobs, random_state):
            self.seed = random_state

        def fit(self, X, y):
            seen.append((X, y, self.seed))
            return self

        def apply(self, X):
            return np.argsort(np.argsort(X[:, :1], axis=0), axis=0)

    monkeypatch.setattr("clusterforests.baselines.proximity.RandomForestClassifier", Forest)
    X, _ = dependent_table()
    RandomForestProximity(2, n_forests=3, random_state=0).fit(X)
    X = np.argsort(np.argsort(X, axis=0), axis=0)  # ranks
    assert len({seed for _, _, seed in seen}) == 3
    copies = [both[120:] for both, _, _ in seen]
    for (both, y, _), copy in zip(seen, copies, strict=True):
        assert (both[:120] == X).all()
        assert y.tolist() == [0] * 120 + [1] * 120
        assert all(np.isin(copy[:, j], X[:, j]).all() for j in range(6))
        assert abs(np.corrcoef(copy.T)[0, 1]) < 0.3 < np.corrcoef(X.T)[0, 1]
        assert len(np.unique(copy[:, 0])) < 100  # with replacement
    assert (copies[0] != copies[1]).any()


@pytest.mark.parametrize("change", [{"n_estimators": 11}, {"n_forests": 3}, {"random_state": 1}, {"n_clusters": 3}])
def test_proximity_parameters_have_effects(change):
    X, _ = dependent_table()
    plain = {"n_clusters": 2, "n_estimators": 10, "n_forests": 2, "random_state": 0}

    def outcome(**parameters):
        fitted = RandomForestProximity(**parameters).fit(X)
        return fitted.partitions_.tobytes(), fitted.labels_.tobytes()

    assert outcome(**plain) == outcome(**plain, n_jobs=2)
    assert outcome(**plain) != outcome(**(plain | change))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_forests": 0}, "n_forests=0 is not allowed"),
        ({"n_estimators": 60_000, "n_forests": 2}, "must be at most 65535"),
        ({"n_clusters": 121}, "n_clusters=121 is more than the number of rows, n_samples=120"),
    ],
)
def test_bad_proximity_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomForestProximity(**parameters).fit(dependent_table()[0])
