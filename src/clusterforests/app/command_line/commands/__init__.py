"""The commands of `clusterforests`, one module each."""
