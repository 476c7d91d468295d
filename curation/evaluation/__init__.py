"""Evaluation of search and RAG systems on a release: scores with intervals, numbers of queries, and the
shares of unjudged results.

The package reads the project's releases and run files. `scoring` turns a run into values of queries;
`figures` computes means and comparisons from these values, and `report` shows them. No value of a single
query of a sealed part leaves `evaluate_runs`.
"""
