"""Cluster Forests: consensus clustering of tables with many features, some of them noise."""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

__all__ = [
    "ClusterForest",
    "HartiganWongKMeans",
    "PaperForest",
    "TableReader",
    "__version__",
    "cluster_table",
    "consensus_clustering",
    "describe",
    "load",
    "save",
    "write_report",
]

if TYPE_CHECKING:
    from clusterforests.app.cluster_table import cluster_table
    from clusterforests.app.description.description import describe
    from clusterforests.app.report.writing import write_report
    from clusterforests.app.saving import load, save
    from clusterforests.app.table_reader import TableReader
    from clusterforests.consensus.consensus_clustering import consensus_clustering
    from clusterforests.estimator import ClusterForest
    from clusterforests.kmeans import HartiganWongKMeans
    from clusterforests.paper_forest import PaperForest

    __version__: str
else:
    # Names are imported when they are first used: scikit-learn takes a second, which `clusterforests --help` and a
    # program that may not cluster at all do not wait for.
    _HOMES = {
        "ClusterForest": "estimator",
        "HartiganWongKMeans": "kmeans",
        "PaperForest": "paper_forest",
        "TableReader": "app.table_reader",
        "cluster_table": "app.cluster_table",
        "consensus_clustering": "consensus.consensus_clustering",
        "describe": "app.description.description",
        "load": "app.saving",
        "save": "app.saving",
        "write_report": "app.report.writing",
    }
    _MODULES = (
        "feature_selection",
        "inspection",
        "plots",
        "tl",
    )

    def __getattr__(name: str) -> Any:
        if name == "_core":
            # Python asks here before it loads the core. NumPy refuses a second interpreter of a process, and must be
            # asked first: a second interpreter would take the core's types away from the first.
            importlib.import_module("numpy")
        if name in _HOMES and _HOMES[name].startswith("app.") and importlib.util.find_spec("pandas") is None:
            return _needing_pandas(name)
        if name in _HOMES:
            value = getattr(importlib.import_module(f"clusterforests.{_HOMES[name]}"), name)
        elif name == "__version__":
            value = importlib.import_module("importlib.metadata").version("clusterforests")
        elif name in _MODULES:
            value = importlib.import_module(f"clusterforests.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def _needing_pandas(name: str) -> Any:
        # `from clusterforests import *` takes all names, also where pandas is not installed and most are not used.
        def refuse(*_: Any, **__: Any) -> Any:
            raise ImportError(f"{name} needs pandas: pip install pandas, or clusterforests[app].")

        return refuse

    def __dir__() -> list[str]:
        return sorted({*globals(), *_HOMES, *_MODULES, "__version__"})
