"""Quarterly re-labeling of a gold set: stale pairs, the pairs that are judged again, and changed grades.

`staleness` computes a score of each pair from its age and the changes of its document and guide. `plan`
chooses the pairs of a quarter, and `open_quarter` gives the pairs to annotators as a blind round. `report`
compares the old grades with the new grades.
"""
