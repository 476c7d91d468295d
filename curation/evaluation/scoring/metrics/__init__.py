"""Measures, and the scores of a run for each query."""
