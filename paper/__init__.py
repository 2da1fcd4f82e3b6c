"""The paper beside the package: its rivals, data sets, experiments and theorems."""
