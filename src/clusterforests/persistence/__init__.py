"""Saving fitted forests to files, and loading them."""

from clusterforests.persistence.saving import SavedForest, attach, load_forest, read_attached, save_forest

__all__ = ["SavedForest", "attach", "load_forest", "read_attached", "save_forest"]
