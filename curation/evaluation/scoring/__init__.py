"""Scoring: a release's queries and grades, runs, measures, and the value of each query."""
