"""Adjudication: disputed pairs, the reviewer's decisions, and second opinions."""
