"""The mixture model of labels against plain loops, and a table drawn from one."""

import numpy as np
import pytest
from noisy_partitions import noisy

from clusterforests.consensus.affinity import collapse
from paper.consensus.mixture import Mixture, em, log_probabilities, maximise, spread_signatures, spread_start
from paper.consensus.nodes import incidence


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
    run = em(members, signatures.weights, spread_start(members, signatures, 3, seed))
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
    start = spread_start(members, signatures, 3, 0)
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
    starts = [spread_start(members, signatures, 3, start) for start in range(3)]
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
        assert sorted(spread_signatures(signatures, 4, start)) == [0, 1, 2, 3]
    draws = {tuple(spread_signatures(signatures, 2, start)) for start in range(20)}
    assert len(draws) > 1
