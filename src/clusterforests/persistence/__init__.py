"""Saving and loading a fitted forest."""
