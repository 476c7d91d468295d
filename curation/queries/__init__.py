"""Queries: which queries people judge, the queries' tags, and the regions of the corpus that the queries
test."""
