"""Report, hard negatives: each run on the judged documents alone, with the hard negatives and without."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection, share, told
from curation.reports.page import Section, Table

COLUMNS = ("system", "measure", "without", "with", "difference", "returned")


def write(found: Evaluation) -> list[Section]:
    effect = found.hard_negatives
    if effect is None:
        return []
    sentence = f"{effect.sentence} What a run did not return is at the end of its list."
    rows = tuple(
        (
            *(name, measure),
            *(told(one.without_hard[measure]), told(one.with_hard[measure]), told(one.drop[measure])),
            share(one.returned),
        )
        for name, one in effect.systems.items()
        for measure in found.measures
    )
    tables = (Table("Without hard negatives, and with them", COLUMNS, rows),) if rows else ()
    hidden = ", ".join(system.name for system in found.runs if system.name not in effect.systems)
    why = "the figures would tell of fewer than ten queries of a sealed part."
    return [Section("Hard negatives", sentence, (), tables, f"Left out: {hidden}; {why}" if hidden else "")]


SECTION = ReportSection(85, write)
