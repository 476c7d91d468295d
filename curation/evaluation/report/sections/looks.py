"""Report, looks: which look at a sealed part this is."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection
from curation.reports.page import Section, Table


def write(found: Evaluation) -> list[Section]:
    if not found.looks:
        return []
    columns = ("system", "file", "parts", "look", "of its family", "new", "who", "when (UTC)", "reason")
    rows = tuple(
        (
            look.system,
            look.source,
            ", ".join(look.parts),
            look.number,
            look.of_family,
            "no" if look.repeated else "yes",
            look.looked_by,
            look.looked_at,
            look.reason,
        )
        for look in found.looks
    )
    sentence = (
        "Each look at a sealed part makes it a little less of a test. The best of many looks flatters its "
        "system, because luck was chosen with it."
    )
    return [Section("Looks at sealed parts", sentence, (), (Table("Looks", columns, rows),))]


SECTION = ReportSection(90, write)
