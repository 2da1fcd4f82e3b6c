"""Rows on an NVIDIA GPU."""
