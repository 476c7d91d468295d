"""Scoring: the value of each query of a release by each measure."""
