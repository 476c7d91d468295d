"""Assigning leakage groups to parts: balanced, by time, and carried over from releases."""
