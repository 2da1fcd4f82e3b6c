"""Rows that an NVIDIA GPU reads. CuPy is imported only when a GPU is asked for."""
