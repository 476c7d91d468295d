"""Quarterly re-labeling of a gold set: stale pairs, pairs judged again, and changed grades.

`staleness` computes a score of each pair from its age and the changes of its document and guide. `plan` makes
the plan of a quarter, `pair_selection` and `query_changes` select its pairs and queries, and `open_quarter`
gives the pairs to annotators as a blind round. `report` compares the old grades with the new grades.
"""
