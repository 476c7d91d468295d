"""Report, looks: which look at a sealed part this is."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection
from curation.reports.page import Section, Table

WHEN = (
    "The first two bounds hold where nobody changed a system after a look, the last whatever was changed. "
    "The truth of a team that looks, changes and looks again is between them."
)


def write(found: Evaluation) -> list[Section]:
    if not found.looks:
        return []
    columns = ("system", "file", "parts", "look", "of its family", "new", "who", "when (UTC)", "reason")
    measure = found.measures[0]
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
    bounds = tuple(
        (
            look.system,
            bound.looks,
            bound.standard_error,
            bound.expected,
            bound.at_most,
            min(1.0, bound.adaptive),
        )
        for look in found.looks
        if (bound := look.flattery) is not None
    )
    heads = ("system", "looks", "standard error", "on average", "with 95 %", "if systems followed the looks")
    tables = [Table("Looks", columns, rows)]
    if bounds:
        tables.append(Table(f"How far the best of so many looks may flatter, {measure}", heads, bounds))
    return [Section("Looks at sealed parts", sentence, (), tuple(tables), WHEN)]


SECTION = ReportSection(90, write)
