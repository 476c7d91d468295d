"""Scoring: each query's value for each measure."""
