"""Report, similar lists: how much of what two systems return is the same, and in the same order."""

from __future__ import annotations

from curation.evaluation.comparison.pairs import MOST_PAIRS
from curation.evaluation.comparison.similar_lists import DEEPEST, DEPTHS, PERSISTENCE
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection
from curation.reports.page import Section, Table

HEADING = "How alike the lists are"
ABOUT = (
    f"Overlap is the share of the first {' or '.join(map(str, DEPTHS))} documents that are the same. RBO, "
    f"rank-biased overlap with p = {PERSISTENCE:g}, weighs the first ranks most: 1 is the same list, 0 has "
    "nothing in common. τ_AP compares the order of the documents that both have: 1 is the same order, 0 is "
    f"chance. Lists are looked at down to {DEEPEST}, equal scores in the order of document ids."
)


def write(found: Evaluation) -> list[Section]:
    if len(found.runs) < 2:
        return []
    if not found.similar_lists:
        why = f"Lists are compared for up to {MOST_PAIRS} pairs of systems: name a baseline for more systems."
        return [Section(HEADING, why)]
    columns = ("systems", *(f"overlap@{depth}" for depth in DEPTHS), "RBO", "τ_AP", "queries")
    rows = tuple(
        (f"{one.system}, {one.other}", *one.overlap.values(), one.rbo, one.tau_ap, one.n)
        for one in found.similar_lists
    )
    return [Section(HEADING, ABOUT, (), (Table("Means over queries; no grade is read", columns, rows),))]


SECTION = ReportSection(25, write)
