"""Messy columns to typed columns."""
