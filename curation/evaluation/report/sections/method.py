"""Report, method: what each measure computes, and all that is needed to compute it again."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.section import ReportSection
from curation.reports.page import Section, Table


def write(found: Evaluation) -> list[Section]:
    measures = tuple((name, found.about[name]) for name in found.measures)
    facts = [
        ("release", found.release),
        ("release id", found.release_id),
        ("parts", ", ".join(found.parts)),
        ("sealed parts evaluated", ", ".join(found.sealed) or "none"),
        ("relevant", f"grade {found.relevant_grade} and above"),
        ("seed", str(found.seed)),
        ("resamples", f"{found.resamples:,}"),
        *((f"version of {name}", version) for name, version in found.versions.items()),
    ]
    return [
        Section(
            "Method",
            "Lists are ordered by score as in trec_eval: equal scores by document id, descending.",
            (),
            (
                Table("Measures", ("measure", "what it computes"), measures, words=True),
                Table("To compute it again", ("what", "value"), tuple(facts), words=True),
            ),
        )
    ]


SECTION = ReportSection(100, write, detail=True)
