"""Report, reranking: the same candidates of a first stage, to several depths."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection, left_out_depths, told
from curation.reports.page import Section, Table


def write(found: Evaluation) -> list[Section]:
    left_out = left_out_depths(found)
    if not found.reranking:
        return [Section("Reranking", left_out)] if left_out else []
    headline = found.measures[0]
    names = list(found.reranking[0].rerankers)
    columns = (
        "depth",
        "candidates",
        "recall",
        f"{found.first_stage} (first stage)",
        *names,
        "perfect reranker",
    )
    rows = tuple(
        (
            one.depth,
            one.candidates,
            told(one.recall),
            told(one.first_stage[headline]),
            *(told(one.rerankers[name].figures[headline]) for name in names),
            told(one.oracle[headline]),
        )
        for one in found.reranking
    )
    sentence = (
        f"Each system orders the first documents of {found.first_stage}. No reranker can reach more with "
        "them than the perfect one."
    )
    return [Section("Reranking", sentence, (), (Table(f"{headline} by depth", columns, rows),), left_out)]


SECTION = ReportSection(80, write)
