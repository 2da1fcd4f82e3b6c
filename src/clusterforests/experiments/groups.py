"""The names by which parts of the paper are computed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """What one name on the command line stands for: what must have been run, which tables come of it."""

    experiments: tuple[str, ...]
    tables: tuple[str, ...]


GROUPS = {
    "datasets": Group((), ("datasets",)),
    "competition": Group(("forest",), ("competition-rho_r", "competition-rho_c")),
    "methods": Group(
        ("forest", "methods"), ("methods-rho_r", "methods-rho_c", "agreement", "wins", "kmeans", "projection")
    ),
    "base-clusters": Group(("base_clusters",), ("base_clusters",)),
    "claims": Group(("forest", "methods", "medoids"), ("patience", "threshold", "ablation", "medoids", "profile")),
}
OTHERS = ("simulations", "theory", "figures")
NAMES = ("all", *GROUPS, *OTHERS)
