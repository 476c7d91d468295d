"""Queries: the choice of queries to judge, their tags, and the regions of the corpus that they test."""
