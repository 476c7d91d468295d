"""Report, turning: which unjudged documents could turn the order of two systems."""

from __future__ import annotations

from curation.evaluation.comparison.turning import Turning
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection
from curation.reports.page import Section, Table
from curation.text import amount

MOST_ROWS = 20
"""Documents in a table."""
NO_RANK = "–"


def write(found: Evaluation) -> list[Section]:
    if not found.turning:
        return []
    sentence = "\n".join(
        [
            "Each system is compared with the next. An unjudged document is tried with the highest grade.",
            *map(_sentence, found.turning),
        ]
    )
    tables = tuple(_documents(pair) for pair in found.turning if pair.documents)
    return [Section("Unjudged documents that could turn the order", sentence, (), tables)]


def _sentence(pair: Turning) -> str:
    about = (
        f"{pair.first} is {pair.difference:.3f} above {pair.second} by {pair.measure}, with "
        f"{pair.unjudged:,} unjudged documents"
    )
    if pair.needed is None:
        return f"{about}: all of them together could not turn that."
    return f"{about}: {pair.needed:,} of them could turn that."


def _documents(pair: Turning) -> Table:
    shown = min(MOST_ROWS, len(pair.documents))
    caption = (
        f"The first {shown:,} of {amount(len(pair.documents), 'document')} that would help {pair.second}"
    )
    columns = ("query", "document", f"rank in {pair.first}", f"rank in {pair.second}", "effect")
    rows = tuple(
        (
            *(one.query_id, one.document_id),
            *(NO_RANK if rank is None else rank for rank in (one.rank_first, one.rank_second)),
            one.effect,
        )
        for one in pair.documents[:MOST_ROWS]
    )
    return Table(caption, columns, rows)


SECTION = ReportSection(75, write)
