"""Consensus functions of the literature: from partitions (T, n) and a number of clusters to labels (n,).

They are what Cluster Forests is compared with, and stay out of the library because on our evidence nobody would choose
them today over those that it has. A negative label means "not clustered"; cluster 0 is the largest.
"""

from paper.consensus.agreement import aggregate, agreement
from paper.consensus.graph_cuts import gaps_or_kway, ncut_best, ncut_lowest, ncut_shifted, single_linkage
from paper.consensus.hypergraph import cspa, hbgf, mcla
from paper.consensus.mixture import mixture
from paper.consensus.selection import select_partitions

CONSENSUS = {
    "ncut-lowest": ncut_lowest,
    "ncut-best": ncut_best,
    "ncut-shifted": ncut_shifted,
    "gaps-or-kway": gaps_or_kway,
    "single": single_linkage,
    "cspa": cspa,
    "hbgf": hbgf,
    "mcla": mcla,
    "mixture": mixture,
    "agreement": agreement,
}

__all__ = ["CONSENSUS", "aggregate", "select_partitions", *(function.__name__ for function in CONSENSUS.values())]
