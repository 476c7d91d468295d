"""Queries: the choice of queries to judge, the tags of queries, and the regions of the corpus that queries
test.
"""
