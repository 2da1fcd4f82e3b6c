"""Consensus as the maximum-likelihood mixture model of the labels (Topchy, Jain and Punch 2004).

A row's labels are draws, independent given its cluster, from one distribution per partition and cluster. Labels below
zero were not observed and say nothing.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.random import stream, uniform
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import Signatures, coassociate
from paper.consensus.nodes import Incidence, best_nonempty_groups, incidence, labels_of, nodes_of

N_STARTS = 10
MAX_STEPS = 500
TOLERANCE = 1e-9  # of the log-likelihood: a step that gains less is the last
IMPOSSIBLE = -1e6  # stands for the logarithm of 0 where rows are compared


@dataclass(frozen=True)
class Mixture:
    """The parameters of a mixture of k clusters."""

    shares: FloatArray  # (k,) of the rows
    chances: FloatArray  # (C, k) of each partition's labels in each cluster


@dataclass(frozen=True)
class MixtureRun:
    """What a run of EM found."""

    model: Mixture
    log_joint: FloatArray  # (m, k): logarithm of the probability of cluster and labels
    log_likelihood: list[float]  # after each step


def mixture(partitions: Any, n_clusters: int) -> IntArray:
    """Give each row its likeliest cluster under the best of several runs of EM, but leave no cluster empty."""
    nodes = nodes_of(partitions, n_clusters)
    return labels_of(nodes, likeliest_clusters(nodes, n_clusters))


def likeliest_clusters(nodes: Signatures, n_clusters: int) -> IntArray:
    """Do the same for nodes, whose order decides where EM starts."""
    members = incidence(nodes.labels)
    starts = (spread_start(members, nodes, n_clusters, start) for start in range(N_STARTS))
    runs = (em(members, nodes.weights, start) for start in starts)
    best = max(runs, key=lambda run: run.log_likelihood[-1])
    return best_nonempty_groups(np.maximum(best.log_joint, IMPOSSIBLE), nodes.weights)


def em(members: Incidence, weights: FloatArray, model: Mixture) -> MixtureRun:
    """Alternate expectation and maximisation until the likelihood stops rising, at most MAX_STEPS times."""
    history: list[float] = []
    while True:
        log_joint = log_probabilities(members, model)
        highest = log_joint.max(axis=1, keepdims=True)
        likelihood = np.exp(log_joint - highest)
        total = likelihood.sum(axis=1, keepdims=True)
        history.append(float(weights @ (highest + np.log(total))[:, 0]))
        gain = history[-1] - history[-2] if len(history) > 1 else np.inf
        if gain <= TOLERANCE * abs(history[-1]) or len(history) == MAX_STEPS:
            return MixtureRun(model, log_joint, history)
        model = maximise(members, weights, likelihood / total)


def log_probabilities(members: Incidence, model: Mixture) -> FloatArray:
    """Compute the logarithm of the probability of cluster and labels: (m, k)."""
    with np.errstate(divide="ignore"):  # A label may be impossible in a cluster.
        log_joint: FloatArray = members.rows @ np.log(model.chances) + np.log(model.shares)
    return log_joint


def maximise(members: Incidence, weights: FloatArray, posterior: FloatArray) -> Mixture:
    """Fit the model to rows that belong to clusters as `posterior` says."""
    weighted = weights[:, None] * posterior
    counts = members.rows.T @ weighted
    observed = (members.partitions.T @ (members.partitions @ counts)).reshape(counts.shape)
    labels = (members.partitions.T @ members.partitions.sum(axis=1))[:, None]
    # Where no row of a cluster was observed all labels are equally likely.
    chances = np.where(observed > 0, counts, 1.0) / np.where(observed > 0, observed, labels)
    return Mixture(weighted.sum(axis=0) / weights.sum(), chances)


def spread_start(members: Incidence, signatures: Signatures, n_clusters: int, start: int) -> Mixture:
    """Start clusters half-way between the label shares of the whole table and a signature each, drawn far apart."""
    m = len(signatures)
    chosen = spread_signatures(signatures, n_clusters, start)
    whole = maximise(members, signatures.weights, np.ones((m, 1))).chances
    own = members.rows[chosen].T.toarray()
    observed = members.partitions.T @ (members.partitions @ own)
    return Mixture(np.full(n_clusters, 1 / n_clusters), (whole + np.where(observed > 0, own, whole)) / 2)


def spread_signatures(signatures: Signatures, count: int, start: int) -> IndexArray:
    """Draw different signatures, each with a chance that grows with its distance from those before, as k-means++."""
    chosen: list[int] = []
    apart = np.ones(len(signatures))
    for draw in uniform(stream(0, start, np.arange(count))):
        chance = signatures.weights * apart
        if not chance.any():  # The rest agrees with a chosen one wherever both were observed.
            chance = signatures.weights.copy()
            chance[chosen] = 0.0
        steps = np.cumsum(chance)
        chosen.append(int(np.searchsorted(steps, draw * steps[-1], side="right")))
        P = coassociate(CpuBackend(), signatures.labels, signatures.labels[:, chosen[-1:]])
        np.minimum(apart, 1.0 - P[:, 0], out=apart)
    return np.array(chosen)
