"""The data sets of the paper."""

from clusterforests.datasets.uci import UCI_NAMES, load_uci

__all__ = ["UCI_NAMES", "load_uci"]
