"""The data sets of the paper: eight from the UC Irvine repository, the others simulated."""

from paper.datasets.simulate import make_g1, make_g2, make_g3, make_perturbed_affinity, make_two_component_mixture
from paper.datasets.uci import UCI_NAMES, load_uci

__all__ = [
    "UCI_NAMES",
    "load_uci",
    "make_g1",
    "make_g2",
    "make_g3",
    "make_perturbed_affinity",
    "make_two_component_mixture",
]
