"""Splits: which queries are for developing and which for testing, so that nothing leaks between them.

Edges join queries that give each other away (`edges`, over the similarity of `similarity`), connected
queries form leakage groups (`groups`), whole groups are dealt to the parts (`assignment`), and an
exhaustive check that shares no search with the grouping looks for what crosses (`certificate`).
"""

from curation.splits.split import SplitReport, make_split

__all__ = ["SplitReport", "make_split"]
