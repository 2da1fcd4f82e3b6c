"""Saving fitted forests to files, and loading them."""

from clusterforests.persistence.saving import load_forest, save_forest

__all__ = ["load_forest", "save_forest"]
