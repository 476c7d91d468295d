"""Splits: which queries are for developing and which for testing, so that nothing leaks between them.

Edges join queries that give each other away (`edges`, as `rules` ask for), connected queries form leakage
groups (`groups`), whole groups are dealt to the parts (`assignment`, or `by_time`; `kept` where a release has
them already), and an exhaustive check that shares no code with the grouping looks for what crosses
(`certificate`; `certified` and `page` show it).
"""

from curation.splits.rules import Rules
from curation.splits.split import SplitReport, Terms, make_split

__all__ = ["Rules", "SplitReport", "Terms", "make_split"]
