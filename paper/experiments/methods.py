"""One run of a method on a data set: its labellings, by variant (thresholds and the like share the costly part)."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests.backends import Backend, CpuBackend
from clusterforests.consensus.affinity import Graph, coassociate, collapse
from clusterforests.consensus.consensus_clustering import consensus_clustering
from clusterforests.consensus.normalized_cut import recursive_cut
from clusterforests.kmeans import HartiganWongKMeans
from clusterforests.paper_forest import PaperForest
from clusterforests.rows.protocol import ReadingSettings
from paper.experiments.remember import RememberingBackend
from paper.experiments.spec import CANDIDATES, EVIDENCE_THRESHOLDS, MORE_PATIENCE, PATIENCE, THRESHOLDS
from paper.rivals import BaggedClustering, EvidenceAccumulation, NJWSpectralClustering, RandomProjectionEnsemble
from paper.rivals.evidence_accumulation import link_by_coassociation

Labellings = dict[str, IntArray]
Settings = Mapping[str, Any]

PROJECTION_THRESHOLDS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9)


def run_forests(X: FloatArray, k: int, settings: Settings, seed: int) -> Labellings:
    """Fit forests that differ in q, tau_m or the cut only: what they have in common is computed once."""
    backend = RememberingBackend()

    class RememberingSettings(ReadingSettings):
        def backend(self) -> Backend:
            return backend

    class RememberingForest(PaperForest):
        def _reading(self) -> ReadingSettings:
            return RememberingSettings(**vars(super()._reading()))

    def forest(**changes: int) -> PaperForest:
        return RememberingForest(k, **settings, **changes, random_state=seed).fit(X)

    if settings:
        return {f"patience={tau}": forest(patience=tau).labels_ for tau in PATIENCE}
    found = {
        f"n_candidates={q};patience={tau}": forest(n_candidates=q, patience=tau).labels_
        for tau in PATIENCE
        for q in CANDIDATES
    }
    found |= {f"n_candidates=1;patience={tau}": forest(patience=tau).labels_ for tau in MORE_PATIENCE}
    partitions = forest(patience=PATIENCE[0]).partitions_
    found |= {
        f"threshold={beta}": consensus_clustering(partitions, k, method="ncut", affinity_threshold=beta)
        for beta in THRESHOLDS
    }
    found["scaling only"] = consensus_clustering(partitions, k, method="ncut", affinity_threshold=0.0)
    found["threshold only"] = _cut_plain(partitions, k, 0.4)
    found["neither"] = _cut_plain(partitions, k, 0.0)
    return found


def _cut_plain(partitions: IntArray, k: int, threshold: float) -> IntArray:
    """Ncut of P itself, entries below the threshold set to 0."""
    backend = CpuBackend()
    signatures = collapse(partitions)
    P = coassociate(backend, signatures.labels, signatures.labels)
    graph = Graph(backend, np.where(threshold > P, 0.0, P), signatures.weights)
    return recursive_cut(graph, k).labels()[signatures.inverse]


def run_kmeans(X: FloatArray, k: int, settings: Settings, seed: int) -> Labellings:
    plain = HartiganWongKMeans(k, **settings, improve=False, random_state=seed)
    better = HartiganWongKMeans(k, **settings, random_state=seed)
    return {"plain": plain.fit_predict(X), "improved": better.fit_predict(X)}


def run_bagging(X: FloatArray, k: int, settings: Settings, seed: int) -> Labellings:
    return {"": BaggedClustering(k, **settings, random_state=seed).fit_predict(X)}


def run_evidence(X: FloatArray, k: int, settings: Settings, seed: int) -> Labellings:
    clusters = None if settings["n_base_clusters"] == "n_f" else settings["n_base_clusters"]
    ensemble = EvidenceAccumulation(k, n_base_clusters=clusters, n_init=settings["n_init"], random_state=seed)
    partitions = ensemble.fit(X).partitions_
    return {f"t={t}": link_by_coassociation(CpuBackend(), partitions, k, "single", t) for t in EVIDENCE_THRESHOLDS}


def run_projection(X: FloatArray, k: int, settings: Settings, seed: int) -> Labellings:
    ensemble = RandomProjectionEnsemble(k, **settings, threshold=0.5, random_state=seed)
    partitions = ensemble.fit(X).partitions_
    labellings = {
        f"single, t={t}": link_by_coassociation(CpuBackend(), partitions, k, "single", t) for t in PROJECTION_THRESHOLDS
    }
    for linkage in ("single", "average"):
        labellings[f"{linkage}, n_f"] = link_by_coassociation(CpuBackend(), partitions, k, linkage, None)
    return labellings


def run_spectral(X: FloatArray, k: int, settings: Settings, seed: int) -> Labellings:
    return {"": NJWSpectralClustering(k, **settings, random_state=seed).fit_predict(X)}


METHODS: dict[str, Callable[[FloatArray, int, Settings, int], Labellings]] = {
    "CF": run_forests,
    "kmeans": run_kmeans,
    "bC2": run_bagging,
    "EA": run_evidence,
    "RP": run_projection,
    "NJW": run_spectral,
}
