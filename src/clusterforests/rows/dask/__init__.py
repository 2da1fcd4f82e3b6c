"""Rows that are Dask's."""
