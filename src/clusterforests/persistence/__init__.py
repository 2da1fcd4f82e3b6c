"""Saving fitted forests to files, and loading them."""

from clusterforests.persistence.saving import attach, load_forest, read_attached, save_forest

__all__ = ["attach", "load_forest", "read_attached", "save_forest"]
