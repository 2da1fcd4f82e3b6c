"""The command line: `clusterforests`."""
