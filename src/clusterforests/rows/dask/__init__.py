"""Rows of a Dask array or frame: opened, read where its partitions are, results as Dask arrays."""
