"""Sums and means."""
