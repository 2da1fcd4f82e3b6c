"""What is run for each table of the paper, and for each claim in its text. Frozen: results refer to it."""

from dataclasses import dataclass
from typing import Any

Setting = int | float | str | bool

# name: rows, features, classes (Table 1)
DATASETS: dict[str, tuple[int, int, int]] = {
    "soybean": (47, 35, 4),
    "spect": (267, 22, 2),
    "imgseg": (2100, 19, 7),
    "heart": (270, 13, 2),
    "wine": (178, 13, 3),
    "wdbc": (569, 30, 2),
    "robot": (164, 90, 5),
    "madelon": (2000, 500, 2),
}
LARGE = ("imgseg", "madelon")
CANDIDATES = (1, 2, 3, 5, 10, 15, 20)
PATIENCE = (1, 3)  # what the tables match, what the text says
MORE_PATIENCE = (2, 5, 8)  # for the claim that tau_m >= 3 makes no difference
THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5)  # beta_2
BASE_CLUSTERS = {"imgseg": 10, "spect": 3, "wdbc": 3}
DIMENSIONS = (5, 8, 12)
EVIDENCE_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75)
RUNS = 100


@dataclass(frozen=True)
class Cell:
    """One method with one setting on one data set; run r has random_state r."""

    experiment: str
    dataset: str
    method: str
    settings: tuple[tuple[str, Setting], ...] = ()
    most_runs: int | None = None  # for what the paper only mentions and takes long

    @property
    def setting(self) -> str:
        return ";".join(f"{name}={value}" for name, value in self.settings)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.dataset, self.method, self.setting

    @property
    def rows(self) -> int:
        return DATASETS[self.dataset][0]


def _cell(experiment: str, dataset: str, method: str, most_runs: int | None = None, **settings: Any) -> Cell:
    return Cell(experiment, dataset, method, tuple(settings.items()), most_runs)


def forest() -> list[Cell]:
    """Forests: the sweep over q and tau_m, other thresholds, no threshold, no scaling. They share most of the work."""
    return [_cell("forest", dataset, "CF") for dataset in DATASETS]


def base_clusters() -> list[Cell]:
    """The n_b experiment."""
    return [_cell("base_clusters", dataset, "CF", n_base_clusters=n_b) for dataset, n_b in BASE_CLUSTERS.items()]


def methods() -> list[Cell]:
    """The rivals."""
    cells = []
    for dataset in DATASETS:
        small = dataset not in LARGE
        cells += [
            _cell("methods", dataset, "kmeans", n_init=20, max_iter=200),
            _cell("methods", dataset, "kmeans", n_init=100, max_iter=1000),
            _cell("methods", dataset, "bC2", n_init=20),
            _cell("methods", dataset, "EA", n_base_clusters="n_f", n_init=1),
        ]
        cells += [_cell("methods", dataset, "RP", n_components=d) for d in DIMENSIONS]
        # kernlab's local bandwidth is 0 for rows that occur thrice; the search takes a minute a run on the large sets.
        cells += [_cell("methods", dataset, "NJW", bandwidth="local")] if dataset != "spect" else []
        cells += [_cell("methods", dataset, "NJW", bandwidth="automatic")] if small else []
        cells += [_cell("methods", dataset, "EA", n_base_clusters="sqrt", n_init=1)] if dataset != "madelon" else []
        cells += [_cell("methods", dataset, "EA", n_base_clusters="sqrt", n_init=20)] if small else []
    return [*cells, _cell("methods", "robot", "bC2", n_init=100)]


def medoids() -> list[Cell]:
    """K-medoids in bC2, which the paper says differs very little; not on the large sets: minutes a run."""
    return [_cell("medoids", dataset, "bC2", 20, base="medoids") for dataset in DATASETS if dataset not in LARGE]


EXPERIMENTS = {
    "forest": forest,
    "base_clusters": base_clusters,
    "methods": methods,
    "medoids": medoids,
}


# The names by which parts of the paper are computed.


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
